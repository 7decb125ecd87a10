// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/membership/old_servers.hpp>

#include <elasticjob/registry/read_all.hpp>
#include <support/enroll_alone.hpp>
#include <support/job_world.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

instance_id at_ip(std::string const& ip) { return instance_id::parse(ip + "@-@1-a").value(); }

/// A job whose leader, with session `one`, is the instance at 10.0.0.1. The machine 10.1.0.1 is gone.
struct old_world : job_world {
    old_world() {
        create(at.config(), "c");
        create(at.election());
        create(at.sharding_flags());
        create(at.assignment(), "a");
        create_as(one, at.leader_instance(), {}, create_mode::ephemeral);
        create(at.server("10.0.0.1"));
        create(at.server("10.1.0.1"));
        loop.run_for(2h);
    }
    std::vector<std::string> listed() { return wait_for(one.children(at.servers())).value(); }
    transaction removal() {
        auto const paths = servers.pick(at, listed(), {at_ip("10.0.0.1")});
        auto const read = wait_for(read_all(one, paths)).value();
        return servers.removal(at, one.session().generation, find(at.assignment())->stat.version, read,
                               loop.wall_now() - 1h);
    }
    bool commit(transaction t) { return static_cast<bool>(wait_for(one.commit(std::move(t))).value()); }

    old_servers servers;
};

} // namespace

TEST_CASE("membership.old_servers: an old, empty node without an instance is removed") {
    old_world w;
    CHECK(w.commit(w.removal()));
    CHECK(w.listed() == std::vector<std::string>{"10.0.0.1"});
    CHECK(w.removal().empty());
}

TEST_CASE("membership.old_servers: the host name is removed with the node, and kept with it") {
    old_world w;
    w.create(w.at.hosts());
    w.create(w.at.host("10.0.0.1"), "db-1");
    w.create(w.at.host("10.1.0.1"), "db-2");
    SUBCASE("a server that is gone") {
        CHECK(w.commit(w.removal()));
        CHECK_FALSE(w.has(w.at.host("10.1.0.1")));
    }
    SUBCASE("a server that an operator has disabled") {
        w.set(w.at.server("10.1.0.1"), "DISABLED");
        w.loop.run_for(48h);
        CHECK(w.removal().empty());
        CHECK(w.has(w.at.host("10.1.0.1")));
    }
    CHECK(w.data(w.at.host("10.0.0.1")) == "db-1");
}

TEST_CASE("membership.old_servers: a node that has data or children, or is young, stays") {
    old_world w;
    SUBCASE("disabled") { w.set(w.at.server("10.1.0.1"), "DISABLED"); }
    SUBCASE("an unknown word") { w.set(w.at.server("10.1.0.1"), "DRAINING"); }
    SUBCASE("written recently") { w.set(w.at.server("10.1.0.1"), {}); }
    SUBCASE("has children") { w.create(w.at.server("10.1.0.1") / "hostName"); }
    if (w.data(w.at.server("10.1.0.1")) != "") w.loop.run_for(48h);
    CHECK(w.removal().empty());
}

TEST_CASE("membership.old_servers: any change between the read and the removal prevents the removal") {
    old_world w;
    auto t = w.removal();
    SUBCASE("an operator disables the server") { w.set(w.at.server("10.1.0.1"), "DISABLED"); }
    SUBCASE("another client writes the node") { w.set(w.at.server("10.1.0.1"), {}); }
    SUBCASE("an instance joins and asks for a sharding") { w.create(w.at.sharding_necessary()); }
    SUBCASE("the job has been sharded, because an instance has joined") { w.set(w.at.assignment(), "b"); }
    SUBCASE("another instance leads") { w.wait_for(w.one.remove(w.at.leader_instance())).value(); }
    CHECK_FALSE(w.commit(std::move(t)));
    CHECK(w.has(w.at.server("10.1.0.1")));
}

TEST_CASE("membership.old_servers: an instance that joins meanwhile has its server's node") {
    job_config c;
    c.name = "settle";
    c.cron = "0/5 * * * * ?";
    auto const accept = [](valid_config const&) -> result<void> { return success(); };
    int before = 0;
    for (int turns = 0; turns < 20; ++turns) {
        INFO("removed after " << turns << " turns");
        old_world w;
        w.remove(w.at.config());
        std::optional<result<enrollment>> joined;
        auto const remove_later = [&](int n) -> task<void> {
            for (; n > 0; --n) co_await yield(w.loop);
            transaction t{w.one.session().generation};
            t.check_absent(w.at.sharding_necessary()).remove(w.at.server("10.1.0.1"), 0); // as `removal` checks
            auto const removed = co_await w.one.commit(std::move(t));
            before += removed && *removed;
        };
        auto const join = [&]() -> task<void> {
            enroll_request what{.self = at_ip("10.1.0.1"), .local = validate(c).value()};
            joined.emplace(co_await enroll_alone(w.two, w.at, std::move(what), accept));
        };
        post(w.loop, [&] {
            w.background.spawn(remove_later(turns));
            w.background.spawn(join());
        });
        w.loop.run_for(1s);
        REQUIRE(joined);
        REQUIRE(*joined);
        CHECK(w.has(w.at.server("10.1.0.1")));
    }
    CHECK(before > 2);
    CHECK(before < 20);
}

TEST_CASE("membership.old_servers: checks many nodes in batches, again and again, and skips those in use") {
    job_layout const at{job_name::parse("settle").value()};
    std::vector<std::string> listed;
    for (std::size_t n = 0; n < old_servers::batch_max + 50; ++n)
        listed.push_back("10.1.0." + std::to_string(1000 + n));
    std::vector<instance_id> const in_use{at_ip("10.1.0.1000"), at_ip("10.1.0.1249")};
    old_servers servers;
    auto const first = servers.pick(at, listed, in_use);
    REQUIRE(first.size() == 2 * old_servers::batch_max);
    CHECK(first.front() == at.server("10.1.0.1001"));
    CHECK(first[1] == at.host("10.1.0.1001"));
    auto const second = servers.pick(at, listed, in_use);
    REQUIRE(second.size() == 2 * 48);
    CHECK(second.front() == at.server("10.1.0.1201"));
    CHECK(second.back() == at.host("10.1.0.1248"));
    CHECK(servers.pick(at, listed, in_use) == first);
    CHECK(servers.pick(at, {}, in_use).empty());
}
