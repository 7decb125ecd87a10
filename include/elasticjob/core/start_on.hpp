// SPDX-License-Identifier: Apache-2.0
/// \file \brief Runs a task on a loop without waiting for it, and calls a function when it has finished.
#ifndef ELASTICJOB_CORE_START_ON_HPP
#define ELASTICJOB_CORE_START_ON_HPP

#include <elasticjob/core/loop.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/core/task.hpp>

#include <utility>

namespace elasticjob {

namespace detail {

template <class T, class Done>
task<void> finish_started(std::shared_ptr<task_scope> scope, task<result<T>> t, Done done) {
    auto outcome = co_await std::move(t);
    done(std::move(outcome));
    (void)scope; // the scope lives until the last line of its own task
}

} // namespace detail

/// Runs the task on the loop and returns at once. Calls `done(result<T>)` on the loop with the outcome. `done` must not
/// block and must not throw. All objects that the task uses must outlive it:
///
///     start_on(registry.loop(), job.async_trigger(), [](result<void> given) { … });
///
/// Threads: any, also the loop's.
template <loop Loop, class T, class Done>
void start_on(Loop& l, task<result<T>> t, Done done) {
    post(l, [t = std::move(t), done = std::move(done)]() mutable {
        auto scope = std::make_shared<task_scope>();
        auto& started = *scope;
        started.spawn(detail::finish_started(std::move(scope), std::move(t), std::move(done)));
    });
}

} // namespace elasticjob
#endif // ELASTICJOB_CORE_START_ON_HPP
