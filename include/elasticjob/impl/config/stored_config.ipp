// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONFIG_STORED_CONFIG_IPP
#define ELASTICJOB_IMPL_CONFIG_STORED_CONFIG_IPP

#include <elasticjob/config/stored_config.hpp>
#include <elasticjob/core/line_text.hpp>

namespace elasticjob {

ELASTICJOB_DECL result<config_decision> decide_config(std::optional<job_config> const& stored,
                                                      job_config const& local) {
    using action = config_decision::action;
    if (!stored) return config_decision{action::write_local};
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
    return config_decision{local.overwrite ? action::write_local : action::keep_stored, std::move(found)};
}

ELASTICJOB_DECL std::string to_string(config_decision const& decision) {
    if (decision.differences.empty()) return {};
    using action = config_decision::action;
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
#endif // ELASTICJOB_IMPL_CONFIG_STORED_CONFIG_IPP
