// SPDX-License-Identifier: Apache-2.0
// Members of two versions of the library share jobs, as they do during a rolling upgrade and a rollback.
#include <simulation/seeds.hpp>
#include <simulation/small_cluster.hpp>

#include <elasticjob/execution/coroutine_executor.hpp>
#include <elasticjob/execution/job_pauses.hpp>
#include <elasticjob/execution/run_record.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace elasticjob::testing;

namespace {

constexpr std::uint32_t machines = 3;
constexpr std::uint32_t present = 0, earlier = 1; ///< versions

/// All machines get that version, one after another.
fault_plan deploy_everywhere(std::uint32_t version, std::chrono::milliseconds begin) {
    fault_plan all;
    for (std::uint32_t n = 0; n < machines; ++n)
        all.push_back({begin + n * 12s, fault_kind::deploy, n, 0, 2s, version});
    return all;
}

/// What is on record stays there, whichever version writes the record next. The jobs of these tests have runs that save
/// a checkpoint, and no operator handles their dead letters.
class records_forget_nothing {
public:
    static constexpr std::string_view name = "records forget nothing";

    std::string changed(tree_event const& e, cluster_view const& v) {
        auto const at = testing::detail::record_place_of(e.path);
        if (!at) return {};
        auto const now = testing::detail::record_of(v, at->job, at->item);
        if (!now) return known_.erase(e.path), std::string{}; // the item has been removed
        auto const before = known_[e.path];
        if (!now->running) known_[e.path] = *now; // a start that is undone restores the record before it
        auto const lost = [&](std::string_view what) { return std::string{what} + " of " + e.path + " is lost"; };
        if (before.schedule != 0 && now->schedule == 0) return lost("the schedule");
        if (before.obeyed > now->obeyed) return lost("the last order");
        if (before.last_begun && !now->last_begun) return lost("the last begin");
        if (before.last_completed && !now->last_completed) return lost("the last end");
        if (!before.checkpoint.empty() && now->checkpoint.empty()) return lost("the checkpoint");
        if (before.dead_letters.size() > now->dead_letters.size()) return lost("a dead letter");
        return {};
    }

private:
    std::map<std::string, run_record> known_; ///< the last record without a live run, by path
};

/// Jobs whose records have lines of nearly every kind: runs fail and are repeated, save checkpoints, and are long
/// enough to be interrupted.
std::unique_ptr<simulation<>> jobs_of(std::uint64_t seed, library_version const& other) {
    random_source random{seed * 7919};
    auto const pick = [&](std::uint64_t n) { return random.next() % n; };
    auto s = std::make_unique<simulation<>>(seed);
    auto c = every_five_seconds(static_cast<int>(3 + pick(3)));
    c.failover = pick(3) != 0;
    c.misfire = pick(3) != 0;
    c.retry = {.attempts_max = 3, .pause = 1s, .pause_max = 5s};
    c.dead_letters_max = 3;
    s->add_job(c, [random = random_source{random.next()}](sharding_context const&) mutable {
        simulated_run r;
        r.duration = std::chrono::milliseconds{random.next() % 4'000};
        r.stops_after = std::chrono::milliseconds{random.next() % 500};
        if (random.next() % 4 == 0) r.outcome = error{errc::job_failed, "as planned"};
        return r;
    });
    c.name = "save";
    c.cron = "1/7 * * * * ?";
    c.sharding_total_count = 2;
    s->add_job<CoroutineExecutor>(c, [](coroutine_context<node_loop> const& run) -> task<result<void>> {
        if (!co_await run.sleep_for(500ms)) co_return error{errc::job_failed, "it was stopped"};
        ELASTICJOB_CO_CHECK(co_await run.save(std::to_string(run.token)));
        if (!co_await run.sleep_for(500ms)) co_return error{errc::job_failed, "it was stopped"};
        co_return success();
    });
    s->add_nodes(machines);
    s->add_version(other);
    s->add_invariant(records_forget_nothing{});
    return s;
}

explore_options short_seeds(std::uint64_t count) {
    auto o = seeds(count);
    o.length = 150s;
    return o;
}

/// One machine of the present version, and one of the earlier version, which are the nodes 0 and 1.
struct mixed_job : small_cluster {
    mixed_job(job_config c, library_version const& other) : small_cluster{std::move(c), 2} {
        s.add_version(other);
        s.set_version(1, earlier);
        start();
    }
    /// Time passes until the machine has joined with its new process.
    void deploy(std::uint32_t node, std::uint32_t version) {
        inject({.what = fault_kind::deploy, .node = node, .span = 100ms, .count = version});
        run_for(1s);
        REQUIRE(!id(node).empty());
    }
    std::string text(item_index i) const { return data(at.run_record(i)); }
};

} // namespace

TEST_CASE("two versions: a rolling upgrade, a rollback, and an upgrade that stops half-way lose nothing") {
    auto const found = explored(short_seeds(14), [](std::uint64_t seed) {
        auto s = jobs_of(seed, previous_version);
        for (std::uint32_t n = 0; n < machines; ++n) s->set_version(n, earlier);
        s->schedule_faults(deploy_everywhere(present, 20s));
        if (seed % 3 == 1) s->schedule_faults(deploy_everywhere(earlier, 80s));
        if (seed % 3 == 2) s->schedule_faults({{80s, fault_kind::deploy, 1, 0, 2s, earlier}});
        return s;
    });
    CHECK(found.seeds > 0);
}

TEST_CASE("two versions: machines may change their versions at any time") {
    auto o = short_seeds(10);
    o.rates[fault_kind::deploy] = 15;
    auto const found = explored(o, [](std::uint64_t seed) {
        auto s = jobs_of(seed, seed % 2 == 0 ? previous_version : version_without_pauses);
        for (std::uint32_t n = 0; n < machines; n += 2) s->set_version(n, earlier);
        return s;
    });
    CHECK(found.seeds > 0);
}

TEST_CASE("two versions: an upgrade is noticed to be dangerous if the earlier version forgets any line of a record") {
    for (auto const lost : previous_version.record_lines) {
        if (lost == "next" || lost == "progress" || lost == "resume") continue; // hints; and too rare for a few seeds
        INFO("the line " << lost);
        std::vector<std::string_view> lines;
        std::copy_if(previous_version.record_lines.begin(), previous_version.record_lines.end(),
                     std::back_inserter(lines), [&](std::string_view line) { return line != lost; });
        library_version const forgetful{"forgetful", false, lines, previous_version.orders};
        auto o = short_seeds(5);
        o.seeds = 25; // under a sanitizer too; the first that finds it ends the search
        o.shrinking.tries = 0;
        auto const found = explore(o, [&](std::uint64_t seed) {
            auto s = jobs_of(seed, forgetful);
            s->set_version(1, earlier);
            s->schedule_faults(deploy_everywhere(earlier, 40s));
            return s;
        });
        CHECK((!found.holds() || is_replay()));
    }
}

TEST_CASE(
    "two versions: the earlier version drops all entries but the last three, and the present version reads its own") {
    mixed_job j{every_five_seconds(1), previous_version};
    j.leave(1);
    j.run_for(40s);
    REQUIRE(j.record(0).ledger.size() == 8);
    REQUIRE(j.text(0).find("\nentries ") != std::string::npos);
    REQUIRE(j.text(0).find("\ncreated ") != std::string::npos);
    auto const ours = j.record(0).ledger;

    j.deploy(0, earlier);
    REQUIRE(j.record(0).ledger.size() == 8); // nothing has been due since
    j.run_for(5s);
    auto const kept = j.record(0).ledger;
    REQUIRE(kept.size() == 4);
    CHECK(std::equal(kept.begin(), kept.end() - 1, ours.end() - 3));
    j.run_for(20s);
    auto const theirs = j.record(0).ledger;
    CHECK(theirs.size() == 8);
    CHECK(j.text(0).find("\nentries ") == std::string::npos);
    CHECK(j.text(0).find("\ncreated ") == std::string::npos);

    j.deploy(0, present);
    j.run_for(7s);
    auto const all = j.record(0).ledger;
    REQUIRE(all.size() > theirs.size());
    CHECK(std::equal(theirs.begin(), theirs.end(), all.begin()));
    CHECK(j.text(0).find("\nentries ") != std::string::npos);
    CHECK(j.text(0).find("\ncreated ") != std::string::npos);
    CHECK_MESSAGE(j.wrong().empty(), j.wrong());
}

TEST_CASE("two versions: a member of a version without pauses runs on during a pause, until its machine is upgraded") {
    mixed_job j{every_five_seconds(4), version_without_pauses};
    auto const runs_of = [&](std::uint32_t node) {
        auto const all = j.all(kind::started);
        return std::count_if(all.begin(), all.end(), [&](observation const& o) { return o.node == node; });
    };
    j.run_for(5s);
    REQUIRE(runs_of(0) == 2);
    REQUIRE(runs_of(1) == 2);
    auto p = job_pauses::parse({}).value();
    REQUIRE(p.pause({}, j.s.world().wall_now()).value());
    j.create(j.at.pauses(), p.to_text());
    j.run_for(30s);
    CHECK(runs_of(0) == 2);
    CHECK(runs_of(1) == 2 + 6 * 2);

    j.deploy(1, present);
    auto const before = j.count(kind::started);
    j.run_for(30s);
    CHECK(j.count(kind::started) == before);
    REQUIRE(p.resume({}, j.s.world().wall_now()));
    j.write(j.at.pauses(), p.to_text());
    j.run_for(10s);
    CHECK(j.count(kind::started) == before + 2 * 4);
    CHECK_MESSAGE(j.wrong().empty(), j.wrong());
}

TEST_CASE("two versions: a deploy ends the process in order, and the next one has the new version and the same jobs") {
    mixed_job j{hourly(2), previous_version};
    j.lasts = 10s;
    j.run_until_before_the_hour();
    j.run_for(2s);
    REQUIRE(j.running() == 2);
    auto const before = j.id(0);
    j.inject(
        {.what = fault_kind::deploy, .node = 0, .span = 5s, .count = earlier}); // time passes until its run has ended
    REQUIRE(j.count(kind::finished) >= 1);
    CHECK(j.count(kind::process_killed) == 0);
    CHECK(j.all(kind::process_ended).size() == 1);
    CHECK(j.all(kind::process_ended).front().text == "");
    CHECK(j.id(0) == "");
    j.run_for(6s);
    CHECK(j.all(kind::process_began).back().text == "previous");
    CHECK(j.id(0) != "");
    CHECK(j.id(0) != before);
    CHECK(j.count(run_source::failover) == 0);

    j.inject({.what = fault_kind::crash, .node = 1, .span = 30s});
    j.inject({.what = fault_kind::deploy, .node = 1, .span = 1h, .count = present}); // no process has to end
    j.run_for(31s);
    CHECK(j.all(kind::process_began).back().node == 1);
    CHECK(j.all(kind::process_began).back().text == "");
    CHECK_MESSAGE(j.wrong().empty(), j.wrong());
}
