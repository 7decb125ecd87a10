// SPDX-License-Identifier: Apache-2.0
#include <cluster/cluster.hpp>
#include <integration/ensemble_lab.hpp>

#include <elasticjob/execution/run_record.hpp>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

constexpr unsigned items = 6;
constexpr auto step = 5s;

std::int64_t steady_us() {
    auto const now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

/// All runs of an item, in the order in which they began.
std::vector<line> runs_of(std::vector<member*> const& who, unsigned item) {
    std::vector<line> found;
    for (auto const* m : who)
        for (auto const& l : m->all("runs"))
            if (l.item() == item) found.push_back(l);
    std::ranges::sort(found, {}, &line::at_us);
    return found;
}

/// The time during which no server answered.
struct outage {
    cluster::wall_clock::time_point from, until;
};

/// Each due instant from the first to the last has been handled once: by a completed run, or, if the registry was away
/// at the time, by the run of a later instant. Earlier instants do not count: they came due while the members joined,
/// and each new share stops the runs of the items that move.
void check_ledger(run_record const& record, cluster::wall_clock::time_point first, cluster::wall_clock::time_point last,
                  std::vector<outage> const& outages) {
    CHECK_FALSE(record.running.has_value());
    auto due = first;
    for (auto const& e : record.ledger) {
        if (e.run.due < first) continue;
        bool const is_run = e.outcome != run_outcome::coalesced;
        if (is_run) CHECK(name_of(e.outcome) == "completed");
        CHECK(e.run.attempt == 1);
        for (auto left = e.count; left > 0; --left) {
            auto const stands_for = e.run.due - (left - 1) * step;
            if (stands_for < first) continue;
            CHECK(cluster::ms(stands_for) == cluster::ms(due));
            bool const was_away = std::ranges::any_of(
                outages, [&](outage const& o) { return o.from <= stands_for + 100ms && stands_for <= o.until; });
            CHECK_MESSAGE((is_run || was_away), "made up for by a later one: " << cluster::ms(stands_for));
            due = stands_for + step;
        }
    }
    CHECK(due > last);
}

} // namespace

// Twice: once in the middle of the runs, whose ends then must wait for the next leader; and once just when runs are
// due, so that some starts have an unknown outcome. The dead server comes back each time, as a follower.
TEST_CASE("ensemble: its leader dies under a running job, and the job does not notice") {
    zk_ensemble servers;
    cluster all{servers.endpoints(), "leader-dies"};
    INFO(all.transcript());
    auto job = every(5, items);
    job.failover = true;
    job_layout const at{*job_name::parse(job.name)};
    worker_options const o{.jobs = {job}, .session_timeout = 60s};
    std::vector<member*> const workers{&all.start("a", o), &all.start("b", o), &all.start("c", o)};
    all.wait_until_shared(job, workers);

    std::vector<node_path> const untouched{at.instances() / workers[0]->id(), at.instances() / workers[1]->id(),
                                           at.instances() / workers[2]->id(), at.leader_instance(), at.assignment()};
    std::vector<std::optional<node>> before;
    for (auto const& path : untouched) before.push_back(all.read(path));
    for (auto const& n : before) REQUIRE(n.has_value());
    std::map<std::pair<member*, std::string>, std::size_t> said;
    for (auto* m : workers)
        for (std::string const verb : {"joined", "sharded", "owns"}) said[{m, verb}] = m->count(verb);

    cluster::wall_clock::time_point first{}, last{};
    std::vector<outage> outages;
    std::int64_t first_kill_us = 0;
    for (bool const in_the_middle : {true, false}) {
        auto const due = all.wait_for_a_break(step) + step;
        if (in_the_middle) {
            first = due;
            for (auto* m : workers) all.slow_down(*m, 3s);
            all.wait_for_runs(due, items);
        } else {
            all.wait_until(due);
        }
        auto const leader = servers.leader();
        REQUIRE(leader != 0);
        auto const killed_at = cluster::wall_clock::now();
        servers.kill(leader);
        if (in_the_middle) {
            first_kill_us = steady_us();
            for (auto* m : workers) all.slow_down(*m, 50ms);
        }
        servers.start(leader);
        CHECK(servers.leader() != leader);
        // All items are back once each has run for an instant after that.
        auto const back_at = cluster::wall_clock::now();
        auto const all_have_run = [&] {
            std::map<std::int64_t, std::size_t> ran;
            for (auto const& [which, who] : all.runs()) ++ran[which.first];
            last = cluster::wall_clock::time_point{std::chrono::milliseconds{ran.rbegin()->first}};
            return last > back_at && ran.rbegin()->second == items;
        };
        all.wait_for("all items to run again", all_have_run, 40s);
        outages.push_back({killed_at, last - 1ms});
        all.wait_until_idle({workers[0], workers[1], workers[2]});
    }
    // The runs at that time have continued.
    for (auto const* m : workers)
        for (auto const& l : m->all("ran"))
            if (l.due_ms() == cluster::ms(first)) CHECK(l.at_us > first_kill_us);

    all.check_nothing_ran_twice();
    all.check_no_trouble();
    for (auto const* m : workers) {
        CHECK(m->count("fenced") == 0);
        CHECK(m->count("left") == 0);
        for (auto const& l : m->all("ran"))
            if (l.due_ms() >= cluster::ms(first)) CHECK_MESSAGE(l.words.at(2) == "done", m->name() << ": " << l.text);
    }
    for (auto* m : workers)
        for (std::string const verb : {"joined", "sharded", "owns"})
            CHECK_MESSAGE((m->count(verb) == said[{m, verb}]), m->name() << " said again: " << verb);

    // The upper half of a ZooKeeper revision counts the leaders.
    for (unsigned i = 0; i < items; ++i) {
        auto const runs = runs_of(workers, i);
        for (std::size_t n = 1; n < runs.size(); ++n) CHECK(runs[n - 1].token() < runs[n].token());
        REQUIRE(!runs.empty());
        auto const leaders = (runs.back().token() >> 32) - (runs.front().token() >> 32);
        CHECK(leaders >= 2);
    }

    on_loop(all.observer().loop(), [&] { return reach(all.observer(), session_state::connected, 1); });
    for (unsigned i = 0; i < items; ++i) {
        // The end of the last run is recorded a moment after it.
        std::optional<run_record> record;
        all.wait_for("the last end to be recorded", [&] {
            auto const there = all.read(at.run_record(i));
            auto read = run_record::parse(there ? there->data : std::string{});
            if (!read) return false;
            record = *std::move(read);
            return !record->running;
        });
        check_ledger(*record, first, last, outages);
    }
    for (std::size_t n = 0; n < untouched.size(); ++n) {
        auto const after = all.read(untouched[n]);
        REQUIRE(after.has_value());
        CHECK_MESSAGE(after->data == before[n]->data, untouched[n].str());
        CHECK_MESSAGE((after->stat == before[n]->stat), untouched[n].str());
    }
}
