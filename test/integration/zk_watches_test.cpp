// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/registry/zk/watch_table.hpp>
#include <elasticjob/registry/zk_registry.hpp>

#include <elasticjob/allocation/average.hpp>
#include <elasticjob/execution/simple_executor.hpp>
#include <elasticjob/scheduler/job_scheduler.hpp>
#include <integration/zk_lab.hpp>
#include <integration/zk_proxy.hpp>

#include <chrono>
#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

using watch = event_watch<event_loop>;

/// Its session outlasts the pauses of a busy processor.
ZkRegistry connected_to(zk_server const& server) { return connected(to(server.endpoint())); }

/// The number of watches on the server, for all clients.
int watches_on(zk_server const& server) {
    auto const answer = server.ask("mntr"); // `wchs` omits watches on children
    std::string const field = "zk_watch_count\t";
    auto const found = answer.find(field);
    REQUIRE_MESSAGE(found != answer.npos, answer);
    return std::stoi(answer.substr(found + field.size()));
}

/// Resumes once all watches that are unwanted now have been removed. The loop sends the first removals in its next
/// turn, and more with each reply; the server handles the requests of a session in order.
task<> after_removals(ZkRegistry& r) {
    for (int batch = 0; batch < 8; ++batch) {
        co_await yield(r.loop());
        (void)co_await r.exists(node_path{});
    }
}

node_path numbered(int n) { return at("/n" + std::to_string(n)); }

job_config far_future(std::string name) {
    job_config config;
    config.name = std::move(name);
    config.cron = "0 0 0 1 1 ? 2099";
    return config;
}

} // namespace

TEST_CASE("ZkRegistry: a watch without a waiter is removed from the server") {
    zk_server server{quick()};
    auto r = connected_to(server);
    on_loop(r.loop(), [&]() -> task<> {
        REQUIRE((co_await r.create(at("/n0"), "", create_mode::persistent)).has_value());
        std::list<watch> dropped;
        watch kept{r.loop()};
        (void)co_await r.get(at("/n0"), &kept);
        for (int n = 0; n < 300; ++n) (void)co_await r.exists(numbered(n), &dropped.emplace_back(r.loop()));
        (void)co_await r.get(at("/n0"), &dropped.emplace_back(r.loop()));
        (void)co_await r.children(at("/n0"), &dropped.emplace_back(r.loop()));
        CHECK(watches_on(server) == 301); // the data and children of /n0, and the data of 299 others
        dropped.clear();
        co_await after_removals(r);
        CHECK(watches_on(server) == 1);
        REQUIRE((co_await r.set(at("/n0"), "x")).has_value());
        co_await kept.fired();
        CHECK(watches_on(server) == 0);
    });
}

TEST_CASE("ZkRegistry: only watches with a waiter count against the budget") {
    zk_server server{quick()};
    auto r = connected_to(server);
    on_loop(r.loop(), [&]() -> task<> {
        auto const path = [](int n) { return at("/" + std::to_string(100 + n) + std::string(89'990, 'p')); };
        for (int n = 0; n < 30; ++n) {
            watch w{r.loop()};
            auto const seen = co_await r.exists(path(n), &w);
            REQUIRE_MESSAGE(seen.has_value(), n);
        }
        // All at once: the next reads wait until the former watches are off the server.
        for (int round = 0; round < 3; ++round) {
            std::list<watch> all;
            for (int n = 0; n < 10; ++n) {
                auto const seen = co_await r.exists(path(10 * round + n), &all.emplace_back(r.loop()));
                CHECK(seen.has_value() == (n < 9));
                if (!seen) CHECK(seen.error() == errc::too_large);
            }
        }
        co_await after_removals(r);
        CHECK(watches_on(server) == 0);
    });
}

TEST_CASE("ZkRegistry: a removal does not remove a watch that has been requested again") {
    zk_server server{quick()};
    auto r = connected_to(server);
    on_loop(r.loop(), [&]() -> task<> {
        watch w{r.loop()};
        for (int n = 0; n < 200; ++n) {
            (void)co_await r.exists(numbered(n), &w);
            w.unlink();
            // In the same turn; when the removal has been sent; when it has been answered.
            for (int turn = 0; turn < n % 4; ++turn) co_await yield(r.loop());
            auto const seen = co_await r.exists(numbered(n), &w);
            REQUIRE(seen.has_value());
            REQUIRE(w.is_linked());
            REQUIRE((co_await r.create(numbered(n), "", create_mode::persistent)).has_value());
            co_await w.fired();
        }
        CHECK(watches_on(server) == 0);
    });
}

TEST_CASE("ZkRegistry: a read under way keeps the watch that an earlier reader drops") {
    zk_server server{quick()};
    auto r = connected_to(server);
    on_loop(r.loop(), [&]() -> task<> {
        for (int n = 0; n < 50; ++n) {
            auto first = std::make_unique<watch>(r.loop());
            (void)co_await r.exists(numbered(n), first.get());
            watch second{r.loop()};
            event_count<event_loop> done{r.loop()};
            auto const seen = done.edition();
            task_scope reading;
            reading.spawn([](ZkRegistry& z, node_path p, watch& w, event_count<event_loop>& d) -> task<> {
                (void)co_await z.exists(p, &w);
                d.notify();
            }(r, numbered(n), second, done));
            first.reset();
            co_await done.newer_than(seen);
            co_await after_removals(r);
            REQUIRE(second.is_linked());
            CHECK(watches_on(server) == 1);
            REQUIRE((co_await r.create(numbered(n), "", create_mode::persistent)).has_value());
            co_await second.fired();
        }
    });
}

TEST_CASE("ZkRegistry: a watch that is dropped during an outage is removed afterwards") {
    zk_server server{quick()};
    tcp_proxy proxy{server.port()};
    auto r = connected(to(proxy.endpoint()));
    on_loop(r.loop(), [&]() -> task<> {
        std::list<watch> dropped;
        watch kept{r.loop()};
        (void)co_await r.exists(at("/kept"), &kept);
        for (int n = 0; n < 100; ++n) (void)co_await r.exists(numbered(n), &dropped.emplace_back(r.loop()));
        SUBCASE("while the connection is down") {
            proxy.cut();
            co_await reach(r, session_state::suspended, 1);
            dropped.clear();
        }
        SUBCASE("just before, so that the removals are under way") {
            proxy.set_requests(wire::lossy);
            dropped.clear();
            co_await yield(r.loop());
            co_await yield(r.loop());
            proxy.cut_and_repair();
            co_await reach(r, session_state::suspended, 1);
        }
        co_await reach(r, session_state::connected, 1);
        co_await after_removals(r);
        CHECK(watches_on(server) == 1);
        REQUIRE((co_await r.create(at("/kept"), "", create_mode::persistent)).has_value());
        co_await kept.fired();
    });
}

TEST_CASE("ZkRegistry: jobs that come and go leave no watches") {
    zk_server server{quick()};
    auto r = connected_to(server);
    job_scheduler<ZkRegistry, AverageAllocation, SimpleExecutor> scheduler{r};
    std::optional<int> before;
    for (int n = 0; n < 5; ++n) {
        auto handle = scheduler.schedule(far_future("import-of-day-" + std::to_string(n)), [] {});
        REQUIRE(handle.has_value());
        REQUIRE(handle->shutdown());
        on_loop(r.loop(), [&]() -> task<> { co_await after_removals(r); });
        if (!before) before = watches_on(server);
        CHECK(watches_on(server) == *before);
    }
}

TEST_CASE("ZkRegistry: a server without support for removals is asked only once") {
    work tidy{[](work&, work_action) {}}; // outlives the loop, which may still have it in its list
    event_loop loop;
    zk::watch_table table{loop, tidy};
    on_loop(loop, [&]() -> task<> {
        zk::watch_target const one{"/one", watch_kind::data};
        zk::watch_target const two{"/two", watch_kind::children};
        for (auto const& target : {one, two}) {
            watch w{loop};
            REQUIRE(table.reserve(target));
            table.settle(target, true, &w);
        }
        auto const bytes = table.bytes();
        REQUIRE(table.has_unwanted());
        auto const* first = table.begin_removal();
        REQUIRE(first);
        CHECK(*first == one);
        table.give_up_removals();
        table.end_removal(one, false);
        CHECK(!table.has_unwanted());
        table.look_again();
        CHECK(!table.has_unwanted());
        CHECK(table.bytes() == bytes); // libzookeeper sets them again when it reconnects
        table.fire(one);
        table.fire(two);
        CHECK(table.bytes() == 0);
        co_return;
    });
}

TEST_CASE("ZkRegistry: room that is kept for a watch counts until it is released, also after the session") {
    work tidy{[](work&, work_action) {}};
    event_loop loop;
    zk::watch_table table{loop, tidy};
    on_loop(loop, [&]() -> task<> {
        std::string const kept(zk::watch_table::bytes_max / 2, 'k');
        std::string const other(zk::watch_table::bytes_max / 2 - 8, 'o');
        REQUIRE(table.keep_room(kept));
        auto const bytes = table.bytes();
        CHECK(bytes > kept.size());
        CHECK_FALSE(table.keep_room(kept));
        CHECK_FALSE(table.reserve({kept, watch_kind::data}));
        REQUIRE(table.reserve({other, watch_kind::data}));
        table.fire_everything();
        CHECK(table.bytes() == bytes);
        table.release_room(kept);
        CHECK(table.bytes() == 0);
        co_return;
    });
}
