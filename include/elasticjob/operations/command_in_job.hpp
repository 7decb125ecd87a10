// SPDX-License-Identifier: Apache-2.0
/// \file \brief Gives one command for each job of a server.
#ifndef ELASTICJOB_OPERATIONS_COMMAND_IN_JOB_HPP
#define ELASTICJOB_OPERATIONS_COMMAND_IN_JOB_HPP

#include <elasticjob/core/error.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/operations/command.hpp>
#include <elasticjob/operations/server_overview.hpp>

#include <string>
#include <utility>
#include <vector>

namespace elasticjob {

/// The result in one job of a command that was given for several.
struct command_in_job {
    std::string job;
    result<command_result> outcome;
};

namespace detail {

/// Whether a further failure counts more than the worst one before it, or null: the first whose effect is unknown, or
/// else the first.
inline bool is_worse(error const& further, error const* worst) noexcept {
    return !worst || (is_effect_unknown(further.code) && !is_effect_unknown(worst->code));
}

/// The worst failure; null if there is none.
inline error const* worst_failure(std::vector<command_in_job> const& all) {
    error const* worst = nullptr;
    for (auto const& one : all)
        if (!one.outcome && is_worse(one.outcome.error(), worst)) worst = &one.outcome.error();
    return worst;
}

/// Gives the command for one job after another. Errors: as `find_server`.
template <registry Registry, class Command>
task<result<std::vector<command_in_job>>> for_each_job_of(Registry& r, std::string server, Command command) {
    ELASTICJOB_CO_TRY(auto const there, co_await find_server(r, server));
    std::vector<command_in_job> all;
    for (auto const& one : there) {
        auto name = job_name::parse(one.job);
        if (!name) continue;
        auto outcome = co_await command(*std::move(name));
        all.push_back({one.job, std::move(outcome)});
    }
    co_return all;
}

} // namespace detail
} // namespace elasticjob
#endif // ELASTICJOB_OPERATIONS_COMMAND_IN_JOB_HPP
