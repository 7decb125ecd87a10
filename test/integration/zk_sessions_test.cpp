// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/registry/zk_registry.hpp>

#include <integration/zk_lab.hpp>
#include <integration/zk_proxy.hpp>

#include <cstdint>
#include <string>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

TEST_CASE("ZkRegistry: an expired session leads to a new generation, and no request of the old one takes effect") {
    shared_zk_server server;
    auto r = connected(with_session(to(server), 1s));
    auto other = connected(to(server));
    on_loop(r.loop(), [&]() -> task<> {
        auto const before = r.session();
        auto made = co_await r.create(at("/mine"), "", create_mode::ephemeral);
        REQUIRE(made.has_value());
        made = co_await r.create(at("/parent"), "", create_mode::persistent);
        REQUIRE(made.has_value());
        event_watch<event_loop> data{r.loop()}, absent{r.loop()}, names{r.loop()};
        auto const found = co_await r.get(at("/parent"), &data);
        auto const missing = co_await r.exists(at("/missing"), &absent);
        auto const listed = co_await r.children(at("/parent"), &names);
        REQUIRE((found && missing && listed));
        REQUIRE((data.is_linked() && absent.is_linked() && names.is_linked()));

        session_thief::end_session(server.port(), before.id);
        co_await data.fired();
        co_await absent.fired();
        co_await names.fired();
        CHECK(r.session().generation.value == 2);
        CHECK(r.session().state == session_state::connecting);
        CHECK(r.session().id == 0);

        co_await reach(r, session_state::connected, 2);
        CHECK(r.session().id != before.id);
        auto const gone = co_await r.exists(at("/mine"));
        REQUIRE(gone.has_value());
        CHECK(!gone->has_value());

        auto const late = co_await r.create(at("/late"), "", create_mode::persistent, before.generation);
        CHECK(late.error() == errc::session_lost);
        auto const late_set = co_await r.set(at("/parent"), "late", any_version, before.generation);
        CHECK(late_set.error() == errc::session_lost);
        auto const late_remove = co_await r.remove(at("/parent"), any_version, before.generation);
        CHECK(late_remove.error() == errc::session_lost);
        transaction t{before.generation};
        t.create(at("/late"), "");
        auto const late_commit = co_await r.commit(std::move(t));
        CHECK(late_commit.error() == errc::session_lost);
        auto const nothing = co_await r.exists(at("/late"));
        REQUIRE(nothing.has_value());
        CHECK(!nothing->has_value());
    });
    on_loop(other.loop(), [&]() -> task<> {
        CHECK(other.session().generation.value == 1);
        auto const seen = co_await other.exists(at("/mine"));
        REQUIRE(seen.has_value());
        CHECK(!seen->has_value());
    });
}

TEST_CASE("ZkRegistry: a user's digest is sent again with each new session") {
    shared_zk_server server;
    auto o = with_session(to(server), 1s);
    o.digest = "alice:secret";
    auto r = connected(o);
    on_loop(r.loop(), [&]() -> task<> {
        auto made = co_await r.create(at("/hers"), "", create_mode::persistent);
        REQUIRE(made.has_value());
        for (std::uint64_t generation = 2; generation < 5; ++generation) {
            session_thief::end_session(server.port(), r.session().id);
            co_await reach(r, session_state::connected, generation);
            auto const found = co_await r.set(at("/hers"), "x");
            CHECK_MESSAGE(found.has_value(), to_string(found.error()));
        }
    });
}

TEST_CASE("ZkRegistry: a server that is killed and started again keeps the session") {
    zk_server server{quick()};
    auto o = to(server.endpoint());
    o.digest = "alice:secret";
    auto r = connected(o);
    session_view before;
    event_watch<event_loop> w{r.loop()};
    on_loop(r.loop(), [&]() -> task<> {
        before = r.session();
        auto const made = co_await r.create(at("/mine"), "", create_mode::ephemeral);
        REQUIRE(made.has_value());
        auto const found = co_await r.get(at("/mine"), &w);
        REQUIRE(found.has_value());
    });
    server.kill();
    on_loop(r.loop(), [&]() -> task<> {
        co_await reach(r, session_state::suspended, 1);
        CHECK(r.session().id == before.id);
        auto const refused = co_await r.set(at("/mine"), "x");
        CHECK(refused.error() == errc::not_sent);
    });
    server.start();
    on_loop(r.loop(), [&]() -> task<> {
        co_await reach(r, session_state::connected, 1);
        CHECK(r.session().id == before.id);
        CHECK(w.is_linked()); // the node has not changed
        auto const set = co_await r.set(at("/mine"), "x", 0, before.generation);
        REQUIRE(set.has_value());
        CHECK(set->owner == before.id);
        co_await w.fired(); // armed again by libzookeeper
    });
}

TEST_CASE("ZkRegistry: a frozen server is abandoned after the session time-out, and found again when it resumes") {
    zk_server server{quick()};
    auto r = connected(with_session(to(server.endpoint()), 1s));
    std::int64_t old_id = 0;
    on_loop(r.loop(), [&]() -> task<> {
        old_id = r.session().id;
        auto const made = co_await r.create(at("/mine"), "", create_mode::ephemeral);
        REQUIRE(made.has_value());
        server.pause();
        auto const began = r.loop().now();
        auto const lost = co_await r.set(at("/mine"), "x"); // no reply comes
        CHECK(lost.error() == errc::unknown_outcome);
        CHECK(r.session().state == session_state::suspended);
        co_await reach(r, session_state::connecting, 2);
        CHECK(r.loop().now() - began >= 1000ms);
        auto const refused = co_await r.exists(at("/mine"));
        CHECK(refused.error() == errc::not_sent);
    });
    server.resume();
    on_loop(r.loop(), [&]() -> task<> {
        co_await reach(r, session_state::connected, 2);
        CHECK(r.session().id != old_id);
        co_await until_exists(r, at("/mine"), false);
    });
}

TEST_CASE("ZkRegistry: on a connection that loses only the replies, the session is abandoned, so that it can expire") {
    shared_zk_server server;
    tcp_proxy proxy{server.port()};
    auto r = connected(with_session(to(proxy.endpoint(), server.name_space()), 1s));
    auto witness = connected(to(server));
    on_loop(r.loop(), [&]() -> task<> {
        auto const made = co_await r.create(at("/mine"), "", create_mode::ephemeral);
        REQUIRE(made.has_value());
        proxy.set_replies(wire::lossy);
        co_await reach(r, session_state::connecting, 2);
    });
    // libzookeeper's reconnections would have kept it alive for ever.
    on_loop(witness.loop(), [&]() -> task<> { co_await until_exists(witness, at("/mine"), false); });
    proxy.cut_and_repair();
    on_loop(r.loop(), [&]() -> task<> { co_await reach(r, session_state::connected, 2); });
}

TEST_CASE("ZkRegistry: an overloaded server that turns the first request of a connection away is asked again") {
    shared_zk_server server;
    tcp_proxy proxy{server.port()};
    proxy.set_error(ZTHROTTLEDOP, 2);
    auto r = connected(to(proxy.endpoint(), server.name_space()));
    CHECK(proxy.errors_left() == 0);
    on_loop(r.loop(), [&]() -> task<> {
        proxy.set_error(ZTHROTTLEDOP, 2);
        proxy.cut();
        co_await reach(r, session_state::suspended, 1);
        co_await reach(r, session_state::connected, 1);
        CHECK(proxy.errors_left() == 0);
    });
}

TEST_CASE("ZkRegistry: a session whose first request is turned away for the whole time-out is given up") {
    shared_zk_server server;
    tcp_proxy proxy{server.port()};
    auto r = connected(with_session(to(proxy.endpoint(), server.name_space()), 1s));
    constexpr std::size_t many = 1'000'000;
    on_loop(r.loop(), [&]() -> task<> {
        proxy.set_error(ZTHROTTLEDOP, many);
        proxy.cut();
        co_await reach(r, session_state::connecting, 2);
        auto const attempts = many - proxy.errors_left();
        CHECK(attempts > 1);
        CHECK(attempts < 100); // one in 200 ms
        proxy.set_error(ZTHROTTLEDOP, 0);
        co_await reach(r, session_state::connected, 2);
    });
}

TEST_CASE("ZkRegistry: a server that is away for longer than the time-out") {
    zk_server server{quick()};
    auto r = connected(with_session(to(server.endpoint()), 400ms));
    server.kill();
    on_loop(r.loop(), [&]() -> task<> { co_await reach(r, session_state::connecting, 2); });
    server.start();
    on_loop(r.loop(), [&]() -> task<> {
        co_await reach(r, session_state::connected, 2);
        auto const made = co_await r.create(at("/again"), "", create_mode::persistent);
        CHECK(made.has_value());
    });
}
