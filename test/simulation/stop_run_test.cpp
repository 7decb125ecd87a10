// SPDX-License-Identifier: Apache-2.0
// An operator stops a run: only the chosen run stops.
#include <elasticjob/testing/simulation.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::testing;
using namespace std::chrono_literals;

namespace {

using kind = observation::kind;

/// Three nodes, one item each, whose runs take 40 of 60 seconds.
struct long_runs {
    explicit long_runs(bool is_monitored = true) {
        job_config c;
        c.name = "a";
        c.cron = "0 * * * * ?";
        c.sharding_total_count = 3;
        c.monitor_execution = is_monitored;
        c.failover = is_monitored;
        c.misfire = is_monitored;
        s.add_job(std::move(c), [](sharding_context const&) { return simulated_run{.duration = 40s}; });
        s.add_nodes(3);
        s.start_all();
        s.run_for(65s); // the runs of 0:01:00 have begun
    }
    ~long_runs() { CHECK_MESSAGE(s.violations().empty(), s.transcript()); }

    void stop(item_index i) { s.inject({.what = fault_kind::stop_run, .count = i}); }

    /// How the operator's last command ended; nothing while it has not.
    observation const* last_command() const {
        for (auto o = s.view().log.rbegin(); o != s.view().log.rend(); ++o)
            if (o->what == kind::command) return &*o;
        return nullptr;
    }
    std::vector<observation> of(kind k, item_index i) const {
        std::vector<observation> found;
        for (auto const& o : s.view().log)
            if (o.what == k && o.item == i) found.push_back(o);
        return found;
    }
    bool has_order(item_index i) { return s.server().tree().find(s.layout(0).stop_order(i)) != nullptr; }

    simulation<> s{1};
};

} // namespace

TEST_CASE("stop: the run of one item stops, its siblings go on, and the order is taken away") {
    long_runs r;
    r.stop(1);
    r.s.run_for(2s);
    REQUIRE(r.last_command() != nullptr);
    CHECK(!r.last_command()->failure);
    REQUIRE(r.of(kind::body_ended, 1).size() == 1);
    CHECK(r.of(kind::body_ended, 1).back().text.find("ordered") != std::string::npos);
    CHECK(!r.has_order(1));
    CHECK(r.of(kind::body_ended, 0).empty());
    r.s.run_for(60s);
    CHECK(r.of(kind::started, 1).size() == 2); // the next instant is another run
    r.s.run_for(40s);
    CHECK(r.of(kind::body_ended, 1).back().text.find("ordered") == std::string::npos);
}

TEST_CASE("stop: an item that does not run cannot be stopped, and the operator gets an error") {
    long_runs r;
    r.s.run_for(50s);
    r.stop(1);
    r.s.run_for(2s);
    REQUIRE(r.last_command() != nullptr);
    REQUIRE(r.last_command()->failure.has_value());
    CHECK(*r.last_command()->failure == errc::not_running);
    CHECK(!r.has_order(1));
}

TEST_CASE("stop: a job that is not monitored has no runs on record to be stopped") {
    long_runs r{false};
    r.stop(1);
    r.s.run_for(2s);
    REQUIRE(r.last_command() != nullptr);
    REQUIRE(r.last_command()->failure.has_value());
    CHECK(*r.last_command()->failure == errc::not_running);
}
