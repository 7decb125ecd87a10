// SPDX-License-Identifier: Apache-2.0
/// \file \brief A task with a deadline.
#ifndef ELASTICJOB_CORE_WITHIN_HPP
#define ELASTICJOB_CORE_WITHIN_HPP

#include <elasticjob/core/result.hpp>
#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/task.hpp>

#include <optional>
#include <utility>

namespace elasticjob {

namespace detail {
template <loop Loop, class T>
task<void> finish_within(task<result<T>> t, std::optional<result<T>>& into, event_count<Loop>& done) {
    into.emplace(co_await std::move(t));
    done.notify();
}
} // namespace detail

/// Returns the task's result if it finishes by `due`; otherwise destroys the task where it waits. Errors: those of the
/// task; timed_out, which leaves the effects of the started work unknown.
template <loop Loop, class T>
task<result<T>> within(Loop& l, mono_time due, task<result<T>> t) {
    std::optional<result<T>> outcome;
    event_count<Loop> done{l};
    auto const seen = done.edition();
    task_scope scope;
    scope.spawn(detail::finish_within(std::move(t), outcome, done));
    if (!outcome) co_await done.newer_than(seen, due);
    if (!outcome) co_return error{errc::timed_out, "the deadline passed before the operation ended"};
    co_return *std::move(outcome);
}

} // namespace elasticjob
#endif // ELASTICJOB_CORE_WITHIN_HPP
