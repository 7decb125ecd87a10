// SPDX-License-Identifier: Apache-2.0
// An access list forbids the library to read a node, one after the other: any node of a job. The instances ask again
// after pauses, report it, and go on when they may read it.
#include <support/cluster.hpp>
#include <support/full_run.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

job_config followed() { return make_job("settle", "0/10 * * * * ?", 2); }

/// Two members of a job and of one that follows it.
void begin(cluster& c) {
    auto follower = make_job("report", "", 2);
    follower.schedules = {job_schedule::after_job("settle")};
    for (int i = 0; i < 2; ++i) {
        auto& m = c.add();
        REQUIRE(m.schedule(followed()));
        REQUIRE(m.schedule(follower));
    }
    c.run_for(1min);
    c.log.clear();
}

/// Instance nodes have new names in each cluster, so the cluster's own are found by their position.
std::vector<std::string> nodes_of(cluster const& c) {
    std::vector<std::string> paths;
    c.server.tree().for_each([&](std::string const& p, node const&) {
        if (p != "/") paths.push_back(p);
    });
    return paths;
}

enum class meanwhile : std::uint8_t { nothing, new_session, new_member };

void disturb(cluster& c, meanwhile what) {
    if (what == meanwhile::new_session) expire(c, *c.members[0]);
    if (what == meanwhile::new_member) (void)c.add().schedule(followed()); // may be refused
}

/// How often the node with the most reports was reported.
std::size_t reports_of_one_node(cluster const& c) {
    std::map<std::string, std::size_t> count;
    for (auto const& t : c.troubles()) ++count[t.failure->where];
    std::size_t most = 0;
    for (auto const& [path, n] : count) most = std::max(most, n);
    return most;
}

} // namespace

TEST_CASE("scheduler.job: whatever node cannot be read, instances ask with pauses, report it, and go on afterwards") {
    std::size_t nodes = 0;
    {
        cluster c;
        begin(c);
        nodes = nodes_of(c).size();
    }
    REQUIRE(nodes >= 50);
    auto const apart = test::amount_for_this_run({.full = 1, .usual = 3, .sanitized = 15});
    for (std::size_t n = 0; n < nodes; n += apart) {
        for (auto const what : {meanwhile::nothing, meanwhile::new_session, meanwhile::new_member}) {
            cluster c;
            begin(c);
            auto const path = nodes_of(c)[n];
            CAPTURE(path);
            CAPTURE(static_cast<int>(what));
            c.set_unreadable(path);
            disturb(c, what);
            auto const before = c.server.counts().all();
            c.run_for(10min);
            CHECK(c.server.counts().all() - before < 3'000); // some 900 without a fault
            bool const has_missed_runs = c.count(heard::kind::started) < 2 * 2 * 60;
            CHECK_FALSE((has_missed_runs && c.troubles().empty()));
            CHECK(reports_of_one_node(c) <= 4); // once for each of four memberships
            c.set_unreadable(path, false);
            c.log.clear();
            c.run_for(1min); // longer than any pause
            c.log.clear();
            c.run_for(1min);
            CHECK(c.count(heard::kind::started) == 2 * 2 * 6);
            CHECK(c.troubles().empty());
            CHECK(c.violations.empty());
        }
    }
}
