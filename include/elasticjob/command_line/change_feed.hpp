// SPDX-License-Identifier: Apache-2.0
/// \file \brief Tells a thread, by a descriptor, that something in its view has changed.
#ifndef ELASTICJOB_COMMAND_LINE_CHANGE_FEED_HPP
#define ELASTICJOB_COMMAND_LINE_CHANGE_FEED_HPP

#include <elasticjob/command_line/arguments.hpp>
#include <elasticjob/core/block_on.hpp>
#include <elasticjob/core/descriptor.hpp>
#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/gather.hpp>
#include <elasticjob/core/wait_within.hpp>
#include <elasticjob/operations/job_overview.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/registry_ref.hpp>
#include <elasticjob/registry/watch.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob::cli {

/// The nodes behind a view that are watched.
struct watched_nodes {
    std::vector<node_path> data;
    std::vector<node_path> children;

    static constexpr std::size_t jobs_max = 100;  ///< the nodes of other jobs are read at intervals only
    static constexpr std::size_t items_max = 200; ///< likewise for items

    /// The nodes of the job in `given`, and of its items if the view has them. If `given` has no job, those of all
    /// jobs, whose names are `jobs`.
    static watched_nodes of(takes shown, arguments const& given, std::vector<std::string> const& jobs);
};

/// Limits the rate of looks: a view that changes all the time is read once a second, and a view that was unchanged is
/// read at once.
class look_pace {
public:
    /// Call it when a look begins.
    void begin() { next_ = std::chrono::steady_clock::now() + std::chrono::seconds{1}; }

    /// The time until the next look may begin; 0 if it may begin now.
    std::chrono::milliseconds left() const {
        auto const left = std::chrono::ceil<std::chrono::milliseconds>(next_ - std::chrono::steady_clock::now());
        return std::max(left, std::chrono::milliseconds{0});
    }

private:
    std::chrono::steady_clock::time_point next_{};
};

/// Sets one watch on each node. Threads: one at a time, and not the loop's.
template <loop Loop>
class change_feed {
public:
    explicit change_feed(registry_ref<Loop> r) : registry_{r}, on_loop_{std::make_unique<state>(r.loop())} {}
    change_feed(change_feed const&) = delete;
    change_feed& operator=(change_feed const&) = delete;
    ~change_feed() { (void)block_on(registry_.loop(), drop(*on_loop_)); }

    /// Drops the former watches, and watches these nodes. A later read shows a state that is at least as new. Waits up
    /// to ten seconds. Errors: those of the registry; timed_out; job_failed if the system has no descriptor left.
    result<void> arm(takes shown, arguments given) {
        auto armed = rearm(registry_, *on_loop_, shown, std::move(given));
        return elasticjob::detail::wait_within(registry_.loop(), std::chrono::seconds{10}, std::move(armed));
    }

    /// A descriptor that is readable if something has changed since the last successful `arm`; -1 before the first one.
    int descriptor() const noexcept { return on_loop_->told ? on_loop_->told->get() : -1; }

private:
    struct state {
        explicit state(Loop& l) : news{l} {}
        event_count<Loop> news;
        std::deque<event_watch<Loop>> watches{};
        std::optional<elasticjob::detail::event_descriptor> told{};
        task_scope telling{};
    };

    static task<result<bool>> drop(state& s);
    static task<result<void>> rearm(registry_ref<Loop> r, state& s, takes shown, arguments given);
    static task<void> tell(state& s, std::uint64_t seen);

    registry_ref<Loop> registry_;
    std::unique_ptr<state> on_loop_; ///< used on the loop only, except `told` between two calls
};

template <loop Loop>
task<result<bool>> change_feed<Loop>::drop(state& s) {
    s.telling.cancel();
    s.watches.clear();
    co_return true;
}

template <loop Loop>
task<void> change_feed<Loop>::tell(state& s, std::uint64_t seen) {
    co_await s.news.newer_than(seen);
    s.told->set();
}

template <loop Loop>
task<result<void>> change_feed<Loop>::rearm(registry_ref<Loop> r, state& s, takes shown, arguments given) {
    s.telling.cancel();
    s.watches.clear();
    ELASTICJOB_CO_TRY(auto told, elasticjob::detail::event_descriptor::make());
    s.told = std::move(told);
    auto const seen = s.news.edition();

    std::vector<std::string> jobs;
    if (given.job.empty()) {
        ELASTICJOB_CO_TRY(jobs, co_await r.children(node_path{}, &s.watches.emplace_back(s.news)));
        std::sort(jobs.begin(), jobs.end());
    }
    auto const nodes = watched_nodes::of(shown, given, jobs);
    auto const read = [&](node_path const& path) { return r.exists(path, &s.watches.emplace_back(s.news)); };
    auto const list = [&](node_path const& path) { return r.children(path, &s.watches.emplace_back(s.news)); };
    auto const found = co_await gather_each(r.loop(), nodes.data, read);
    for (auto const& one : found)
        if (!one) co_return one.error();
    auto const listed = co_await gather_each(r.loop(), nodes.children, list);
    for (auto const& one : listed)
        if (!one && !(one.error() == errc::no_node)) co_return one.error(); // absent: the interval will tell
    s.telling.spawn(tell(s, seen));
    co_return success();
}

} // namespace elasticjob::cli

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/command_line/change_feed.ipp>
#endif
#endif // ELASTICJOB_COMMAND_LINE_CHANGE_FEED_HPP
