// SPDX-License-Identifier: Apache-2.0
/// \file \brief Runs a query or a command for a job as a blocking call.
#ifndef ELASTICJOB_OPERATIONS_WAIT_FOR_JOB_HPP
#define ELASTICJOB_OPERATIONS_WAIT_FOR_JOB_HPP

#include <elasticjob/core/block_on.hpp>
#include <elasticjob/core/identity.hpp>
#include <elasticjob/core/wait_within.hpp>
#include <elasticjob/registry/registry.hpp>

#include <chrono>
#include <string_view>
#include <utility>

namespace elasticjob::detail {

/// Waits for `ask(name)`, a `task<result<T>>`, for up to ten seconds. Errors: those of the task; timed_out;
/// invalid_argument for an invalid job name. Threads: any but the loop's.
template <registry Registry, class Ask>
auto wait_for_job(Registry& r, std::string_view job, Ask ask)
    -> decltype(block_on(r.loop(), ask(std::declval<job_name>()))) {
    ELASTICJOB_TRY(auto name, job_name::parse(job));
    return wait_within(r.loop(), std::chrono::seconds{10}, ask(std::move(name)));
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_OPERATIONS_WAIT_FOR_JOB_HPP
