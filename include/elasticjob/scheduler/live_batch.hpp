// SPDX-License-Identifier: Apache-2.0
/// \file \brief Runs that have begun together, and the hooks around them.
#ifndef ELASTICJOB_SCHEDULER_LIVE_BATCH_HPP
#define ELASTICJOB_SCHEDULER_LIVE_BATCH_HPP

#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/execution/listeners.hpp>
#include <elasticjob/scheduler/item_state.hpp>
#include <elasticjob/scheduler/run_context.hpp>

#include <cstddef>
#include <utility>

namespace elasticjob::detail {

/// Created only if there are batch hooks. Threads: the loop's; hooks run on the pool.
template <class Environment>
struct live_batch {
    using item_state = detail::item_state<Environment>;

    live_batch(run_context<Environment>& s, run_batch b)
        : context{s},
          what{std::move(b)},
          left{what.items.size()},
          news{s.loop()} {}

    /// The first run of a batch calls the hook, and the others wait for it.
    static task<void> begin(item_state& e);

    /// The last run calls the other hook, unless none has begun.
    static task<void> end(item_state& e);

private:
    run_context<Environment>& context;
    run_batch const what;
    std::size_t left;                       ///< the runs that have not ended
    bool is_begun = false, is_told = false; ///< the first hook: was called; has returned
    event_count<typename Environment::loop_type> news;
};

template <class Environment>
task<void> live_batch<Environment>::begin(item_state& e) {
    auto const all = e.run->together;
    auto& context = all->context;
    if (!std::exchange(all->is_begun, true)) {
        auto const hook = [&] { return context.env.listeners.before_batch(all->what); };
        co_await context.call(hook);
        all->is_told = true;
        all->news.notify();
    }
    auto const deadline = context.now() + context.env.options.round_start_timeout;
    while (!all->is_told && context.now() < deadline) {
        auto const seen = all->news.edition();
        co_await all->news.newer_than(seen, deadline);
    }
}

template <class Environment>
task<void> live_batch<Environment>::end(item_state& e) {
    auto const all = std::exchange(e.run->together, nullptr);
    if (--all->left > 0 || !all->is_begun) co_return;
    auto const hook = [&] { return all->context.env.listeners.after_batch(all->what); };
    co_await all->context.call(hook);
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_LIVE_BATCH_HPP
