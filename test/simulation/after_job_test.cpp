// SPDX-License-Identifier: Apache-2.0
// Jobs that follow others, under whatever a seed does to their clusters: `settle` follows `fetch`, and `archive`
// follows `settle`.
#include <elasticjob/config/followed_rounds.hpp>
#include <elasticjob/config/schedule_text.hpp>

#include <simulation/console.hpp>
#include <simulation/seeds.hpp>
#include <elasticjob/testing/simulation.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace elasticjob::testing;
using namespace std::chrono_literals;

namespace {

std::string text_of(wall_time t) { return std::to_string(t.time_since_epoch() / 1ms); }

/// Each round of the one job that all its items have completed makes the other job due, once. The other job runs for
/// nothing else, and at most once for each of these rounds.
class one_round_for_each {
public:
    static constexpr std::string_view name = "one round for each";

    one_round_for_each(std::string first, std::string second) : first_{std::move(first)}, second_{std::move(second)} {}

    std::string changed(tree_event const& e, cluster_view const& v) {
        auto const now = v.server.world().now();
        auto const* leader = v.find(cluster_view::layout(second_).leader_instance());
        if (leader) led_at_ = now;
        longest_without_leader_ = std::max(longest_without_leader_, now - led_at_);
        if (auto const at = testing::detail::record_place_of(e.path); at && at->job == first_) note_record(at->item, v);
        if (e.path == "/" + second_ + "/ext/after") return look_at_written(v);
        return {};
    }

    std::string on(observation const& o, cluster_view const&) {
        if (o.what != observation::kind::started || o.job != second_) return {};
        if (o.source != run_source::schedule && o.source != run_source::misfire) return {};
        if (!dues_.contains(o.due))
            return testing::detail::item_text(second_, o.item) + " runs for nothing: " + text_of(o.due);
        if (o.attempt == 1 && !started_.insert({o.item, o.due}).second)
            return testing::detail::item_text(second_, o.item) + " runs twice for " + text_of(o.due);
        return {};
    }

    std::string reached(stage s, cluster_view const& v) {
        if (s != stage::watched) return {};
        auto const long_ago = v.server.world().now() - 15s;
        wall_time last{};
        for (auto const& [of, at] : completed_at_) {
            if (at < begun_ || at > long_ago) continue;
            if (auto const there = written_.find(of); there != written_.end())
                last = std::max(last, there->second);
            else if (longest_without_leader_ < 100s) // later the records may have forgotten
                return "the round " + text_of(of) + " of " + first_ + " has been completed and is lost";
        }
        for (item_index i = 0; i < testing::detail::item_count(v, second_).value_or(0); ++i) {
            if (v.find(cluster_view::layout(second_).item_disabled(i))) continue;
            auto const record = testing::detail::record_of(v, second_, i);
            auto const is_skipped = [&](observation const& o) { // which is written down with the next run
                return o.what == observation::kind::skipped && o.job == second_ && o.item == i && o.due >= last;
            };
            if (std::any_of(v.log.begin(), v.log.end(), is_skipped)) continue;
            if (!record || (record->through < last && !record->running))
                return testing::detail::item_text(second_, i) + " has done nothing about " + text_of(last);
        }
        return {};
    }

    static inline std::uint64_t rounds = 0; ///< that were written, of all seeds

private:
    void note_record(item_index item, cluster_view const& v) {
        auto const record = testing::detail::record_of(v, first_, item);
        if (!record) return;
        born_.emplace(item, record->through);
        for (auto const& e : record->ledger) {
            if (e.run.source == run_source::trigger) orders_.insert(e.run.due);
            if (e.outcome != run_outcome::completed || orders_.contains(e.run.due)) continue;
            auto& who = completed_[e.run.due];
            who.insert(item);
            if (who.size() == testing::detail::item_count(v, first_).value_or(0))
                completed_at_.emplace(e.run.due, v.server.world().now());
        }
    }

    /// An item whose first record begins behind the round was not there for it, by its clock.
    bool is_completed(wall_time of, cluster_view const& v) {
        auto const& who = completed_[of];
        for (item_index i = 0; i < testing::detail::item_count(v, first_).value_or(0); ++i) {
            auto const born = born_.find(i);
            if (!who.contains(i) && (born == born_.end() || born->second < of)) return false;
        }
        return !who.empty();
    }

    std::string look_at_written(cluster_view const& v) {
        auto const* there = v.find(cluster_view::layout(second_).after());
        if (!there) return "ext/after is gone";
        if (begun_ == mono_time::max()) begun_ = v.server.world().now();
        auto const all = followed_rounds::parse(there->data);
        if (!all) return to_string(all.error());
        for (auto const& r : all->rounds) {
            if (auto const known = written_.find(r.of); known != written_.end()) {
                if (known->second != r.due) return "the round " + text_of(r.of) + " is written twice";
                continue;
            }
            if (!written_.empty() && r.of < written_.rbegin()->first)
                return "the round " + text_of(r.of) + " is written behind a later one";
            if (!dues_.empty() && r.due <= *dues_.rbegin()) return "an instant is not later: " + text_of(r.due);
            if (!is_completed(r.of, v)) return "the round " + text_of(r.of) + " has not been completed";
            written_.emplace(r.of, r.due);
            dues_.insert(r.due);
            ++rounds;
        }
        return {};
    }

    std::string first_, second_;
    std::set<wall_time> orders_;                          ///< which are no rounds, nor are further attempts at them
    std::map<wall_time, std::set<item_index>> completed_; ///< by whom
    std::map<item_index, wall_time> born_;                ///< up to where the item's first record began
    std::map<wall_time, mono_time> completed_at_;         ///< by all
    std::map<wall_time, wall_time> written_;              ///< round to due instant
    std::set<wall_time> dues_;
    std::set<std::pair<item_index, wall_time>> started_;
    mono_time begun_ = mono_time::max(); ///< since when rounds count
    mono_time led_at_{};
    mono_time::duration longest_without_leader_{};
};

std::unique_ptr<simulation<>> build(std::uint64_t seed) {
    random_source random{seed * 6'700'417};
    auto const pick = [&](std::uint64_t n) { return random.next() % n; };
    simulation_options o;
    o.scheduler.drain_timeout = 2s;
    if (seed % 3 == 2) o.latency.most = 30ms;
    if (seed % 4 >= 2) o.scheduler.start_ahead = 80ms; // no effect on followers, but on the first job
    auto s = std::make_unique<simulation<>>(seed, o);
    auto const body = [](sharding_context const& ctx) {
        return simulated_run{.duration = std::chrono::milliseconds{(ctx.item + 1) * 300}};
    };
    std::string before;
    for (std::string const name : {"fetch", "settle", "archive"}) {
        job_config c;
        c.name = name;
        c.sharding_total_count = static_cast<int>(1 + pick(4));
        c.failover = pick(2) == 0;
        if (before.empty())
            c.cron = "0/20 * * * * ?";
        else
            c.schedules = {job_schedule::after_job(before)};
        s->add_job(c, body);
        if (!before.empty()) s->add_invariant(one_round_for_each{before, name});
        before = name;
    }
    s->add_nodes(static_cast<std::uint32_t>(3 + pick(2)));
    return s;
}

} // namespace

TEST_CASE("testing.simulation: jobs that follow others run once for each round, whatever a seed does") {
    auto o = seeds(40);
    // Another cron expression would be a mistake, and with another number of items a round is undefined.
    o.rates[fault_kind::set_cron] = o.rates[fault_kind::set_items] = 0;
    auto const found = explored(o, &build);
    MESSAGE(found.seeds << " seeds, " << one_round_for_each::rounds << " rounds");
    CHECK(one_round_for_each::rounds > 10 * found.seeds);
}

TEST_CASE("testing.simulation: an edit of only the end by which rounds count repeats no round, though a clock is ahead") {
    simulation<> s{1};
    job_config fetch, settle;
    fetch.name = "fetch";
    fetch.cron = "0 * * * * ?";
    settle.name = "settle";
    settle.schedules = {job_schedule::after_job("fetch")};
    std::map<wall_time, int> runs; // by round
    s.add_job(fetch, [](sharding_context const&) { return simulated_run{.duration = 100ms}; });
    s.add_job(settle, [&](sharding_context const& x) {
        ++runs[x.after.value()];
        return simulated_run{.duration = 100ms};
    });
    s.add_nodes(1);
    s.start_all();
    test::console by_hand{s};
    s.run_for(1s);
    s.inject({.what = fault_kind::clock_jump, .span = 10s});
    s.run_for(62s);
    auto const before = runs.size();
    CHECK(before > 0);
    settle.schedules = {job_schedule::after_job("fetch", round_end::ended)};
    by_hand.set(job_layout{job_name::parse("settle").value()}.schedule(), to_schedule_text(settle));
    s.run_for(2min);
    CHECK(runs.size() > before);
    for (auto const& [round, n] : runs) CHECK(n == 1);
}
