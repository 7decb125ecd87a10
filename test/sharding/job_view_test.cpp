// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/sharding/job_view.hpp>

#include <support/sharded_world.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

/// A session that may not read one node.
struct restricted {
    using loop_type = virtual_loop;
    using watch = node_watch<virtual_loop>;

    session_type& inner;
    std::optional<node_path> hidden{};

    virtual_loop& loop() noexcept { return inner.loop(); }
    event_count<virtual_loop>& session_changed() noexcept { return inner.session_changed(); }
    registry_limits limits() const noexcept { return inner.limits(); }
    session_view session() const noexcept { return inner.session(); }
    void abandon(abandoned_nodes what) { inner.abandon(std::move(what)); }
    task<result<node>> get(node_path p, watch* w = nullptr) {
        if (hidden && p == *hidden) co_return error{errc::no_auth, "the node belongs to another user", p.str()};
        co_return co_await inner.get(std::move(p), w);
    }
    auto exists(node_path p, watch* w = nullptr) { return inner.exists(std::move(p), w); }
    auto children(node_path p, watch* w = nullptr) { return inner.children(std::move(p), w); }
    task<result<node_path>> create(node_path p, std::string data, create_mode m,
                                   session_generation g = session_generation::current()) {
        return inner.create(std::move(p), std::move(data), m, g);
    }
    task<result<node_stat>> set(node_path p, std::string data, node_version v = any_version,
                                session_generation g = session_generation::current()) {
        return inner.set(std::move(p), std::move(data), v, g);
    }
    task<result<void>> remove(node_path p, node_version v = any_version,
                              session_generation g = session_generation::current()) {
        return inner.remove(std::move(p), v, g);
    }
    task<result<commit_reply>> commit(transaction t) { return inner.commit(std::move(t)); }
};

} // namespace

TEST_CASE("sharding.job_view: a server whose node cannot be read is neither enabled nor disabled, until it is read") {
    sharded_world w{1};
    restricted r{w.one};
    event_count<virtual_loop> news{w.loop};
    std::unique_ptr<job_view<restricted>> view;
    post(w.loop, [&] { view = std::make_unique<job_view<restricted>>(r, w.at, id_of(1), news); });
    w.loop.run_for(1s);
    REQUIRE(view->is_loaded());
    r.hidden = w.at.server("10.0.0.9");
    w.create(*r.hidden, "DISABLED");
    w.create_as(w.two, w.at.instance(id_of(9)), {}, create_mode::ephemeral);
    w.loop.run_for(1h);
    CHECK_FALSE(view->is_enabled("10.0.0.9"));
    CHECK_FALSE(view->is_disabled("10.0.0.9"));
    CHECK_FALSE(view->knows_servers());
    CHECK(view->is_enabled("10.0.0.1")); // it has been read
    REQUIRE(view->failure());
    CHECK(view->failure()->where == r.hidden->str());
    w.set(w.at.server("10.0.0.1"), "DISABLED"); // the read of another node does not clear the failure
    w.loop.run_for(1s);
    REQUIRE(view->failure());

    r.hidden.reset();
    w.loop.run_for(10s);
    CHECK(view->knows_servers());
    CHECK(view->is_disabled("10.0.0.9"));
    CHECK_FALSE(view->failure());
    post(w.loop, [&] { view.reset(); });
    w.loop.run_ready();
}

TEST_CASE("sharding.job_view: the addresses of machines that are gone cost no watch and no read") {
    sharded_world w{2};
    auto const with = [&](int old_servers) {
        for (int n = 0; n < old_servers; ++n) w.create(w.at.server("10.1.0." + std::to_string(n)));
        w.server.counts() = {};
        auto const before = w.server.watches();
        event_count<virtual_loop> news{w.loop};
        std::unique_ptr<job_view<session_type>> view;
        post(w.loop, [&] { view = std::make_unique<job_view<session_type>>(w.two, w.at, id_of(2), news); });
        w.loop.run_for(1s);
        REQUIRE(view->is_loaded());
        CHECK(view->available_instances().size() == 2);
        auto const costs = std::pair{w.server.watches() - before, w.server.counts().reads};
        post(w.loop, [&] { view.reset(); });
        w.loop.run_ready();
        return costs;
    };
    auto const [watches, reads] = with(0);
    CHECK(watches == 12); // six nodes, the names below two more, the absent parent of the orders twice, and two servers
    CHECK(with(200) == std::pair{watches, reads});
}

TEST_CASE("sharding.job_view: a server is followed while it has an instance, and our own always") {
    sharded_world w{1};
    auto const with_one = w.server.watches();
    instance_id const first = instance_id::parse("10.0.0.9@-@1-a").value();
    instance_id const second = instance_id::parse("10.0.0.9@-@2-b").value();
    w.create(w.at.server("10.0.0.9"), "DISABLED");
    w.create_as(w.two, w.at.instance(first), {}, create_mode::ephemeral);
    w.create_as(w.two, w.at.instance(second), {}, create_mode::ephemeral);
    w.loop.run_for(1s);
    CHECK(w.view->is_disabled("10.0.0.9"));
    CHECK(w.server.watches() == with_one + 2); // one in each of the two views
    w.wait_for(w.two.remove(w.at.instance(first))).value();
    w.loop.run_for(1s);
    CHECK(w.view->is_disabled("10.0.0.9"));
    w.wait_for(w.two.remove(w.at.instance(second))).value();
    w.wait_for(w.one.remove(w.at.instance(id_of(1)))).value();
    w.loop.run_for(1s);
    CHECK(w.server.watches() == with_one - 1); // the second view has let go of 10.0.0.1 too
    w.set(w.at.server("10.0.0.1"), "DISABLED");
    w.loop.run_for(1s);
    CHECK(w.view->is_disabled("10.0.0.1"));
}

TEST_CASE("sharding.job_view: instances come in ElasticJob's order, the available ones without those of disabled servers") {
    sharded_world w{2};
    w.join(3, w.by_hand);
    w.create(w.at.instances() / "nonsense");
    w.set(w.at.server("10.0.0.2"), "DISABLED");
    w.loop.run_for(1s);
    CHECK(w.view->instances() == std::vector<instance_id>{id_of(3), id_of(2), id_of(1)});
    CHECK(w.view->available_instances() == std::vector<instance_id>{id_of(3), id_of(1)});
    CHECK(w.view->is_enabled("10.0.0.77")); // without a node
}

TEST_CASE("sharding.job_view: there are Java members from the first arrival until the last departure") {
    sharded_world w{2};
    CHECK_FALSE(w.view->has_java_members());
    auto const java = [&](std::string_view text) { return w.at.instance(instance_id::parse(text).value()); };
    auto const first = java("10.0.0.1@-@4711");
    auto const second = java("10.0.0.9@-@12");
    for (int round = 0; round < 3; ++round) {
        INFO("round " << round);
        w.create_as(w.by_hand, first, {}, create_mode::ephemeral);
        w.create_as(w.by_hand, second, {}, create_mode::ephemeral);
        w.loop.run_for(1s);
        CHECK(w.view->has_java_members());
        w.remove(first);
        w.create_as(w.by_hand, first, {}, create_mode::ephemeral); // the same node again, before any read
        w.loop.run_for(1s);
        w.remove(first);
        w.loop.run_for(1s);
        CHECK(w.view->has_java_members());
        w.remove(second);
        w.loop.run_for(1s);
        CHECK_FALSE(w.view->has_java_members());
    }
}

TEST_CASE("sharding.job_view: servers are compared as a whole (D-23)") {
    sharded_world w{1};
    w.create_as(w.by_hand, w.at.instance(id_of(10)), {}, create_mode::ephemeral);
    w.create(w.at.server("10.0.0.10"));
    w.set(w.at.server("10.0.0.1"), "DISABLED");
    w.loop.run_for(1s);
    CHECK(w.view->available_instances() == std::vector<instance_id>{id_of(10)});
}

TEST_CASE("sharding.job_view: whichever reply is lost, the view shows the real nodes in the end") {
    // Every request that the view makes while things change, one after the other.
    for (std::uint64_t n = 0; n < 40; ++n)
        for (auto const fate : {request_fate::request_lost, request_fate::reply_lost}) {
            INFO("request " << n);
            sharded_world w;
            REQUIRE(w.shard(4));
            {
                losing const network{w.server, losing::nth(w.two.session().id, n, fate)};
                w.set(w.at.config(), "c2");
                w.set(w.at.server("10.0.0.1"), "DISABLED");
                w.remove(w.at.server("10.0.0.2"));
                w.create(w.at.server("10.0.0.2"), "DISABLED");
                w.join(3, w.by_hand);
                w.create(w.at.sharding_necessary());
                w.create(w.at.sharding_processing());
                w.loop.run_for(1s);
                w.remove(w.at.sharding_necessary());
                w.wait_for(w.one.remove(w.at.leader_instance())).value();
                w.set(w.at.instance(id_of(2)), "TRIGGER");
                w.set(w.at.assignment(), "x");
                w.remove(w.at.item_instance(0));
                w.loop.run_for(5s);
            }
            auto const& v = *w.second;
            CHECK(v.config()->data == "c2");
            CHECK(v.server("10.0.0.1")->data == "DISABLED");
            CHECK(v.server("10.0.0.2")->data == "DISABLED");
            CHECK(v.instances().size() == 3);
            CHECK_FALSE(v.sharding_is_necessary());
            CHECK(v.sharding_is_in_progress());
            CHECK_FALSE(v.leader());
            CHECK(v.self()->data == "TRIGGER");
            CHECK(v.assignment_node()->data == "x");
            CHECK_FALSE(v.first_item());
        }
}

TEST_CASE("sharding.job_view: a connection that breaks at any moment makes nothing vanish") {
    for (int turns = 0; turns < 30; ++turns) {
        sharded_world w;
        REQUIRE(w.shard(4));
        w.set(w.at.config(), "c2");
        for (int i = 0; i < turns; ++i) w.loop.step();
        post(w.loop, [&] { w.two.disconnect(); });
        w.loop.run_for(1s);
        CHECK(w.second->self());
        CHECK(w.second->leader());
        CHECK(w.second->instances().size() == 2);
        w.set(w.at.config(), "c3");
        post(w.loop, [&] { w.two.reconnect(); });
        w.loop.run_for(1s);
        CHECK(w.second->config()->data == "c3");
        CHECK(w.second->self());
    }
}

TEST_CASE("sharding.job_view: a founder watches its first sharding once there is another instance or another leader") {
    sharded_world sharded{1};
    REQUIRE(sharded.shard(3));
    auto const text = sharded.data(sharded.at.assignment());
    std::vector<std::function<void(job_world&)>> const events{
        [](auto& w) { w.create_as(w.two, w.at.instance(id_of(2)), {}, create_mode::ephemeral); },
        [](auto& w) { w.create(w.at.instances() / "unreadable"); },
        [](auto& w) {
            w.remove(w.at.leader_instance());
            w.create_as(w.one, w.at.leader_instance(), id_of(1).str(), create_mode::ephemeral);
        },
    };
    for (std::size_t n = 0; n < events.size(); ++n) {
        CAPTURE(n);
        job_world w;
        for (auto const& path : {w.at.config(), w.at.item(0), w.at.ext(), w.at.election_latch(), w.at.sharding_flags()})
            w.create(path);
        w.create_as(w.one, w.at.instance(id_of(1)), {}, create_mode::ephemeral);
        transaction t{w.one.session().generation};
        t.create(w.at.leader_instance(), id_of(1).str(), create_mode::ephemeral)
            .create(w.at.item_instance(0), id_of(1).str())
            .set(w.at.item_instance(0), id_of(1).str())
            .create(w.at.assignment(), text);
        founding const founded{w.wait_for(w.one.commit(std::move(t))).value().at, text};
        event_count<virtual_loop> news{w.loop};
        std::unique_ptr<job_view<session_type>> view;
        post(w.loop, [&] { view = std::make_unique<job_view<session_type>>(w.one, w.at, id_of(1), news, founded); });
        w.loop.run_for(1s);
        REQUIRE(view->is_loaded());
        CHECK_FALSE(view->has_read_sharding());
        REQUIRE(view->assignment_in_force());
        auto const is_alike = [](node_stat const& a, node_stat const& b) {
            return a.created == b.created && a.modified == b.modified && a.version == b.version;
        };
        CHECK(is_alike(view->assignment_node()->stat, w.find(w.at.assignment())->stat));
        CHECK(is_alike(*view->first_item(), w.find(w.at.item_instance(0))->stat));
        w.remove(w.at.assignment()); // not seen yet
        w.loop.run_for(1s);
        CHECK(view->assignment_in_force());
        events[n](w);
        w.loop.run_for(1s);
        CHECK(view->has_read_sharding());
        CHECK_FALSE(view->assignment_in_force());
        view.reset();
    }
}
