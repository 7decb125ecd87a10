// SPDX-License-Identifier: Apache-2.0
// The first member of a new job creates it, leads it and owns its items in one transaction.
#include <elasticjob/config/json_codec.hpp>
#include <support/cluster.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

using items = std::vector<item_index>;

constexpr char const* every_ten_seconds = "0/10 * * * * ?";

} // namespace

TEST_CASE("scheduler.founding: one transaction creates the job, its leader and its assignment") {
    cluster c;
    auto& one = c.add();
    REQUIRE(one.schedule(make_job("settle", every_ten_seconds, 3)));
    auto const founded = c.find("/settle")->stat.created;
    for (auto const* path : {"/settle/config", "/settle/leader/election/instance", "/settle/ext/assignment",
                             "/settle/sharding/2/instance"}) {
        INFO(path);
        REQUIRE(c.has(path));
        CHECK(c.find(path)->stat.created == founded);
    }
    CHECK(c.data("/settle/leader/election/instance") == one.id("settle"));
    CHECK(c.owners("settle", 3) == std::vector(3, one.id("settle")));
    CHECK_FALSE(c.has("/settle/leader/sharding/necessary"));
    c.run_for(15s); // 10
    CHECK(c.started() == items{0, 1, 2});
    CHECK(c.find("/settle/ext/assignment")->stat.version == 0);
    CHECK(c.count(heard::kind::resharded) == 1);
    CHECK(c.count(heard::kind::leads) == 1);
    CHECK(c.count(heard::kind::share) == 1);
    CHECK(c.count(heard::kind::trouble) == 0);
}

TEST_CASE("scheduler.founding: a member that only joins leads and shards as usual") {
    cluster c;
    c.create("/settle"); // a Java member or an operator has begun to create the job
    REQUIRE(c.add().schedule(make_job("settle", every_ten_seconds, 3)));
    CHECK_FALSE(c.has("/settle/leader/election/instance"));
    c.run_for(15s);
    CHECK(c.started() == items{0, 1, 2});
    CHECK(c.count(heard::kind::resharded) == 1);
    CHECK(c.count(heard::kind::leads) == 1);
}

TEST_CASE("scheduler.founding: whichever request or reply is lost, each instant runs once") {
    for (auto const fate : {request_fate::request_lost, request_fate::reply_lost})
        for (std::uint64_t n = 0; n < 20; ++n) {
            INFO("request " << n << (fate == request_fate::reply_lost ? ", its reply" : ""));
            cluster c;
            auto& one = c.add();
            auto& two = c.add();
            losing const network{c.server, losing::nth(one.registry.session().id, n, fate)};
            REQUIRE(one.schedule(make_job("settle", every_ten_seconds, 3)));
            REQUIRE(two.schedule(make_job("settle", every_ten_seconds, 3)));
            c.run_for(25s); // 10, 20
            CHECK(c.started() == items{0, 0, 1, 1, 2, 2});
            CHECK(c.violations.empty());
            CHECK(c.count(heard::kind::leads) == 1);
            // Request 18 is the second sharding. A leader that loses the reply to a sharding does not report it.
            bool const is_untold = fate == request_fate::reply_lost && n == 18;
            CHECK(c.count(heard::kind::resharded) == (is_untold ? 1 : 2));
            CHECK(c.find("/settle/ext/assignment")->stat.version == 1);
            std::size_t leaders = 0;
            for (auto const& m : c.members) leaders += c.data("/settle/leader/election/instance") == m->id("settle");
            CHECK(leaders == 1);
        }
}

TEST_CASE("scheduler.founding: a job that is disabled gets no leader and no owners before it is enabled") {
    cluster c;
    auto job = make_job("settle", every_ten_seconds, 2);
    job.disabled = true;
    auto& one = c.add();
    REQUIRE(one.schedule(job));
    c.run_for(15s);
    CHECK_FALSE(c.has("/settle/leader/election/instance"));
    CHECK_FALSE(c.has("/settle/ext/assignment"));
    REQUIRE(one.enable("settle"));
    c.run_for(10s);
    CHECK(c.started() == items{0, 1});
}

TEST_CASE("scheduler.founding: parts that do not fit into the transaction follow afterwards") {
    std::size_t at_once = 0, afterwards = 0;
    for (std::size_t bytes = 4'000; bytes < 9'000; bytes += 50) {
        INFO("a request has " << bytes << " bytes at most");
        cluster c{{.limits = {.request_bytes_max = bytes, .operations_max = 100'000}}};
        c.host_name = "db-1.example";
        REQUIRE(c.add().schedule(make_job("settle", every_ten_seconds, 20)));
        CHECK(c.has("/settle/leader/election/instance"));
        ++(c.has("/settle/ext/assignment") ? at_once : afterwards);
        c.run_for(15s);
        CHECK(c.started().size() == 20);
        CHECK(c.count(heard::kind::resharded) == 1);
        CHECK(c.count(heard::kind::trouble) == 0);
    }
    CHECK(at_once > 10);
    CHECK(afterwards > 10);
}

TEST_CASE("scheduler.founding: other members go on with a job whose founder loses its session before it learns more") {
    cluster c;
    auto& one = c.add();
    auto& two = c.add();
    REQUIRE(one.schedule(make_job("settle", every_ten_seconds, 3)));
    post(c.loop, [&] { one.registry.expire(); });
    REQUIRE(two.schedule(make_job("settle", every_ten_seconds, 3)));
    c.run_for(25s); // 10, 20
    CHECK(c.started() == items{0, 0, 1, 1, 2, 2});
    CHECK(c.violations.empty());
    CHECK(c.count(heard::kind::trouble) == 0);
}

TEST_CASE("scheduler.founding: the founder reads the nodes of its first sharding when another instance joins") {
    cluster c;
    auto& one = c.add();
    c.server.counts() = {};
    REQUIRE(one.schedule(make_job("settle", every_ten_seconds, 3)));
    c.run_for(15s);                       // 10
    CHECK(c.server.counts().reads == 10); // a look, and nine watches
    CHECK(c.server.counts().writes == 4); // two to begin, a start and an end
    CHECK(c.server.watches() == 9);

    REQUIRE(c.add().schedule(make_job("settle", every_ten_seconds, 3)));
    c.run_for(10s); // 20
    CHECK(c.started() == items{0, 0, 1, 1, 2, 2});
    CHECK(c.find("/settle/ext/assignment")->stat.version == 1);
    expire(c, one);
    c.run_for(10s); // 30
    CHECK(c.started() == items{0, 0, 0, 1, 1, 1, 2, 2, 2});
    CHECK(c.violations.empty());
}

TEST_CASE("scheduler.founding: after eight new jobs a process does not look whether the next one exists") {
    cluster c;
    auto& one = c.add();
    auto const requests_of = [&](member& m, std::string const& name) {
        c.server.counts() = {};
        REQUIRE(m.schedule(make_job(name, never, 1)));
        c.run_for(5s);
        return std::to_string(c.server.counts().reads) + " reads, " + std::to_string(c.server.counts().writes) +
               " writes";
    };
    for (int n = 0; n < 8; ++n) CHECK(requests_of(one, "new-" + std::to_string(n)) == "10 reads, 2 writes");
    CHECK(requests_of(one, "new-8") == "9 reads, 2 writes");
    REQUIRE(c.add().schedule(make_job("taken", never, 1)));
    (void)requests_of(one, "taken"); // the guess is wrong
    CHECK(requests_of(one, "new-9") == "10 reads, 2 writes");
    CHECK(c.count(heard::kind::trouble) == 0);
}

TEST_CASE("scheduler.founding: a lone founder replaces the nodes that somebody removes, once it needs them") {
    for (bool const monitors : {true, false}) // without records no start checks them, so they are watched
        for (std::string const removed : {"/settle/ext/assignment", "/settle/sharding/0/instance", "/settle/sharding/0",
                                          "/settle/sharding", "/settle/leader/election/instance"}) {
            INFO(removed << (monitors ? "" : ", without records"));
            cluster c;
            auto& one = c.add();
            auto job = make_job("settle", every_ten_seconds, 3);
            job.monitor_execution = monitors;
            REQUIRE(one.schedule(job));
            c.run_for(5s);
            c.remove_tree(removed);
            c.run_for(monitors ? 20s : 4s); // 10, 20
            CHECK(c.owners("settle", 3) == std::vector(3, one.id("settle")));
            CHECK(c.has("/settle/ext/assignment"));
            CHECK(c.data("/settle/leader/election/instance") == one.id("settle"));
            c.run_for(monitors ? 0s : 16s); // 10, 20
            CHECK(c.started() == items{0, 0, 1, 1, 2, 2});

            auto& two = c.add();
            REQUIRE(two.schedule(job));
            c.run_for(10s); // 30
            CHECK(c.started() == items{0, 0, 0, 1, 1, 1, 2, 2, 2});
            CHECK_FALSE(c.started(1).empty());
            CHECK(c.violations.empty());
        }
}

TEST_CASE("scheduler.founding: a lone founder shards again, and sees what it has written") {
    cluster c;
    auto& one = c.add();
    REQUIRE(one.schedule(make_job("settle", every_ten_seconds, 3)));
    c.run_for(5s);
    c.set("/settle/config", to_json(make_job("settle", every_ten_seconds, 5)));
    c.run_for(1s);
    CHECK(c.owners("settle", 5) == std::vector(5, one.id("settle")));
    CHECK(c.count(heard::kind::resharded) == 2);
    CHECK(c.find("/settle/ext/assignment")->stat.version == 1);
    c.run_for(10s); // 10
    CHECK(c.started() == items{0, 1, 2, 3, 4});
    CHECK(c.count(heard::kind::trouble) == 0);
}

TEST_CASE("scheduler.founding: a founder that was away does not run what others own") {
    for (bool const monitors : {true, false}) {
        CAPTURE(monitors);
        cluster c;
        auto job = make_job("settle", every_ten_seconds, 4);
        job.monitor_execution = monitors;
        auto& one = c.add();
        auto& two = c.add();
        REQUIRE(one.schedule(job));
        c.run_for(5s);
        disconnect(c, one);
        c.run_for(2min); // its session is over
        REQUIRE(two.schedule(job));
        c.run_for(20s); // and missed instants have been made up for
        c.log.clear();
        c.run_for(10s);
        CHECK(c.started(0).empty());
        CHECK(c.started(1) == items{0, 1, 2, 3});
        reconnect(c, one);
        c.run_for(10s);
        CHECK(c.started() == items{0, 0, 1, 1, 2, 2, 3, 3});
        CHECK(c.started(0).size() == 2);
        CHECK(c.violations.empty());
    }
}
