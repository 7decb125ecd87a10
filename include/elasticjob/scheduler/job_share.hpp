// SPDX-License-Identifier: Apache-2.0
/// \file \brief Which items this instance owns, and whether due items may begin.
#ifndef ELASTICJOB_SCHEDULER_JOB_SHARE_HPP
#define ELASTICJOB_SCHEDULER_JOB_SHARE_HPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/events/event.hpp>
#include <elasticjob/scheduler/firing_hold.hpp>
#include <elasticjob/scheduler/item_runs.hpp>
#include <elasticjob/scheduler/job_rules.hpp>
#include <elasticjob/scheduler/job_standing.hpp>
#include <elasticjob/sharding/item_claim.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob::detail {

/// Claims items for this instance whenever their owners may have changed. Under a Java leader, due items wait until
/// that leader has sharded (JV-1), but not for ever (D-12). Threads: the loop's.
template <class Environment, sharding_strategy Strategy>
class job_share {
public:
    /// All three belong to the job and must outlive this object.
    job_share(job_standing<Environment>& here, job_rules<Environment, Strategy>& rules, item_runs<Environment>& runs)
        : here_{here},
          rules_{rules},
          runs_{runs} {}

    /// Tells the items which of them this instance owns. While that is unknown, none begins.
    task<void> keep();

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

    /// A Java leader shards after each write to a server's node, although it may not have requested it yet.
    bool is_sharding_to_come() const;

    void limit_hold();
    mono_time hold_limit() const;

    job_standing<Environment>& here_;
    job_rules<Environment, Strategy>& rules_;
    item_runs<Environment>& runs_;
    std::optional<source> claimed_; ///< the facts of the last share
    firing_hold hold_;
    std::vector<item_index> told_;
};

template <class Environment, sharding_strategy Strategy>
task<void> job_share<Environment, Strategy>::keep() {
    for (;;) {
        auto const seen = here_.news.edition();
        look_for_requests();
        limit_hold();
        auto const now = source_now();
        if (here_.is_registered() && !here_.is_leaving && !(claimed_ && *claimed_ == now)) {
            if (!here_.view->assignment_in_force() || hold_.since()) {
                claimed_.reset();
                runs_.doubt_ownership(hold_.since().value_or(here_.wall_milliseconds()));
            }
            if (!here_.view->assignment_in_force() && hold_.is_waiting()) { // there are no owners before that
                co_await here_.news.newer_than(seen, hold_limit());
                continue;
            }
            auto const deadline = here_.now() + here_.env.options.sharding_timeout;
            auto claim = co_await claim_items(here_.registry, *here_.view, here_.at, here_.self, now.items, deadline,
                                              hold_.is_answered());
            if (claim && source_now() == now) {
                std::erase_if(claim->shares, [&](auto const& s) { return s.item >= now.items; });
                std::vector<item_index> mine;
                for (auto const& s : claim->shares) mine.push_back(s.item);
                tell(std::move(mine));
                runs_.own(*std::move(claim));
                hold_.note_owners();
                claimed_ = now;
                here_.news.notify();
            } else if (!claim) {
                if (!is_connection(claim.error().code)) here_.tell_trouble(claim.error());
                co_await here_.news.newer_than(seen, here_.now() + here_.retry_pause);
            }
            continue;
        }
        co_await here_.news.newer_than(seen, hold_limit());
    }
}

template <class Environment, sharding_strategy Strategy>
task<void> job_share<Environment, Strategy>::known() {
    auto const patience = here_.now() + here_.env.options.sharding_timeout;
    while (here_.now() < patience && here_.is_enabled()) {
        auto const seen = here_.news.edition();
        look_for_requests();
        bool const is_known = claimed_ && *claimed_ == source_now();
        if (is_known && !hold_.since() && !is_sharding_to_come()) co_return;
        co_await here_.news.newer_than(seen, patience);
    }
}

template <class Environment, sharding_strategy Strategy>
auto job_share<Environment, Strategy>::source_now() const -> source {
    return {here_.owners_source_now(), rules_.item_count(), hold_.answers()};
}

template <class Environment, sharding_strategy Strategy>
void job_share<Environment, Strategy>::tell(std::vector<item_index> mine) {
    if (mine == told_) return;
    told_ = std::move(mine);
    here_.env.sink(events::share_changed{here_.origin(), told_});
}

template <class Environment, sharding_strategy Strategy>
void job_share<Environment, Strategy>::look_for_requests() {
    auto const* first = here_.view->first_item();
    revision const sharding = first && !here_.view->sharding_is_processed() ? first->stat.created : 0;
    hold_.note_request(awaits_java_sharding(*here_.view), sharding, here_.wall_milliseconds());
    runs_.terms().held_from = hold_.since();
}

template <class Environment, sharding_strategy Strategy>
bool job_share<Environment, Strategy>::is_sharding_to_come() const {
    auto const* first = here_.view->first_item();
    if (!first || !has_java_leader(*here_.view)) return false;
    auto const all = here_.view->instances();
    return std::any_of(all.begin(), all.end(), [&](instance_id const& id) {
        auto const* server = here_.view->server(id.server());
        return server && server->stat.modified > first->stat.modified;
    });
}

template <class Environment, sharding_strategy Strategy>
void job_share<Environment, Strategy>::note_held_back() {
    if (!hold_.since() || hold_.waits_since()) return;
    hold_.note_due(here_.now());
    here_.news.notify();
}

template <class Environment, sharding_strategy Strategy>
void job_share<Environment, Strategy>::limit_hold() {
    if (here_.now() < hold_limit()) return;
    hold_.give_up();
    here_.news.notify();
    auto const* leader = here_.view->leader();
    here_.tell_trouble({errc::timed_out,
                        "what was due has waited for " + std::to_string(here_.env.options.sharding_timeout.count()) +
                            " ms for " + (leader ? "the leader " + leader->data : std::string{"a leader"}) +
                            " to shard the job, and now runs by the owners of before, if there are any",
                        here_.at.sharding_necessary().str()});
}

template <class Environment, sharding_strategy Strategy>
mono_time job_share<Environment, Strategy>::hold_limit() const {
    auto const since = hold_.waits_since();
    return since ? *since + here_.env.options.sharding_timeout : mono_time::max();
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_JOB_SHARE_HPP
