// SPDX-License-Identifier: Apache-2.0
/// \file \brief Maintains the nodes of our items that Java members expect besides owners and marks.
#ifndef ELASTICJOB_SCHEDULER_JAVA_MARKS_HPP
#define ELASTICJOB_SCHEDULER_JAVA_MARKS_HPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/gather.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/execution/once_latch.hpp>
#include <elasticjob/registry/watch.hpp>
#include <elasticjob/scheduler/item_runs.hpp>
#include <elasticjob/scheduler/job_context.hpp>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob::detail {

/// As long as there are Java members: removes the `misfire` marks of items that this instance takes over (JV-8), and
/// takes part in the latches of once listeners (GU-8). Repeats failed requests. Threads: the loop's.
template <class Environment>
class java_marks {
    using Loop = typename Environment::loop_type;

public:
    /// Both belong to the job and must outlive this object.
    java_marks(job_context<Environment>& context, item_runs<Environment>& runs)
        : context_{context},
          runs_{runs},
          started_{once_latch::stage::started, runs.idle_news()},
          completed_{once_latch::stage::completed, runs.idle_news()},
          created_{runs.idle_news()} {}

    task<void> keep();

private:
    struct latch_here {
        latch_here(once_latch::stage s, event_count<Loop>& news) : latch{s}, changed{news} {}
        once_latch latch;
        event_watch<Loop> changed;                       ///< armed as long as `names` is current
        std::optional<std::vector<std::string>> names{}; ///< nothing: it is absent
    };

    /// Once for each item, when this instance takes it over.
    task<void> remove_misfires();

    /// Reads the latch if it has changed, and registers items there.
    task<void> attend(latch_here& l, node_path path);

    static constexpr std::chrono::seconds looks_every{1}; ///< how often it checks the members and the share

    job_context<Environment>& context_;
    item_runs<Environment>& runs_;
    latch_here started_, completed_;
    bool is_used_ = false;      ///< a once listener has run in this job
    event_watch<Loop> created_; ///< armed while the node of all latches is absent
    std::vector<latch_item> ours_{};
    std::set<item_index> cleared_{}; ///< our items that have no mark
};

template <class Environment>
task<void> java_marks<Environment>::keep() {
    for (;;) {
        auto const seen = context_.news.edition();
        if (!context_.view->has_java_members() || !context_.is_registered()) {
            co_await context_.news.newer_than(seen);
            continue;
        }
        auto const looked = runs_.idle_news().edition();
        ours_ = runs_.latch_items();
        co_await remove_misfires();
        if (!is_used_ && !created_.is_linked()) {
            auto const guarantee = co_await context_.registry.exists(context_.at.guarantee(), &created_);
            is_used_ = guarantee && *guarantee;
            if (!guarantee || is_used_) created_.unlink();
        }
        co_await attend(started_, context_.at.once_started());
        co_await attend(completed_, context_.at.once_completed());
        auto const until = std::min(started_.latch.look_again(), completed_.latch.look_again());
        co_await runs_.idle_news().newer_than(looked, std::min(until, context_.now() + looks_every));
    }
}

template <class Environment>
task<void> java_marks<Environment>::remove_misfires() {
    std::vector<item_index> marked;
    std::set<item_index> still;
    for (auto const& i : ours_) {
        if (cleared_.contains(i.item))
            still.insert(still.end(), i.item);
        else
            marked.push_back(i.item);
    }
    cleared_ = std::move(still);
    auto const remove = [&](item_index i) { return context_.registry.remove(context_.at.item_misfire(i)); };
    auto const removed = co_await gather_each(context_.loop(), marked, remove);
    for (std::size_t n = 0; n < marked.size(); ++n)
        if (removed[n] || removed[n].error() == errc::no_node) cleared_.insert(marked[n]);
}

template <class Environment>
task<void> java_marks<Environment>::attend(latch_here& l, node_path path) {
    auto& registry = context_.registry;
    if (!l.changed.is_linked()) {
        auto names = co_await registry.children(path, &l.changed);
        l.names.reset();
        if (names) {
            l.names = *std::move(names);
            is_used_ = true;
        } else {
            l.changed.unlink();
            bool const is_absent = names.error() == errc::no_node;
            auto const there = co_await registry.exists(path, &l.changed);
            if (!is_absent || !there || *there) { // or it has just been made
                l.changed.unlink();
                co_return;
            }
        }
    }
    auto const& options = context_.env.options;
    auto const count = static_cast<std::uint32_t>(runs_.terms().config->config().sharding_total_count);
    auto const step = l.latch.next(ours_, count, l.names, is_used_, context_.now(), options.round_start_timeout);
    if (step.is_empty()) co_return;
    auto const node_of = [&](item_index i) { return path / item_name(i); };
    auto const is_kept = [](auto const& outcome, errc expected) { return outcome || outcome.error() == expected; };
    if (!step.registered.empty() && !l.names) {
        (void)co_await registry.create(context_.at.guarantee(), {}, create_mode::persistent, context_.generation);
        (void)co_await registry.create(path, {}, create_mode::persistent, context_.generation);
    }
    auto const add = [&](item_index i) {
        return registry.create(node_of(i), {}, create_mode::persistent, context_.generation);
    };
    auto const take = [&](item_index i) { return registry.remove(node_of(i)); };
    auto const take_name = [&](std::string const& name) { return registry.remove(path / name); };
    auto const added = co_await gather_each(context_.loop(), step.registered, add);
    auto const withdrawn = co_await gather_each(context_.loop(), step.withdrawn, take);
    auto const taken = co_await gather_each(context_.loop(), step.all, take_name);
    bool is_done = true;
    for (auto const& outcome : added) is_done = is_done && is_kept(outcome, errc::node_exists);
    for (auto const& outcome : withdrawn) is_done = is_done && is_kept(outcome, errc::no_node);
    for (auto const& outcome : taken) is_done = is_done && is_kept(outcome, errc::no_node);
    if (is_done && !step.all.empty()) {
        auto const opened = co_await registry.remove(path);
        is_done = is_kept(opened, errc::no_node);
    }
    if (is_done) l.latch.done(ours_, step);
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_JAVA_MARKS_HPP
