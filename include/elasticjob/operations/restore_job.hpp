// SPDX-License-Identifier: Apache-2.0
/// \file \brief Removes the tombstone of a removed job, so that its name can be used again.
#ifndef ELASTICJOB_OPERATIONS_RESTORE_JOB_HPP
#define ELASTICJOB_OPERATIONS_RESTORE_JOB_HPP

#include <elasticjob/operations/remove_job.hpp>

#include <chrono>
#include <string_view>
#include <utility>

namespace elasticjob {

namespace detail {

struct lift_tombstone {
    template <registry Registry>
    task<result<bool>> operator()(Registry& r, job_layout at, session_generation g) const {
        transaction t{g};
        t.remove(at.removed()).remove(at.ext()).remove(at.root());
        ELASTICJOB_CO_TRY(auto const reply, co_await r.commit(std::move(t)));
        co_return static_cast<bool>(reply); // refused: another process has just written below it
    }
};

} // namespace detail

/// Frees the name of a removed job. Finishes the removal and then removes the tombstone. Nothing is left of the job: no
/// run records, and no disabled servers or items. To run the job again, add it. Errors: no_node if the job has no
/// tombstone, also if it has just been restored; those of request_removal.
template <registry Registry>
task<result<void>> request_restoration(Registry& r, job_name job, mono_time deadline) {
    job_layout const at{job};
    ELASTICJOB_CO_TRY(auto const tombstone, co_await r.exists(at.removed()));
    if (!tombstone)
        co_return error{errc::no_node, "the job has not been removed, so there is nothing to take back",
                        at.removed().str()};
    detail::lift_tombstone const last{};
    auto const done = co_await detail::remove_with(r, at, deadline, last, true);
    if (!done && done.error() == errc::version_conflict) co_return success(); // removed, although the reply was lost
    co_return done;
}

/// The same as a blocking call: `restore_job(registry, "settle")`. Errors: as above, and invalid_argument for an
/// invalid job name. Threads: any but the loop's.
template <registry Registry>
result<void> restore_job(Registry& r, std::string_view job,
                         std::chrono::milliseconds patience = std::chrono::seconds{60}) {
    ELASTICJOB_TRY(auto name, job_name::parse(job));
    auto& l = r.loop();
    return block_on(l, request_restoration(r, std::move(name), l.now() + patience));
}

} // namespace elasticjob
#endif // ELASTICJOB_OPERATIONS_RESTORE_JOB_HPP
