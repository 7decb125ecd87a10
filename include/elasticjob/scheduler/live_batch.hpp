// SPDX-License-Identifier: Apache-2.0
/// \file \brief Runs that have begun together, and the hooks around them.
#ifndef ELASTICJOB_SCHEDULER_LIVE_BATCH_HPP
#define ELASTICJOB_SCHEDULER_LIVE_BATCH_HPP

#include <elasticjob/core/loop.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/execution/listeners.hpp>
#include <elasticjob/scheduler/call_hook.hpp>
#include <elasticjob/scheduler/item_state.hpp>
#include <elasticjob/scheduler/job_site.hpp>

#include <cstddef>
#include <utility>

namespace elasticjob::detail {

/// Made where there are hooks to call. Threads: the loop's; hooks run on the pool.
template <class Environment>
struct live_batch {
    using site = job_site<Environment>;
    using item_state = detail::item_state<Environment>;

    live_batch(site& s, run_batch b) : at{s}, what{std::move(b)}, left{what.items.size()}, news{s.loop()} {}

    /// The first of a batch has the hook called, and the others wait for it.
    static task<void> begin(item_state& e) {
        auto const all = e.together;
        auto& at = all->at;
        if (!std::exchange(all->is_begun, true)) {
            auto const tell = [&] { return at.env.listeners.before_batch(all->what); };
            auto const heard = co_await call_hook(at.env.pool, at.loop(), tell);
            if (!heard) at.tell_trouble(heard.error());
            all->is_told = true;
            all->news.notify();
        }
        for (auto const patience = at.now() + at.env.options.round_start_timeout; !all->is_told && at.now() < patience;) {
            auto const seen = all->news.edition();
            co_await all->news.newer_than(seen, patience);
        }
    }

    /// The last has the other hook called, unless none has begun.
    static task<void> end(item_state& e) {
        auto const all = std::exchange(e.together, nullptr);
        if (--all->left > 0 || !all->is_begun) co_return;
        auto& at = all->at;
        auto const tell = [&] { return at.env.listeners.after_batch(all->what); };
        auto const heard = co_await call_hook(at.env.pool, at.loop(), tell);
        if (!heard) at.tell_trouble(heard.error());
    }

private:
    site& at;
    run_batch const what;
    std::size_t left; ///< that have not ended
    bool is_begun = false, is_told = false; ///< that they are to begin
    event_count<typename Environment::loop_type> news;
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_LIVE_BATCH_HPP
