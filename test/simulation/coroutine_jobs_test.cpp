// SPDX-License-Identifier: Apache-2.0
// Jobs that are coroutines, under whatever a seed does to their clusters: a run does piece after piece of endless work,
// and saves a checkpoint behind each, which the next run goes on from, and reports its progress.
#include <elasticjob/execution/coroutine_executor.hpp>

#include <simulation/seeds.hpp>
#include <elasticjob/testing/simulation.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace elasticjob::testing;
using namespace std::chrono_literals;

namespace {

/// Counts of the events that the invariants are about, in all seeds.
struct tally {
    std::uint64_t pieces = 0, resumed = 0, stale = 0, refused = 0, given_up = 0;
};

/// The target of the job's writes: pieces in their order, each of the run with the greatest token so far. Notes
/// violations.
class work_done {
public:
    explicit work_done(tally& t) : tally_{t} {}

    std::string wrong;

    /// The number of pieces that the run was told were done.
    int begin(sharding_context const& c) {
        auto& mine = items_[c.item];
        mine.begun = std::max(mine.begun, c.token);
        auto const done = c.last_checkpoint.empty() ? 0 : std::stoi(c.last_checkpoint);
        if (done > mine.done) complain(c, "goes on behind piece " + c.last_checkpoint + ", which has not been done");
        for (auto const& [token, saved] : mine.saved)
            if (token < c.token && saved > done) complain(c, "has lost the checkpoint " + std::to_string(saved));
        if (done > 0 && c.attempt > 1) ++tally_.resumed;
        return done;
    }
    bool take(sharding_context const& c, int piece) {
        auto& mine = items_[c.item];
        if (c.token < mine.token) return ++tally_.stale, false;
        mine.token = c.token;
        if (piece > mine.done + 1) complain(c, "leaves out piece " + std::to_string(mine.done + 1));
        mine.done = std::max(mine.done, piece);
        return ++tally_.pieces, true;
    }
    void saved(sharding_context const& c, int piece) {
        if (given_up_.contains({c.item, c.token})) complain(c, "has been given up, and saves a checkpoint");
        items_[c.item].saved[c.token] = piece;
    }
    void refused() { ++tally_.refused; }
    void give_up(item_index i, std::int64_t token) {
        ++tally_.given_up;
        given_up_.insert({i, token});
    }
    /// The item has been cut off, and starts from the beginning if it comes back. A run that began before is stale
    /// then.
    void forget(item_index i) {
        auto& mine = items_[i];
        mine = item{.token = std::max(mine.token, mine.begun) + 1};
    }
    int done(item_index i) { return items_[i].done; }

private:
    struct item {
        int done = 0;
        std::int64_t token = 0;
        std::int64_t begun = 0;              ///< the greatest token of a run
        std::map<std::int64_t, int> saved{}; ///< by token
    };
    void complain(sharding_context const& c, std::string what) {
        wrong =
            "the run of item " + item_name(c.item) + " with token " + std::to_string(c.token) + " " + std::move(what);
    }

    tally& tally_;
    std::map<item_index, item> items_;
    std::set<std::pair<item_index, std::int64_t>> given_up_;
};

struct piece_by_piece {
    std::shared_ptr<work_done> work;
    bool looks_at_its_stop_token = true;

    task<result<void>> operator()(coroutine_context<node_loop> const& run) const {
        auto piece = work->begin(run);
        for (int n = 0; n < 5; ++n) {
            bool const goes_on = co_await run.sleep_for(300ms);
            if (!goes_on && looks_at_its_stop_token) co_return error{errc::job_failed, "stopped"};
            if (!goes_on) co_await sleep_until(run.loop(), run.loop().now() + 300ms);
            if (!work->take(run, piece + 1)) co_return error{errc::fenced, "by the one who keeps the pieces"};
            ++piece;
            run.progress(static_cast<std::uint64_t>(run.token), static_cast<std::uint64_t>(piece));
            auto const saved = co_await run.save(std::to_string(piece));
            if (!saved) {
                work->refused();
                co_return saved.error();
            }
            work->saved(run, piece);
        }
        co_return success();
    }
};

/// Checkpoints never go back, not even between two of them; a run that has been given up is over in time, and frees its
/// item.
class checkpoints_go_on {
public:
    static constexpr std::string_view name = "checkpoints go on";

    checkpoints_go_on(std::shared_ptr<work_done> w, std::chrono::milliseconds limit)
        : work_{std::move(w)},
          limit_{limit} {}

    std::string on(observation const& o, cluster_view const& v) {
        if (o.what == observation::kind::started) {
            auto& before = started_[o.item];
            if (given_up_.contains({o.item, o.token}))
                return testing::detail::item_text(o.job, o.item) + " has an old token";
            before = {o.token, o.at};
        }
        if (o.what == observation::kind::finished) {
            if (o.failure && *o.failure == errc::timed_out) {
                work_->give_up(o.item, o.token);
                given_up_.insert({o.item, o.token});
            }
            auto const& begun = started_[o.item];
            bool const is_quiet = v.now_at == stage::settled || v.now_at == stage::watched;
            if (is_quiet && limit_ > 0ms && begun.first == o.token && o.at - begun.second > limit_ + 500ms)
                return testing::detail::item_text(o.job, o.item) + " was given up too late";
        }
        return std::exchange(work_->wrong, {});
    }

    std::string changed(tree_event const& e, cluster_view const& v) {
        auto const place = testing::detail::record_place_of(e.path);
        if (e.kind != watch_kind::data || !place) return {};
        auto const item = place->item;
        auto const record = testing::detail::record_of(v, v.jobs.front(), item);
        if (!record) {
            work_->forget(item);
            last_.erase(item);
            return {};
        }
        auto& runs = runs_[item];
        auto const* there = v.find(*node_path::parse(e.path));
        if (runs.first != record->running) runs = {record->running, there->stat.modified};
        auto const progress = run_record::parse_progress(there->data);
        if (progress) ++reports_;
        if (progress && progress->done != static_cast<std::uint64_t>(runs.second)) // the token of the current run
            return "the record of item " + item_name(item) + " has the progress of another run";
        auto const now = record->checkpoint.empty() ? 0 : std::stoi(record->checkpoint);
        auto const before = std::exchange(last_[item], now);
        if (now >= before) return {};
        return "the checkpoint of item " + item_name(item) + " goes from " + std::to_string(before) + " back to " +
               std::to_string(now);
    }

    /// When all is well, the work of each item goes on.
    std::string reached(stage s, cluster_view const& v) {
        if (s == stage::watched && std::exchange(reports_, 0) == 0) return "nobody's progress is on record";
        for (item_index i = 0; i < testing::detail::item_count(v, v.jobs.front()).value_or(0); ++i) {
            if (s == stage::settled) settled_at_[i] = work_->done(i);
            bool const can_run = testing::detail::has_members(v, v.jobs.front());
            if (s == stage::watched && can_run && work_->done(i) < settled_at_[i] + 15)
                return "the work of item " + item_name(i) + " does not go on";
        }
        return {};
    }

private:
    std::shared_ptr<work_done> work_;
    std::chrono::milliseconds limit_;
    std::map<item_index, std::pair<std::int64_t, mono_time>> started_; ///< last: the token, and when
    std::set<std::pair<item_index, std::int64_t>> given_up_;
    std::map<item_index, std::pair<std::optional<run_begin>, revision>> runs_; ///< what runs, and since which revision
    std::map<item_index, int> last_;
    std::map<item_index, int> settled_at_;
    std::uint64_t reports_ = 0;
};

tally of_all; // seeds

std::unique_ptr<simulation<>> build(std::uint64_t seed) {
    random_source random{seed * 86'028'121};
    auto const pick = [&](std::uint64_t n) { return random.next() % n; };
    simulation_options o;
    o.scheduler.drain_timeout = 2s;
    if (seed % 3 == 2) o.latency.most = 30ms;
    auto s = std::make_unique<simulation<>>(seed, o);
    auto const work = std::make_shared<work_done>(of_all);
    job_config c;
    c.name = "fetch";
    c.cron = "0/5 * * * * ?";
    c.sharding_total_count = static_cast<int>(1 + pick(5));
    c.failover = pick(3) != 0;
    if (pick(2) == 0) c.retry = {.attempts_max = 3, .pause = 500ms, .pause_max = 2s};
    if (pick(2) == 0) c.give_up_after = 3s; // of 1.5
    s->add_job<CoroutineExecutor>(c, piece_by_piece{work, pick(3) != 0});
    s->add_invariant(checkpoints_go_on{work, c.give_up_after});
    s->add_nodes(static_cast<std::uint32_t>(3 + pick(2)));
    return s;
}

} // namespace

TEST_CASE("testing.simulation: coroutines go on where the last run of the item stopped, whatever a seed does") {
    of_all = {};
    auto const found = explored(seeds(50), &build);
    MESSAGE(found.seeds << " seeds: " << of_all.pieces << " pieces, " << of_all.resumed << " attempts that went on, "
                        << of_all.stale << " stale pieces, " << of_all.refused << " checkpoints refused, "
                        << of_all.given_up << " runs given up");
    if (is_replay()) return;
    CHECK(of_all.pieces > 200 * found.seeds);
    CHECK(of_all.resumed > found.seeds);
    if (found.seeds < 50) return; // too few for rare events
    CHECK(of_all.refused > 0);
    CHECK(of_all.given_up > found.seeds);
}
