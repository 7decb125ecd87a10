// SPDX-License-Identifier: Apache-2.0
/// \file \brief Runs a task on a loop, and blocks the calling thread until the task has finished.
#ifndef ELASTICJOB_CORE_BLOCK_ON_HPP
#define ELASTICJOB_CORE_BLOCK_ON_HPP

#include <elasticjob/core/loop.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/core/task.hpp>

#include <optional>
#include <utility>

namespace elasticjob {

namespace detail {

/// State shared by the waiting thread and the loop. The task holds a reference too, because the waiting thread may
/// continue before the loop has left the last line of the task.
template <class T>
struct blocked_call {
    explicit blocked_call(task<result<T>> t) : job{std::move(t)} {}
    task<result<T>> job;
    std::optional<result<T>> outcome;
    task_scope scope; ///< used on the loop only
    gate done;
};

template <class T>
task<void> run_blocked_call(std::shared_ptr<blocked_call<T>> call) {
    {
        auto job = std::move(call->job); // it may use the caller's objects, so it is destroyed first
        call->outcome.emplace(co_await std::move(job));
    }
    call->done.open();
}

} // namespace detail

/// Runs the task on the loop and returns its result. Waits without limit, so the task needs limits of its own. Errors:
/// those of the task; wrong_thread when called on the loop itself, which would deadlock; timed_out when virtual time
/// has no work left although the task has not finished. The task is then destroyed.
template <loop Loop, class T>
result<T> block_on(Loop& l, task<result<T>> t) {
    if (l.on_loop())
        return error{errc::wrong_thread, "a blocking call on the loop's own thread would wait for itself: co_await the "
                                         "asynchronous form instead"};
    auto call = std::make_shared<detail::blocked_call<T>>(std::move(t));
    post(l, [call] { call->scope.spawn(detail::run_blocked_call(call)); });
    if (!l.wait(call->done)) {
        call->scope.cancel(); // also drops the task's reference to its own scope
        return error{errc::timed_out, "virtual time has no work left, but the call has not finished"};
    }
    return std::move(*call->outcome);
}

} // namespace elasticjob
#endif // ELASTICJOB_CORE_BLOCK_ON_HPP
