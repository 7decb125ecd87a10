// SPDX-License-Identifier: Apache-2.0
/// \file \brief Which items this instance owns, and whether due items may begin.
#ifndef ELASTICJOB_SCHEDULER_JOB_SHARE_HPP
#define ELASTICJOB_SCHEDULER_JOB_SHARE_HPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/reactions.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/events/event.hpp>
#include <elasticjob/scheduler/firing_hold.hpp>
#include <elasticjob/scheduler/item_runs.hpp>
#include <elasticjob/scheduler/job_context.hpp>
#include <elasticjob/scheduler/job_rules.hpp>
#include <elasticjob/sharding/item_claim.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob::detail {

/// Claims items for this instance whenever their owners may have changed. Under a Java leader, due items wait until
/// that leader has sharded (JV-1), but not for ever (D-12). Threads: the loop's.
template <class Environment>
class job_share {
public:
    /// All three belong to the job and must outlive this object.
    job_share(job_context<Environment>& context, job_rules<Environment>& rules, item_runs<Environment>& runs)
        : context_{context},
          rules_{rules},
          runs_{runs} {}

    /// Tells the items whether this instance owns them. While that is unknown, none begins.
    next_step keep();

    /// Waits until the share is known, for a limited time.
    task<void> known();

    /// Reports the items, if they are not the ones that were reported last.
    void tell(std::vector<item_index> mine);

    /// Checks whether a Java leader has to shard before due items may begin, or has done so.
    void look_for_requests();

    /// A due instant or an order waits for a Java leader: from now on for at most `sharding_timeout`.
    void note_held_back();

private:
    /// The facts that determine the instance's share.
    struct source {
        owners_source owners;
        std::uint32_t items;
        std::uint64_t answers; ///< by a Java leader
        friend bool operator==(source const&, source const&) = default;
    };
    source source_now() const;

    /// Whether the share is unknown or outdated, and the owners are known.
    bool is_to_be_claimed();

    /// Reads the owners and tells the items their share. Returns when to check again at the latest.
    task<mono_time> claim();

    /// A Java leader shards after each write to a server's node, although it may not have requested it yet.
    bool is_sharding_to_come() const;

    void limit_hold();
    mono_time hold_limit() const;

    job_context<Environment>& context_;
    job_rules<Environment>& rules_;
    item_runs<Environment>& runs_;
    std::optional<source> claimed_; ///< the facts of the last share
    lasting_failure failed_claim_{};
    firing_hold hold_;
    std::vector<item_index> told_;
};

template <class Environment>
next_step job_share<Environment>::keep() {
    look_for_requests();
    limit_hold();
    if (is_to_be_claimed()) return claim();
    return hold_limit();
}

template <class Environment>
bool job_share<Environment>::is_to_be_claimed() {
    if (!context_.is_registered() || context_.is_leaving || claimed_ == source_now()) return false;
    bool const is_assigned = context_.view->assignment_in_force() != nullptr;
    if (!is_assigned || hold_.since()) {
        claimed_.reset();
        runs_.doubt_ownership(hold_.since().value_or(context_.wall_milliseconds()));
    }
    return is_assigned || !hold_.is_waiting(); // a Java leader has to name the owners first
}

template <class Environment>
task<mono_time> job_share<Environment>::claim() {
    auto const basis = source_now();
    auto const deadline = context_.now() + context_.env.options.sharding_timeout;
    auto claimed = co_await claim_items(context_.registry, *context_.view, context_.at, context_.self, basis.items,
                                        deadline, hold_.is_answered());
    if (!claimed) co_return context_.now() + context_.after_failure(failed_claim_, claimed.error());
    failed_claim_.end();
    if (!(source_now() == basis)) co_return context_.now();
    std::erase_if(claimed->shares, [&](auto const& s) { return s.item >= basis.items; });
    std::vector<item_index> mine;
    for (auto const& s : claimed->shares) mine.push_back(s.item);
    tell(std::move(mine));
    runs_.own(*std::move(claimed));
    hold_.note_owners();
    claimed_ = basis;
    context_.news.notify();
    co_return hold_limit();
}

template <class Environment>
task<void> job_share<Environment>::known() {
    auto const deadline = context_.now() + context_.env.options.sharding_timeout;
    while (context_.now() < deadline && context_.is_enabled()) {
        auto const seen = context_.news.edition();
        look_for_requests();
        bool const is_known = claimed_ && *claimed_ == source_now();
        if (is_known && !hold_.since() && !is_sharding_to_come()) co_return;
        co_await context_.news.newer_than(seen, deadline);
    }
}

template <class Environment>
auto job_share<Environment>::source_now() const -> source {
    return {context_.owners_source_now(), rules_.item_count(), hold_.answers()};
}

template <class Environment>
void job_share<Environment>::tell(std::vector<item_index> mine) {
    if (mine == told_) return;
    told_ = std::move(mine);
    context_.env.sink(events::share_changed{context_.origin(), told_});
}

template <class Environment>
void job_share<Environment>::look_for_requests() {
    auto const* first = context_.view->first_item();
    revision const sharding = first && !context_.view->sharding_is_in_progress() ? first->created : 0;
    hold_.note_request(awaits_java_sharding(*context_.view), sharding, context_.wall_milliseconds());
    runs_.terms().held_from = hold_.since();
}

template <class Environment>
bool job_share<Environment>::is_sharding_to_come() const {
    auto const* first = context_.view->first_item();
    if (!first || !has_java_leader(*context_.view)) return false;
    auto const all = context_.view->instances();
    return std::any_of(all.begin(), all.end(), [&](instance_id const& id) {
        auto const* server = context_.view->server(id.server());
        return server && server->stat.modified > first->modified;
    });
}

template <class Environment>
void job_share<Environment>::note_held_back() {
    if (!hold_.since() || hold_.waits_since()) return;
    hold_.note_due(context_.now());
    context_.news.notify();
}

template <class Environment>
void job_share<Environment>::limit_hold() {
    if (context_.now() < hold_limit()) return;
    hold_.give_up();
    context_.news.notify();
    auto const* leader = context_.view->leader();
    context_.tell_trouble({errc::timed_out,
                           "due items have waited " + std::to_string(context_.env.options.sharding_timeout.count()) +
                               " ms for " + (leader ? "the leader " + leader->data : std::string{"a leader"}) +
                               " to shard the job; their former owners, if there are any, run them now",
                           context_.at.sharding_necessary().str()});
}

template <class Environment>
mono_time job_share<Environment>::hold_limit() const {
    auto const since = hold_.waits_since();
    return since ? *since + context_.env.options.sharding_timeout : mono_time::max();
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_JOB_SHARE_HPP
