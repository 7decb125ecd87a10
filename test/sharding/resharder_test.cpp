// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/sharding/resharder.hpp>

#include <support/sharded_world.hpp>

#include <doctest/doctest.h>

#include <set>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

memory_server_options small_requests(std::size_t operations) {
    memory_server_options o;
    o.limits.operations_max = operations;
    return o;
}

assignment written(sharded_world const& w) { return assignment::parse(w.data(w.at.assignment())).value(); }

bool nodes_agree(sharded_world const& w) {
    auto const a = written(w);
    for (item_index i = 0; i < a.items(); ++i)
        if (owner_in(w.data(w.at.item_instance(i))) != a.owner_id(i).str()) return false;
    return true;
}

using names = std::vector<std::string>;

} // namespace

TEST_CASE("sharding.resharder: the first sharding is one reading and one transaction, whatever the number of items") {
    std::set<std::uint64_t> reads; // including the repeated reads of the views after each change
    for (std::uint32_t const count : {10U, 100U, 1000U, 3000U}) {
        sharded_world w;
        w.server.counts() = {};
        auto const done = w.wait_for(w.leader.shard(*w.view, w.basis(count)));
        REQUIRE(done);
        CHECK(w.server.counts().writes == 1);
        reads.insert(w.server.counts().reads);
        CHECK(done->moved == count);
        CHECK(nodes_agree(w));
        CHECK_FALSE(w.has(w.at.sharding_necessary()));
    }
    CHECK(reads.size() == 1);
    CHECK(*reads.begin() < 10);
}

TEST_CASE("sharding.resharder: a later sharding is one request") {
    std::set<std::uint64_t> reads; // of the views, whose watches fire
    for (std::uint32_t const count : {10U, 100U, 1000U, 3000U}) {
        sharded_world w;
        REQUIRE(w.shard(count));
        w.join(3, w.by_hand);
        w.loop.run_for(1s);
        auto b = w.basis(count);
        REQUIRE(b.instances.size() == 3);
        w.server.counts() = {};
        auto const done = w.wait_for(w.leader.shard(*w.view, std::move(b)));
        REQUIRE(done);
        CHECK(w.server.counts().writes == 1);
        reads.insert(w.server.counts().reads);
        CHECK(nodes_agree(w));
        CHECK(done->epoch == 2);
    }
    CHECK(reads.size() == 1);
    CHECK(*reads.begin() < 6);
}

TEST_CASE("sharding.resharder: only the nodes of items that move are written") {
    sharded_world w;
    REQUIRE(w.shard(4));
    CHECK(w.owners(4) == names{id_of(2).str(), id_of(2).str(), id_of(1).str(), id_of(1).str()});
    w.join(3, w.by_hand);
    w.loop.run_for(1s);
    auto const untouched = *w.find(w.at.item_instance(1)); // 2's before and after
    auto const done = w.shard(4);
    REQUIRE(done);
    CHECK(w.owners(4) == names{id_of(3).str(), id_of(2).str(), id_of(1).str(), id_of(3).str()});
    CHECK(*w.find(w.at.item_instance(1)) == untouched);
    CHECK(done->moved == 2);
}

TEST_CASE("sharding.resharder: the basis of a sharding is checked when it is committed (D-8 to D-11)") {
    sharded_world w;
    REQUIRE(w.shard(4));
    w.join(3, w.by_hand);
    w.loop.run_for(1s);
    auto const before = w.owners(4);
    auto const decided = w.basis(4);
    auto refused = [&] {
        auto const done = w.wait_for(w.leader.shard(*w.view, decided));
        REQUIRE_FALSE(done);
        CHECK(is_conflict(done.error().code));
        CHECK(w.owners(4) == before);
    };
    SUBCASE("an instance has left") {
        w.remove(w.at.instance(id_of(3)));
        refused();
    }
    SUBCASE("a server has been disabled") {
        w.set(w.at.server("10.0.0.2"), "DISABLED");
        refused();
    }
    SUBCASE("the configuration has been edited") {
        w.set(w.at.config(), "another");
        refused();
    }
    SUBCASE("another instance leads, or none") {
        w.wait_for(w.one.remove(w.at.leader_instance())).value();
        refused();
    }
    SUBCASE("another instance has sharded") {
        w.set(w.at.assignment(), "by somebody");
        refused();
    }
    SUBCASE("the session is over") {
        post(w.loop, [&] { w.one.expire(); });
        w.loop.run_ready();
        CHECK(w.wait_for(w.leader.shard(*w.view, decided)).error() == errc::session_lost);
        CHECK(w.owners(4) == before);
    }
}

TEST_CASE("sharding.resharder: a request that comes between decision and commit is not swallowed (D-8)") {
    sharded_world w;
    REQUIRE(w.shard(4));
    auto const decided = w.basis(4);
    w.join(3, w.by_hand); // like every joining instance, it requests a sharding
    w.create(w.at.sharding_necessary());
    REQUIRE(w.wait_for(w.leader.shard(*w.view, decided)));
    w.loop.run_for(1s);
    // Whether the flag is still there or not: the leader sees that it has to shard again.
    auto const now = w.basis(4);
    CHECK(w.leader.is_outdated(*w.view, now));
    REQUIRE(w.shard(now));
    CHECK_FALSE(w.leader.is_outdated(*w.view, w.basis(4)));
    CHECK(written(w).instances().size() == 3);
}

TEST_CASE("sharding.resharder: a bare request is granted without a new assignment") {
    sharded_world w;
    REQUIRE(w.shard(4));
    w.create(w.at.sharding_necessary());
    w.loop.run_for(1s);
    CHECK_FALSE(w.leader.is_outdated(*w.view, w.basis(4)));
    CHECK(w.view->sharding_is_requested());
    auto const version = w.find(w.at.assignment())->stat.version;
    REQUIRE(w.wait_for(w.leader.grant(*w.view, w.one.session().generation)));
    CHECK_FALSE(w.has(w.at.sharding_necessary()));
    CHECK(w.find(w.at.assignment())->stat.version == version);
}

TEST_CASE("sharding.resharder: after a refusal it reads the nodes before it tries again") {
    sharded_world w;
    REQUIRE(w.shard(4));
    w.remove(w.at.item_instance(3)); // an outside change
    w.remove(w.at.item(3));
    w.remove(w.at.item_instance(2));
    w.join(3, w.by_hand);
    w.loop.run_for(1s);
    auto const first = w.shard(4);
    if (!first) REQUIRE(w.shard(4));
    CHECK(nodes_agree(w));
}

TEST_CASE("sharding.resharder: after a refusal for another node it does not read the items") {
    std::set<std::uint64_t> reads; // of the views, whose watches fire
    for (std::uint32_t const count : {10U, 1000U}) {
        sharded_world w;
        REQUIRE(w.shard(count));
        w.join(3, w.by_hand);
        w.loop.run_for(1s);
        auto const decided = w.basis(count);
        w.remove(w.at.instance(id_of(3))); // it leaves again, and the view does not show that yet
        REQUIRE_FALSE(w.wait_for(w.leader.shard(*w.view, decided)));
        w.join(4, w.by_hand);
        w.loop.run_for(1s);
        w.server.counts() = {};
        REQUIRE(w.shard(count));
        CHECK(w.server.counts().writes == 1);
        reads.insert(w.server.counts().reads);
        CHECK(nodes_agree(w));
    }
    CHECK(reads.size() == 1);
}

TEST_CASE("sharding.resharder: damage that an audit has found is repaired, though the first attempt is refused") {
    sharded_world w;
    REQUIRE(w.shard(4));
    w.set(w.at.item_instance(3), id_of(9).str()); // an outside change
    w.loop.run_for(1s);
    REQUIRE(w.wait_for(w.leader.audit(*w.view)));
    REQUIRE(w.leader.is_outdated(*w.view, w.basis(4)));
    auto const decided = w.basis(4);
    w.set(w.at.config(), "another"); // which has nothing to do with the items
    REQUIRE_FALSE(w.wait_for(w.leader.shard(*w.view, decided)));
    w.loop.run_for(1s);
    REQUIRE(w.shard(4));
    CHECK(nodes_agree(w));
}

TEST_CASE("sharding.resharder: a lost reply leaves the old assignment or the new one, and the next try is right") {
    for (auto const fate : {request_fate::request_lost, request_fate::reply_lost}) {
        sharded_world w;
        REQUIRE(w.shard(4));
        w.join(3, w.by_hand);
        w.loop.run_for(1s);
        {
            losing const network{w.server, losing::nth_write(w.one.session().id, 0, fate)};
            CHECK(w.wait_for(w.leader.shard(*w.view, w.basis(4))).error() == errc::unknown_outcome);
        }
        w.loop.run_for(1s);
        CHECK(nodes_agree(w));
        CHECK(w.leader.is_outdated(*w.view, w.basis(4)) == (fate == request_fate::request_lost));
        w.server.counts() = {};
        REQUIRE(w.shard(4));
        CHECK(w.server.counts().writes == 2); // the first changes nothing: a read after it shows the lost write
        CHECK(nodes_agree(w));
        CHECK(written(w).instances().size() == 3);
    }
}

TEST_CASE("sharding.resharder: items that are cut off go, those that still run go when they have ended (D-31)") {
    sharded_world w;
    REQUIRE(w.shard(6));
    w.create_as(w.two, w.at.item_running(4), {}, create_mode::ephemeral);
    w.create(w.at.item(5) / "disabled");
    REQUIRE(w.shard(3));
    REQUIRE(w.leader.has_cut_items());
    auto const g = w.one.session().generation;
    REQUIRE(w.wait_for(w.leader.remove_cut_items(g, 3)));
    CHECK_FALSE(w.has(w.at.item(3)));
    CHECK(w.has(w.at.item_running(4)));
    CHECK(w.has(w.at.item_instance(4)));
    CHECK_FALSE(w.has(w.at.item(5)));
    CHECK(w.leader.has_cut_items());
    w.wait_for(w.two.remove(w.at.item_running(4))).value();
    REQUIRE(w.wait_for(w.leader.remove_cut_items(g, 3)));
    CHECK_FALSE(w.has(w.at.item(4)));
    CHECK_FALSE(w.leader.has_cut_items());
    CHECK(w.find(w.at.sharding())->stat.children == 3);
}

TEST_CASE("sharding.resharder: the removal of items is known even if the reply was lost") {
    sharded_world w;
    REQUIRE(w.shard(6));
    {
        losing const network{w.server, losing::nth_write(w.one.session().id, 0, request_fate::reply_lost)};
        CHECK_FALSE(w.wait_for(w.leader.shard(*w.view, w.basis(3))));
    }
    CHECK(written(w).items() == 3);
    CHECK(w.leader.has_cut_items());
}

TEST_CASE("sharding.resharder: an item that was cut off and still runs can come back") {
    sharded_world w;
    REQUIRE(w.shard(4));
    w.create_as(w.two, w.at.item_running(3), {}, create_mode::ephemeral);
    REQUIRE(w.shard(2));
    REQUIRE(w.wait_for(w.leader.remove_cut_items(w.one.session().generation, 2)));
    CHECK(w.has(w.at.item_running(3)));
    auto const again = w.shard(4);
    if (!again) REQUIRE(w.shard(4)); // it looks at the nodes after the refusal
    CHECK(nodes_agree(w));
    CHECK(w.has(w.at.item_running(3)));
}

TEST_CASE("sharding.resharder: takes over from a Java leader, and removes the nodes that the Java leader has left") {
    sharded_world w;
    w.java_shards({id_of(1).str(), id_of(2).str(), "10.0.0.9@-@4711"});
    w.create_as(w.by_hand, w.at.sharding_processing(), {}, create_mode::ephemeral);
    w.create(w.at.sharding_necessary());
    w.loop.run_for(1s);
    auto const done = w.shard(3);
    REQUIRE(done);
    CHECK(nodes_agree(w));
    CHECK_FALSE(w.has(w.at.sharding_processing()));
    CHECK_FALSE(w.has(w.at.sharding_necessary()));
}

TEST_CASE("sharding.resharder: a sharding that does not fit into one request never shows an item with two owners") {
    for (std::size_t const room : {12U, 14U, 20U}) {
        sharded_world w{2, small_requests(room)};
        REQUIRE(w.shard(30));
        REQUIRE(nodes_agree(w));
        w.join(3, w.by_hand);
        w.loop.run_for(1s);
        auto const before = written(w);
        auto b = w.basis(30);
        std::optional<result<sharding_report>> done;
        auto run = [](auto& l, auto const& v, sharding_basis basis, auto& into) -> task<void> {
            into.emplace(co_await l.shard(v, std::move(basis)));
        };
        post(w.loop, [&] { w.background.spawn(run(w.leader, *w.view, std::move(b), done)); });
        int steps = 0;
        bool flipped = false;
        while (!done) {
            w.loop.step();
            ++steps;
            auto const a = written(w);
            flipped = flipped || a.instances() != before.instances();
            // The assignment says who owns an item. Its node names the same owner or none, and never another one.
            for (item_index i = 0; i < 30; ++i) {
                auto const shown = owner_in(w.data(w.at.item_instance(i)));
                if (shown != a.owner_id(i).str()) CHECK(shown.empty());
                if (shown != a.owner_id(i).str()) CHECK_FALSE(a.is_published());
            }
        }
        REQUIRE(*done);
        CHECK(flipped);
        CHECK(steps > 10); // it did take more than one request
        CHECK(nodes_agree(w));
        CHECK(written(w).is_published());
    }
}

TEST_CASE("sharding.resharder: additional writes are divided between groups, and precede the new assignment") {
    sharded_world w{2, small_requests(12)};
    REQUIRE(w.shard(30));
    auto b = w.basis(29);
    for (item_index i = 0; i < 12; ++i) {
        auto const first = w.at.item(i) / "first";
        auto const second = w.at.item(i) / "second";
        b.besides.push_back({{operation::kind::create, first}, {operation::kind::create, second}});
    }
    std::optional<result<sharding_report>> done;
    auto run = [](auto& l, auto const& v, sharding_basis basis, auto& into) -> task<void> {
        into.emplace(co_await l.shard(v, std::move(basis)));
    };
    post(w.loop, [&] { w.background.spawn(run(w.leader, *w.view, std::move(b), done)); });
    std::set<int> counts;
    while (!done) {
        w.loop.step();
        int written_groups = 0;
        for (item_index i = 0; i < 12; ++i) {
            CHECK(w.has(w.at.item(i) / "first") == w.has(w.at.item(i) / "second"));
            written_groups += w.has(w.at.item(i) / "first");
        }
        counts.insert(written_groups);
        if (written(w).items() == 29) CHECK(written_groups == 12);
    }
    REQUIRE(*done);
    CHECK(counts.size() > 2); // more than one request for them
    CHECK(written(w).items() == 29);
    CHECK(nodes_agree(w));
}

TEST_CASE("sharding.resharder: whichever of its requests is its last, the next leader completes a sharding in parts") {
    for (auto const fate : {request_fate::request_lost, request_fate::reply_lost})
        for (std::uint64_t n = 0;; ++n) {
            INFO("request " << n);
            sharded_world w{2, small_requests(14)};
            REQUIRE(w.shard(20));
            w.join(3, w.by_hand);
            w.loop.run_for(1s);
            bool died = false;
            {
                losing const network{w.server, losing::nth_write(w.one.session().id, n, fate)};
                died = !w.wait_for(w.leader.shard(*w.view, w.basis(20)));
            }
            // Another leader, which knows nothing of the first one.
            w.loop.run_for(1s);
            resharder<session_type> next{w.one, w.at, detail::strategy_ref::of<AverageAllocation>()};
            for (int tries = 0; tries < 3 && next.is_outdated(*w.view, w.basis(20)); ++tries) {
                (void)w.wait_for(next.shard(*w.view, w.basis(20)));
                w.loop.run_for(1s);
            }
            CHECK(nodes_agree(w));
            CHECK(written(w).is_published());
            CHECK(written(w).instances().size() == 3);
            if (!died) {
                CHECK(n > 4);
                break;
            }
        }
}

TEST_CASE("sharding.resharder: the very first sharding can fail anywhere, too") {
    for (auto const fate : {request_fate::request_lost, request_fate::reply_lost})
        for (std::uint64_t n = 0;; ++n) {
            INFO("request " << n);
            sharded_world w{2, small_requests(14)};
            bool died = false;
            {
                losing const network{w.server, losing::nth_write(w.one.session().id, n, fate)};
                died = !w.wait_for(w.leader.shard(*w.view, w.basis(20)));
            }
            w.loop.run_for(1s);
            resharder<session_type> next{w.one, w.at, detail::strategy_ref::of<AverageAllocation>()};
            for (int tries = 0; tries < 3 && next.is_outdated(*w.view, w.basis(20)); ++tries) {
                (void)w.wait_for(next.shard(*w.view, w.basis(20)));
                w.loop.run_for(1s);
            }
            CHECK_FALSE(next.is_outdated(*w.view, w.basis(20)));
            CHECK((w.has(w.at.assignment()) && nodes_agree(w)));
            if (!died) break;
        }
}

TEST_CASE("sharding.resharder: a node `sharding` without items is no obstacle") {
    sharded_world w;
    w.create(w.at.sharding());
    w.create(w.at.ext());
    w.loop.run_for(1s);
    for (int tries = 0; tries < 3 && w.leader.is_outdated(*w.view, w.basis(4)); ++tries) (void)w.shard(4);
    CHECK((w.has(w.at.assignment()) && nodes_agree(w)));
}

TEST_CASE("sharding.resharder: an unreadable assignment is replaced, and its epoch still grows") {
    sharded_world w;
    REQUIRE(w.shard(4));
    for (int n = 0; n < 3; ++n) w.set(w.at.assignment(), "scrambled");
    w.loop.run_for(1s);
    CHECK(w.leader.is_outdated(*w.view, w.basis(4)));
    auto const done = w.shard(4);
    REQUIRE(done);
    CHECK(done->epoch > 1);
    CHECK(nodes_agree(w));
}

TEST_CASE("sharding.resharder: without an available instance nothing is decided") {
    sharded_world w;
    REQUIRE(w.shard(4));
    w.set(w.at.server("10.0.0.1"), "DISABLED");
    w.set(w.at.server("10.0.0.2"), "DISABLED");
    w.loop.run_for(1s);
    auto const b = w.basis(4);
    CHECK(b.instances.empty());
    CHECK_FALSE(w.leader.is_outdated(*w.view, b));
}
