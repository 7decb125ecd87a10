// SPDX-License-Identifier: Apache-2.0
/// \file \brief Runs several tasks concurrently and collects their results.
#ifndef ELASTICJOB_CORE_GATHER_HPP
#define ELASTICJOB_CORE_GATHER_HPP

#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/task.hpp>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace elasticjob {

namespace detail {
template <loop Loop, class T>
task<void> gather_one(task<T> t, std::optional<T>& into, std::size_t& left, event_count<Loop>& done) {
    into.emplace(co_await std::move(t));
    if (--left == 0) done.notify();
}
} // namespace detail

/// Starts all tasks in their order, and returns their values in the same order when the last task has finished. So n
/// reads cost one round trip.
template <loop Loop, class T>
task<std::vector<T>> gather(Loop& l, std::vector<task<T>> tasks) {
    std::vector<std::optional<T>> values(tasks.size());
    std::size_t left = tasks.size();
    event_count<Loop> done{l};
    auto const seen = done.edition();
    task_scope scope;
    for (std::size_t i = 0; i < tasks.size(); ++i)
        scope.spawn(detail::gather_one(std::move(tasks[i]), values[i], left, done));
    if (left != 0) co_await done.newer_than(seen);
    std::vector<T> all;
    all.reserve(values.size());
    for (auto& v : values) all.push_back(std::move(*v));
    co_return all;
}

/// As above, with one task per element: `gather_each(loop, paths, read)` makes each task with `f`. It calls `f` for all
/// elements before it returns.
template <loop Loop, class Container, class F>
auto gather_each(Loop& l, Container const& elements, F const& f) {
    std::vector<decltype(f(*elements.begin()))> tasks;
    tasks.reserve(elements.size());
    for (auto const& e : elements) tasks.push_back(f(e));
    return gather(l, std::move(tasks));
}

} // namespace elasticjob
#endif // ELASTICJOB_CORE_GATHER_HPP
