// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/sharding/leave.hpp>

#include <support/sharded_world.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

result<void> leave_now(sharded_world& w, int n) {
    auto& r = n == 1 ? w.one : w.two;
    return w.wait_for(leave(r, w.at, id_of(n), r.session().generation, w.loop.now() + 5s));
}

bool is_gone(sharded_world& w, int n) {
    if (w.has(w.at.instance(id_of(n))) || w.data(w.at.leader_instance()) == id_of(n).str()) return false;
    for (auto const& owner : w.owners(4))
        if (owner == id_of(n).str()) return false;
    return true;
}

} // namespace

TEST_CASE("sharding.leave: items, leadership and instance go in one transaction, and a sharding is requested") {
    sharded_world w;
    REQUIRE(w.shard(4));
    auto const at = w.find(w.at.instances())->stat;
    w.server.counts() = {};
    REQUIRE(leave_now(w, 1));
    CHECK(w.server.counts().writes == 1);
    CHECK(is_gone(w, 1));
    CHECK(w.has(w.at.sharding_necessary()));
    CHECK(w.find(w.at.instances())->stat.children == at.children - 1);
    auto const a = assignment::parse(w.data(w.at.assignment())).value();
    CHECK(a.items_of(id_of(1)).empty());
    CHECK(a.items_of(id_of(2)) == std::vector<item_index>{0, 1});
    // It is still in force: the others go on.
    w.loop.run_for(1s);
    CHECK(w.second->assignment_in_force());
}

TEST_CASE("sharding.leave: an instance leaves even when an operator has removed nodes of its items") {
    sharded_world w;
    REQUIRE(w.shard(4));
    w.remove(w.at.item_instance(3));
    w.remove(w.at.item(3));
    REQUIRE(leave_now(w, 1));
    CHECK_FALSE(w.has(w.at.instance(id_of(1)))); // and the leader sees to its items
}

TEST_CASE("sharding.leave: nodes that no view has shown yet go too") {
    sharded_world w;
    w.create_as(w.two, w.at.instance(id_of(5)), {}, create_mode::ephemeral);
    REQUIRE(w.wait_for(leave(w.two, w.at, id_of(5), w.two.session().generation, w.loop.now() + 5s)));
    CHECK_FALSE(w.has(w.at.instance(id_of(5))));
}

TEST_CASE("sharding.leave: an instance that finds nothing looks once more after a write, which changes nothing") {
    sharded_world w;
    w.server.counts() = {};
    REQUIRE(w.wait_for(leave(w.two, w.at, id_of(7), w.two.session().generation, w.loop.now() + 5s)));
    CHECK(w.server.counts().writes == 1);
}

TEST_CASE("sharding.leave: nodes of another session of the same name are left alone") {
    sharded_world w;
    REQUIRE(w.wait_for(leave(w.by_hand, w.at, id_of(2), w.by_hand.session().generation, w.loop.now() + 5s)));
    CHECK(w.has(w.at.instance(id_of(2))));
}

TEST_CASE("sharding.leave: whichever request or reply is lost, the instance is gone in the end") {
    for (std::uint64_t n = 0; n < 12; ++n)
        for (auto const fate : {request_fate::request_lost, request_fate::reply_lost}) {
            INFO("request " << n);
            sharded_world w;
            REQUIRE(w.shard(4));
            losing const network{w.server, losing::nth(w.one.session().id, n, fate)};
            REQUIRE(leave_now(w, 1));
            CHECK(is_gone(w, 1));
        }
}

TEST_CASE("sharding.leave: a conflicting write only delays the transaction") {
    sharded_world w;
    REQUIRE(w.shard(4));
    std::optional<result<void>> left;
    w.start(leave(w.two, w.at, id_of(2), w.two.session().generation, w.loop.now() + 5s), left);
    REQUIRE(left);
    CHECK(*left);

    sharded_world v;
    REQUIRE(v.shard(4));
    int edits = 0;
    losing const network{
        v.server, [&](std::int64_t session, operation::kind const* write) {
            // Between the reading and the commit of the one that leaves, three times.
            if (session == v.two.session().id && write && edits++ < 3)
                post(v.loop, [&v, made = task<result<node_stat>>{
                                      v.by_hand.set(v.at.assignment(), v.data(v.at.assignment()))}]() mutable {
                    auto run = [](task<result<node_stat>> t) -> task<void> { (void)co_await std::move(t); };
                    v.background.spawn(run(std::move(made)));
                });
            return request_fate::served;
        }};
    REQUIRE(v.wait_for(leave(v.two, v.at, id_of(2), v.two.session().generation, v.loop.now() + 5s)));
    CHECK_FALSE(v.has(v.at.instance(id_of(2))));
}

TEST_CASE(
    "sharding.leave: while the registry is away it waits to the deadline, and not at all for a session that is over") {
    sharded_world w;
    REQUIRE(w.shard(4));
    post(w.loop, [&] { w.two.disconnect(); });
    w.loop.run_ready();
    auto const begin = w.loop.now();
    CHECK_FALSE(leave_now(w, 2));
    CHECK(w.loop.now() - begin >= 5s);
    CHECK(w.loop.now() - begin < 6s);
    auto const old = w.two.session().generation;
    w.loop.run_for(1min);
    CHECK(w.wait_for(leave(w.two, w.at, id_of(2), old, w.loop.now() + 5s)));
}

TEST_CASE("sharding.leave: more items than one request can release are left to the leader") {
    memory_server_options o;
    o.limits.operations_max = 16;
    sharded_world w{2, o};
    REQUIRE(w.shard(60));
    REQUIRE(leave_now(w, 2));
    CHECK_FALSE(w.has(w.at.instance(id_of(2))));
    CHECK(w.has(w.at.sharding_necessary()));
}

TEST_CASE("sharding.leave: two hundred instances that leave at once do not block each other") {
    constexpr int many = 200;
    sharded_world w{2};
    std::vector<std::unique_ptr<session_type>> sessions;
    for (int n = 3; n < 3 + many; ++n) {
        sessions.push_back(std::make_unique<session_type>(w.server));
        w.join(n, *sessions.back());
    }
    w.loop.run_for(1s);
    REQUIRE(w.shard(2 * many));
    std::vector<std::optional<result<void>>> left(many);
    auto leave_one = [](sharded_world& in, session_type& r, int n, std::optional<result<void>>& into) -> task<void> {
        into.emplace(co_await leave(r, in.at, id_of(n), r.session().generation, in.loop.now() + 5s));
    };
    w.server.counts() = {};
    post(w.loop, [&] {
        for (int n = 0; n < many; ++n)
            w.background.spawn(
                leave_one(w, *sessions[static_cast<std::size_t>(n)], 3 + n, left[static_cast<std::size_t>(n)]));
    });
    w.loop.run_ready();
    for (int n = 0; n < many; ++n) {
        REQUIRE(left[static_cast<std::size_t>(n)]);
        CHECK(*left[static_cast<std::size_t>(n)]);
        CHECK_FALSE(w.has(w.at.instance(id_of(3 + n))));
    }
    CHECK(w.server.counts().writes <= 2 * many); // each is overtaken once at most
    CHECK(w.server.counts().reads <= 8 * many);
}
