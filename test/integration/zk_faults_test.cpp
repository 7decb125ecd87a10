// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/registry/zk/call_table.hpp>
#include <elasticjob/registry/zk_registry.hpp>

#include <elasticjob/core/gather.hpp>
#include <integration/zk_lab.hpp>
#include <integration/zk_proxy.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

#if defined(__SANITIZE_ADDRESS__)
#define ELASTICJOB_TEST_HAS_LEAK_CHECK
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ELASTICJOB_TEST_HAS_LEAK_CHECK
#endif
#endif
#if defined(ELASTICJOB_TEST_HAS_LEAK_CHECK)
/// libzookeeper leaks outstanding requests when a handle to a frozen server is closed.
extern "C" char const* __lsan_default_suppressions();
extern "C" char const* __lsan_default_suppressions() { return "leak:libzookeeper_mt"; }
#endif

namespace {

/// The number of results by outcome; 'ok' for successes.
template <class T>
std::map<std::string, std::size_t> tally(std::vector<result<T>> const& results) {
    std::map<std::string, std::size_t> counts;
    for (auto const& r : results) ++counts[r ? "ok" : std::string{name_of(r.error().code)}];
    return counts;
}

task<> cut_soon(tcp_proxy& proxy, event_loop& l) {
    co_await yield(l);
    proxy.cut_and_repair();
}

task<> create_one(ZkRegistry& r, std::optional<result<node_path>>& made, elasticjob::event_count<event_loop>& done) {
    made.emplace(co_await r.create(at("/n"), "", create_mode::ephemeral_sequential));
    done.notify();
}

task<> read_one(ZkRegistry& r, node_watch<event_loop>& w) { (void)co_await r.get(at("/n"), &w); }

task<> write_one(ZkRegistry& r) { (void)co_await r.set(at("/n"), "x"); }

/// The outcomes of many writes that the registry's end interrupts.
struct ending {
    std::map<std::string, std::size_t> counts{};
    std::size_t left;
    bool registry_said_closed = false;
    gate all_ended{};
};

task<> write_until_the_end(ZkRegistry& r, ending& e) {
    auto const made = co_await r.create(at("/n"), "", create_mode::ephemeral_sequential);
    ++e.counts[made ? "ok" : std::string{name_of(made.error().code)}];
    if (--e.left == 0) e.all_ended.open();
}

task<> await_the_end(ZkRegistry& r, ending& e) {
    while (r.session().state != session_state::closed)
        co_await r.session_changed().newer_than(r.session_changed().edition());
    auto const refused = co_await r.exists(at("/n"));
    e.registry_said_closed = !refused && refused.error() == errc::closed;
}

transaction large_transaction(session_generation g, std::size_t operations) {
    transaction t{g};
    for (std::size_t i = 0; i < operations; ++i) {
        t.create(at("/large"), std::string(40, 'x'));
        t.remove(at("/large"));
    }
    return t;
}

} // namespace

TEST_CASE("ZkRegistry: an unsendable request fails when the session is known to be suspended, not before") {
    shared_zk_server server;
    tcp_proxy proxy{server.port()};
    auto r = connected(to(proxy.endpoint(), server.name_space()));

    on_loop(r.loop(), [&]() -> task<> {
        // libzookeeper knows that the connection is broken, for it makes another; the loop, which waits here, does not.
        proxy.set_replies(wire::held);
        proxy.cut();
        REQUIRE(proxy.wait_for_connections(2, 10s));
        CHECK(r.session().state == session_state::connected);
        auto const there = co_await r.exists(at("/n"));
        REQUIRE(!there.has_value());
        CHECK(there.error() == errc::not_sent);
        CHECK(r.session().state == session_state::suspended);

        proxy.set_replies(wire::whole);
        co_await reach(r, session_state::connected, 1);
        CHECK((co_await r.exists(at("/n"))).has_value());
    });
}

TEST_CASE("ZkRegistry: a write whose reply was lost has happened, and one whose request was lost has not") {
    shared_zk_server server;
    tcp_proxy proxy{server.port()};
    auto r = connected(to(proxy.endpoint(), server.name_space()));
    auto o = to(server);
    o.loop = &r.loop();
    auto witness = connected(o);

    SUBCASE("reply lost") {
        on_loop(r.loop(), [&]() -> task<> {
            std::optional<result<node_path>> made;
            elasticjob::event_count<event_loop> done{r.loop()};
            auto const seen = done.edition();
            task_scope scope;
            proxy.set_replies(wire::lossy);
            scope.spawn(create_one(r, made, done));
            co_await until_exists(witness, at("/n0000000000"), true);
            CHECK(!made.has_value());
            proxy.cut_and_repair();
            co_await done.newer_than(seen);
            CHECK(made->error() == errc::unknown_outcome);
            co_await reach(r, session_state::connected, 1);
            auto const listed = co_await r.children(node_path{});
            REQUIRE(listed.has_value());
            CHECK(*listed == std::vector<std::string>{"n0000000000"}); // exactly once: no request is repeated
        });
    }
    SUBCASE("request lost") {
        on_loop(r.loop(), [&]() -> task<> {
            task_scope cutting;
            proxy.set_requests(wire::lossy);
            cutting.spawn(cut_soon(proxy, r.loop()));
            auto const made = co_await r.create(at("/n"), "", create_mode::persistent);
            CHECK(made.error() == errc::unknown_outcome);
            co_await reach(r, session_state::connected, 1);
            auto const listed = co_await r.children(node_path{});
            REQUIRE(listed.has_value());
            CHECK(listed->empty());
        });
    }
}

TEST_CASE("ZkRegistry: a cut connection ends requests in flight and in the queue, and the session continues") {
    shared_zk_server server;
    tcp_proxy proxy{server.port()};
    auto r = connected(to(proxy.endpoint(), server.name_space()));
    constexpr std::size_t count = 5000;
    on_loop(r.loop(), [&]() -> task<> {
        auto const id = r.session().id;
        event_watch<event_loop> w{r.loop()};
        auto const seen = co_await r.exists(at("/watched"), &w);
        REQUIRE(seen.has_value());
        proxy.set_replies(wire::held);
        std::vector<task<result<std::optional<node_stat>>>> reads;
        for (std::size_t i = 0; i < count; ++i) reads.push_back(r.exists(at("/a")));
        task_scope cutting;
        cutting.spawn(cut_soon(proxy, r.loop()));
        auto const results = co_await gather(r.loop(), std::move(reads));
        auto counts = tally(results);
        CHECK(counts["unknown_outcome"] == zk::call_table::in_flight_max);
        CHECK(counts["not_sent"] == count - zk::call_table::in_flight_max);
        co_await reach(r, session_state::connected, 1);
        CHECK(r.session().id == id);
        CHECK(w.is_linked());
        auto const made = co_await r.create(at("/watched"), "", create_mode::persistent);
        REQUIRE(made.has_value());
        co_await w.fired();
    });
}

TEST_CASE("ZkRegistry: any number of simultaneous requests is served in order, 2000 at a time") {
    shared_zk_server server;
    auto r = connected(to(server));
    on_loop(r.loop(), [&]() -> task<> {
        auto const made = co_await r.create(at("/n"), "data", create_mode::persistent);
        REQUIRE(made.has_value());
        std::vector<task<result<node>>> reads;
        for (std::size_t i = 0; i < 20'000; ++i) reads.push_back(r.get(at("/n")));
        auto const found = co_await gather(r.loop(), std::move(reads));
        CHECK(tally(found)["ok"] == found.size());

        std::vector<task<result<node_stat>>> writes;
        for (std::size_t i = 0; i < 5000; ++i) writes.push_back(r.set(at("/n"), std::to_string(i)));
        auto const written = co_await gather(r.loop(), std::move(writes));
        node_version expected = 0;
        bool in_order = true;
        for (auto const& w : written) in_order &= w.has_value() && w->version == ++expected;
        CHECK(in_order);
    });
}

TEST_CASE("ZkRegistry: a read without a waiter is dropped, at any time") {
    shared_zk_server server;
    auto r = connected(to(server));
    on_loop(r.loop(), [&]() -> task<> {
        auto const made = co_await r.create(at("/n"), "", create_mode::persistent);
        REQUIRE(made.has_value());
        for (int turns = 0; turns < 20; ++turns) {
            event_watch<event_loop> w{r.loop()};
            {
                task_scope scope;
                for (int i = 0; i < 150; ++i) scope.spawn(read_one(r, w));
                for (int i = 0; i < turns; ++i) co_await yield(r.loop());
            }
        }
        auto const set = co_await r.set(at("/n"), "x");
        CHECK(set.has_value());
    });
}

TEST_CASE("ZkRegistry: closing with thousands of pending requests ends every one of them") {
    shared_zk_server server;
    for (int round = 0; round < 5; ++round) {
        event_loop loop;
        auto o = to(server);
        o.loop = &loop;
        auto r = std::make_optional(connected(o));
        constexpr std::size_t count = 8000;
        ending e{.left = count};
        task_scope scope;
        auto watch = std::make_optional<event_watch<event_loop>>(loop);
        on_loop(loop, [&]() -> task<> {
            auto const armed = co_await r->exists(at("/none"), &*watch);
            REQUIRE(armed.has_value());
            scope.spawn(await_the_end(*r, e));
            for (std::size_t i = 0; i < count; ++i) scope.spawn(write_until_the_end(*r, e));
        });
        r.reset();
        REQUIRE(e.all_ended.is_open()); // before the destructor returned
        CHECK(e.counts["closed"] > 0);
        CHECK(e.counts["closed"] + e.counts["ok"] == count);
        on_loop(loop, [&]() -> task<> {
            CHECK(e.registry_said_closed);
            CHECK(scope.empty());
            CHECK(!watch->is_linked());
            watch.reset();
            co_return;
        });
    }
}

TEST_CASE("ZkRegistry: closing while the server is frozen, or away") {
    zk_server server{quick()};
    auto r = std::make_optional(connected(with_session(to(server.endpoint()), 1s)));
    SUBCASE("frozen") {
        server.pause();
        r.reset();
        server.resume();
    }
    SUBCASE("frozen, and the connection given up") {
        server.pause();
        on_loop(r->loop(), [&]() -> task<> { co_await reach(*r, session_state::suspended, 1); });
        r.reset();
        server.resume();
    }
    SUBCASE("away") {
        server.kill();
        on_loop(r->loop(), [&]() -> task<> { co_await reach(*r, session_state::suspended, 1); });
        r.reset();
    }
    SUBCASE("away for long") {
        server.kill();
        on_loop(r->loop(), [&]() -> task<> { co_await reach(*r, session_state::connecting, 2); });
        r.reset();
    }
}

/// Without the `reconnect_gate`, libzookeeper frees memory twice here, within a few rounds.
TEST_CASE("ZkRegistry: a session that expires in the middle of a large transaction") {
    shared_zk_server server;
    auto r = connected(with_session(to(server), 4s));
    constexpr std::size_t rounds = 30;
    std::map<std::string, std::size_t> counts;
    auto commit_until_lost = [&]() -> task<> {
        auto const before = r.session();
        std::thread stealing{[&server, id = before.id] { session_thief::end_session(server.port(), id); }};
        while (r.session().generation == before.generation) {
            std::vector<task<result<commit_reply>>> commits;
            for (int i = 0; i < 3; ++i) commits.push_back(r.commit(large_transaction(before.generation, 3000)));
            auto const answers = co_await gather(r.loop(), std::move(commits));
            for (auto const& [how, count] : tally(answers)) counts[how] += count;
            co_await yield(r.loop());
        }
        stealing.join();
        co_await reach(r, session_state::connected, before.generation.value + 1);
    };
    for (std::size_t round = 0; round < rounds; ++round) on_loop(r.loop(), [&] { return commit_until_lost(); });
    CHECK(r.session().generation.value == rounds + 1);
    for (auto const& [how, count] : counts)
        CHECK((how == "ok" || how == "unknown_outcome" || how == "not_sent" || how == "session_lost"));
}

TEST_CASE("ZkRegistry: watches have a budget, because they must fit into one packet") {
    shared_zk_server server;
    tcp_proxy proxy{server.port()};
    auto r = connected(to(proxy.endpoint(), "w"));
    on_loop(
        r.loop(),
        [&]() -> task<> {
            std::string const stem(1000, 'n');
            std::vector<std::unique_ptr<event_watch<event_loop>>> watches;
            std::vector<task<result<std::optional<node_stat>>>> reads;
            for (int i = 0; i < 1000; ++i) {
                watches.push_back(std::make_unique<event_watch<event_loop>>(r.loop()));
                reads.push_back(r.exists(at("/" + stem + std::to_string(i)), watches.back().get()));
            }
            auto results = co_await gather(r.loop(), std::move(reads));
            auto counts = tally(results);
            CHECK(counts["ok"] + counts["too_large"] == 1000);
            CHECK(counts["ok"] > 880);
            CHECK(counts["too_large"] > 90);
            bool linked_if_ok = true;
            for (std::size_t i = 0; i < results.size(); ++i)
                linked_if_ok &= watches[i]->is_linked() == results[i].has_value();
            CHECK(linked_if_ok);

            // There is room for reads without a watch, and for watches of nodes that are already watched.
            auto const plain = co_await r.exists(at("/" + stem + "999"));
            CHECK(plain.has_value());
            event_watch<event_loop> second{r.loop()};
            auto const same = co_await r.exists(at("/" + stem + "0"), &second);
            CHECK(same.has_value());

            // All of them survive a reconnection.
            proxy.cut();
            co_await reach(r, session_state::suspended, 1);
            co_await reach(r, session_state::connected, 1);
            auto const made = co_await r.create(at("/" + stem + "0"), "", create_mode::persistent);
            REQUIRE(made.has_value());
            co_await watches[0]->fired();
            co_await second.fired();
            CHECK(watches[1]->is_linked());

            // The watch that fired has made room for another.
            auto const again = co_await r.exists(at("/" + stem + "999"), &second);
            CHECK(again.has_value());
        },
        60s);
}

TEST_CASE("ZkRegistry: an event comes before the data that shows its cause") {
    shared_zk_server server;
    event_loop loop;
    auto o = to(server);
    o.loop = &loop;
    auto r = connected(o);
    auto writer = connected(o);
    on_loop(loop, [&]() -> task<> {
        auto const made = co_await r.create(at("/n"), "0", create_mode::persistent);
        REQUIRE(made.has_value());
        for (int i = 0; i < 200; ++i) {
            event_watch<event_loop> w{loop};
            auto const before = co_await r.get(at("/n"), &w);
            REQUIRE(before.has_value());
            task_scope scope;
            scope.spawn(write_one(writer));
            for (;;) {
                auto const now = co_await r.get(at("/n"));
                REQUIRE(now.has_value());
                if (now->stat.version == before->stat.version) continue;
                CHECK(!w.is_linked());
                break;
            }
            while (!scope.empty()) co_await yield(loop);
        }
    });
}
