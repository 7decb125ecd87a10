// SPDX-License-Identifier: Apache-2.0
// The number of requests on the wire, as the server counts it for each session.
#include <cluster/cluster.hpp>

#include <sstream>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

/// A client numbers its requests, so the server's note of the last number tells how many there were; pings have none.
struct traffic {
    std::int64_t packets = 0;  ///< received from the session, pings included
    std::int64_t requests = 0; ///< the number of the last one

    friend traffic operator-(traffic a, traffic b) { return {a.packets - b.packets, a.requests - b.requests}; }
    std::int64_t pings() const { return packets - requests; }
};

traffic traffic_of(zk_server const& server, std::int64_t session) {
    std::istringstream connections{server.ask("cons")};
    for (std::string text; std::getline(connections, text);) {
        auto const number = [&](std::string const& key, int base) {
            auto const at = text.find(key);
            REQUIRE_MESSAGE(at != text.npos, text);
            return std::stoll(text.substr(at + key.size()), nullptr, base);
        };
        if (text.find("sid=0x") == text.npos || number("sid=0x", 16) != session) continue;
        return {number("recved=", 10), number("lcxid=0x", 16)};
    }
    FAIL("the session has no connection");
    return {};
}

/// Waits until it has sent only pings for a moment.
traffic settled_traffic(cluster& all, member const& m) {
    auto last = traffic_of(all.server(), m.session());
    auto since = std::chrono::steady_clock::now();
    all.wait_for("the requests to end", [&] {
        auto const now = traffic_of(all.server(), m.session());
        if (now.requests != last.requests) since = std::chrono::steady_clock::now();
        last = now;
        return std::chrono::steady_clock::now() - since > 400ms;
    });
    return last;
}

void wait_for_all_shares(cluster& all, member& m, std::size_t jobs) {
    all.wait_for("all jobs to have items", [&] {
        std::set<std::string> owners;
        for (auto const& l : m.all("owns")) owners.insert(l.job);
        return owners.size() == jobs;
    });
}

} // namespace

TEST_CASE("cluster: an idle instance of 50 jobs sends only pings") {
    cluster all{common_server(), "idle"};
    constexpr auto session_timeout = 1500ms;
    auto& m = all.start("idler", {.jobs = {never(3)}, .session_timeout = session_timeout, .more = {"--copies", "50"}});
    wait_for_all_shares(all, m, 50);
    auto const begin_at = std::chrono::steady_clock::now();
    auto const begin = settled_traffic(all, m);
    all.wait_until(cluster::wall_clock::now() + 3s); // the measurement
    auto const sent = traffic_of(all.server(), m.session()) - begin;
    auto const span = std::chrono::steady_clock::now() - begin_at;
    CHECK(sent.requests == 0);
    CHECK(sent.pings() >= 3);
    CHECK(sent.pings() <= span / (session_timeout / 3) + 2);
}

TEST_CASE("cluster: a tick of 100 items is one request to start them and one for all that end together") {
    cluster all{common_server(), "tick"};
    INFO(all.transcript());
    auto const job = every(2, 100);
    // The first end waits longer for the others than a busy machine may need to run them all.
    auto& m = all.start("ticker", {.jobs = {job}, .body = 0ms, .more = {"--linger-ms", "200"}});
    all.wait_until_shared(job, {&m});
    auto count_at_rest = [&](auto due) { // at 3/10 of the way to the next due instant
        all.wait_for_runs(due, 100);
        all.wait_for_a_break(2s);
        all.wait_until_idle({&m});
        return traffic_of(all.server(), m.session()).requests;
    };
    auto const due = all.wait_for_a_break(2s) + 2s;
    auto const begin = count_at_rest(due);
    auto const end = count_at_rest(due + 4s);
    CHECK(end - begin == 2 * 2);
    all.check_complete(due + 2s, due + 4s, 2s, 100);
}

TEST_CASE("cluster: the leader's cost of a reshard does not depend on the number of items, except its own new items") {
    auto cost_of = [](std::string const& name_space, int items, std::int64_t& when_joining,
                      std::int64_t& when_leaving) {
        cluster all{common_server(), name_space};
        INFO(all.transcript());
        auto const job = never(items);
        auto& leader = all.start("leader", {.jobs = {job}});
        all.wait_for("the leader to own all", [&] { return leader.share().size() == static_cast<std::size_t>(items); });
        auto const alone = settled_traffic(all, leader).requests;
        auto& other = all.start("other", {.jobs = {job}});
        auto const half = static_cast<std::size_t>(items) / 2;
        all.wait_for("half to be given away",
                     [&] { return leader.share().size() == half && other.share().size() == half; });
        auto const together = settled_traffic(all, leader).requests;
        other.terminate();
        all.wait_for("all to come back", [&] { return leader.share().size() == static_cast<std::size_t>(items); });
        when_joining = together - alone;
        when_leaving = settled_traffic(all, leader).requests - together;
        CHECK(leader.count("sharded") == 3);
    };
    std::int64_t few_joining = 0, few_leaving = 0, many_joining = 0, many_leaving = 0;
    cost_of("reshard-10", 10, few_joining, few_leaving);
    cost_of("reshard-1000", 1000, many_joining, many_leaving);
    MESSAGE("requests of the leader: " << many_joining << " when somebody joins, " << many_leaving
                                       << " when he leaves; " << few_joining << " and " << few_leaving
                                       << " with 10 items");
    // Reads of changes, some of which may come in two parts, and the requests from the decision until the result shows.
    constexpr int news_max = 5, from_decision_to_done_max = 5;
    for (auto const requests : {few_joining, many_joining}) CHECK(requests <= news_max + from_decision_to_done_max);
    // An instance that gets items reads their run records: here the leader itself gets half of them.
    CHECK(few_leaving <= news_max + from_decision_to_done_max + 10 / 2);
    CHECK(many_leaving <= news_max + from_decision_to_done_max + 1000 / 2);
}
