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

inline error not_removed(job_layout const& at) {
    return error{errc::no_node, "the job has not been removed, so there is nothing to take back", at.removed().str()};
}

struct remove_tombstone {
    template <registry Registry>
    task<result<bool>> operator()(Registry& r, job_layout at, session_generation g) const {
        std::vector<node_path> const path{at.audit()};
        ELASTICJOB_CO_TRY(auto const trail, co_await read_all(r, path));
        transaction t{g};
        t.remove(at.removed());
        if (trail[0])
            put_trail_alone(t, at, trail[0], trail[0]->data);
        else
            t.remove(at.ext()).remove(at.root());
        ELASTICJOB_CO_TRY(auto const reply, co_await r.commit(std::move(t)));
        co_return static_cast<bool>(reply); // refused: another process has just created a node below it
    }
};

} // namespace detail

/// Makes the name of a removed job free again. Finishes the removal and then removes the tombstone. Only the audit
/// trail of the job is left: no run records, and no disabled servers or items. To run the job again, add it. Errors:
/// no_node if the job has no tombstone, also if it has just been restored; those of request_removal.
template <registry Registry>
task<result<void>> request_restoration(Registry& r, job_name job, mono_time deadline) {
    job_layout const at{job};
    ELASTICJOB_CO_TRY(auto const tombstone, co_await r.exists(at.removed()));
    if (!tombstone) co_return detail::not_removed(at);
    detail::remove_tombstone const last{};
    auto const done = co_await detail::remove_with(r, at, deadline, last, true);
    if (!done && done.error() == errc::version_conflict) co_return success(); // done earlier: the reply was lost
    co_return done;
}

/// `request_restoration` as an operator's command. The audit trail stays and records the command; a job that is added
/// under the name continues the trail. A dry run does not check for nodes that still have to be removed. Errors: as
/// `request_restoration`, and those of `carry_out`; timed_out also if it is not known whether the command was carried
/// out: repeat it with the same key.
template <registry Registry>
task<result<command_result>> order_restoration(Registry& r, job_name job, command_by by, mono_time deadline) {
    job_layout const at{job};
    bool const is_dry_run = by.is_dry_run;
    auto const plan = [&r, at, deadline, is_dry_run](transaction& t) -> task<result<detail::command_plan>> {
        ELASTICJOB_CO_TRY(auto const tombstone, co_await r.exists(at.removed()));
        if (!tombstone) co_return detail::not_removed(at);
        detail::keep_tombstone const last{};
        if (!is_dry_run) {
            ELASTICJOB_CO_CHECK(co_await detail::remove_with(r, at, deadline, last, true));
        }
        t.remove(at.removed(), tombstone->version);
        co_return detail::command_plan{"the name is free again", true, true};
    };
    detail::command_title title{"restore"};
    title.may_create = title.may_be_removed = true;
    auto order = detail::carry_out(r, std::move(job), std::move(by), std::move(title), plan);
    co_return co_await within(r.loop(), deadline, std::move(order));
}

/// `request_restoration` as a blocking call, `restore_job(registry, "settle")`, for programs: it is not in the audit
/// trail. Errors: as above, and invalid_argument for an invalid job name. Threads: any but the loop's.
template <registry Registry>
result<void> restore_job(Registry& r, std::string_view job,
                         std::chrono::milliseconds timeout = std::chrono::seconds{60}) {
    ELASTICJOB_TRY(auto name, job_name::parse(job));
    auto& l = r.loop();
    return block_on(l, request_restoration(r, std::move(name), end_of_wait(l.now(), timeout)));
}

/// `order_restoration` as a blocking call: `restore_job(registry, "settle", {"ann"})`. Errors: as above, and
/// invalid_argument for an invalid job name. Threads: any but the loop's.
template <registry Registry>
result<command_result> restore_job(Registry& r, std::string_view job, command_by by,
                                   std::chrono::milliseconds timeout = std::chrono::seconds{60}) {
    ELASTICJOB_TRY(auto name, job_name::parse(job));
    auto& l = r.loop();
    return block_on(l, order_restoration(r, std::move(name), std::move(by), end_of_wait(l.now(), timeout)));
}

} // namespace elasticjob
#endif // ELASTICJOB_OPERATIONS_RESTORE_JOB_HPP
