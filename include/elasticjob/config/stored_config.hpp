// SPDX-License-Identifier: Apache-2.0
/// \file \brief Which configuration counts when a member starts: the one in the registry or its own.
#ifndef ELASTICJOB_CONFIG_STORED_CONFIG_HPP
#define ELASTICJOB_CONFIG_STORED_CONFIG_HPP

#include <elasticjob/config/fields.hpp>
#include <elasticjob/config/job_config.hpp>
#include <elasticjob/config/schedule_text.hpp>
#include <elasticjob/config/text.hpp>
#include <elasticjob/core/deferred.hpp>
#include <elasticjob/core/result.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob {

/// What a starting member does about the configuration in the registry.
template <class Difference = config_difference>
struct basic_config_decision {
    enum class action : std::uint8_t { keep_stored, write_local };
    action what;
    std::vector<Difference> differences{}; ///< left what is stored, right the member's own

    friend bool operator==(basic_config_decision const&, basic_config_decision const&) = default;
};

/// A template only so that including it costs nothing: see docs/decisions/0006.
using config_decision = basic_config_decision<>;

/// The stored configuration counts, with every field and all schedules, unless there is none or the member's own says `overwrite`.
/// `stored` is nothing if there is no node or an empty one. Touches nothing: the caller writes and tells.
///
/// Errors: job_conflict, if the stored job has another class or is of another type: its items are not ours to run. Java
/// compares only the class, which says enough where a class is a type; ours is just a text.
template <job_configuration Config = job_config, class Decision = config_decision>
result<Decision> decide_config(deferred<std::optional<job_config>, Config> const& stored, Config const& local) {
    using action = typename Decision::action;
    if (!stored) return Decision{action::write_local};
    auto const ours = canonical(local), theirs = canonical(*stored);
    auto conflict = [&](std::string const& what, std::string const& their, std::string const& our) {
        return error{errc::job_conflict,
                     "Job conflict with register center. The job " + detail::in_quotes(local.name) +
                         " in register center's " + what + " is " + detail::in_quotes(their) + ", your job " + what +
                         " is " + detail::in_quotes(our) + ". Give this job another name, or the same " + what +
                         ", or remove the job from the registry.",
                     local.name};
    };
    if (theirs.job_class != ours.job_class) return conflict("class", theirs.job_class, ours.job_class);
    if (theirs.type != ours.type)
        return conflict("type", std::string{name_of(theirs.type)}, std::string{name_of(ours.type)});
    auto found = differences(theirs, ours);
    auto const their_schedule = to_schedule_text(*stored), our_schedule = to_schedule_text(local);
    if (their_schedule != our_schedule)
        found.push_back({"schedule", detail::in_quotes(their_schedule), detail::in_quotes(our_schedule)});
    return Decision{local.overwrite ? action::write_local : action::keep_stored, std::move(found)};
}

/// One line for a log, to be told once: which fields of the member's own configuration are not in force, or which
/// stored ones it replaced. Empty if there is no difference.
template <class Difference>
std::string to_string(basic_config_decision<Difference> const& decision) {
    if (decision.differences.empty()) return {};
    using action = typename basic_config_decision<Difference>::action;
    bool const kept = decision.what == action::keep_stored;
    std::string line = kept ? "the configuration in the registry counts, not the local one"
                            : "the local configuration replaces the one in the registry";
    for (char const* separator = ": "; auto const& [field, stored, local] : decision.differences) {
        line.append(separator).append(field).append(" is ").append(kept ? stored : local);
        line.append(kept ? ", not " : ", was ").append(kept ? local : stored);
        separator = "; ";
    }
    return line;
}

} // namespace elasticjob
#endif // ELASTICJOB_CONFIG_STORED_CONFIG_HPP
