// SPDX-License-Identifier: Apache-2.0
// The in-memory registry's guarantees beyond the laws of every registry.
#include <elasticjob/registry/memory_registry.hpp>

#include <elasticjob/core/virtual_loop.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace elasticjob;
using namespace std::chrono_literals;

namespace {

using server_type = basic_memory_server<virtual_loop>;
using registry_type = basic_memory_registry<virtual_loop>;

node_path at(char const* text) { return node_path::parse(text).value(); }

task<> note_session(registry_type& r, std::optional<result<session_view>>& seen) {
    seen.emplace(co_await connected_session(r));
}

template <class T>
task<> note(task<result<T>> operation, int number, std::vector<int>& order) {
    auto const outcome = co_await std::move(operation);
    (void)outcome;
    order.push_back(number);
}

} // namespace

TEST_CASE("registry.memory: counts each request once, however it ends") {
    virtual_loop loop;
    server_type server{loop};
    registry_type r{server};
    (void)block_on(loop, r.get(at("/absent")));
    (void)block_on(loop, r.exists(at("/absent")));
    (void)block_on(loop, r.children(at("/")));
    CHECK(server.counts().reads == 3);
    CHECK(server.counts().writes == 0);
    (void)block_on(loop, r.create(at("/a"), "", create_mode::persistent));
    (void)block_on(loop, r.create(at("/a"), "", create_mode::persistent));
    transaction t{r.session().generation};
    t.set(at("/a"), "1").create(at("/b"), "").remove(at("/b"));
    (void)block_on(loop, r.commit(std::move(t)));
    CHECK(server.counts().writes == 3);
    (void)block_on(loop, r.create(at("/c"), std::string(2'000'000, 'x'), create_mode::persistent));
    CHECK(server.counts().all() == 6); // refused here, not sent
}

TEST_CASE("registry.memory: the requests of a session are served and answered in order") {
    virtual_loop loop;
    server_type server{loop};
    registry_type r{server};
    std::vector<int> order;
    task_scope scope;
    transaction t{r.session().generation};
    t.set(at("/a"), "2");
    scope.spawn(note(r.create(at("/a"), "0", create_mode::persistent), 0, order));
    scope.spawn(note(r.set(at("/a"), "1", 0), 1, order));
    scope.spawn(note(r.exists(at("/a")), 2, order));
    scope.spawn(note(r.commit(std::move(t)), 3, order));
    scope.spawn(note(r.remove(at("/a"), 2), 4, order));
    scope.spawn(note(r.children(at("/")), 5, order));
    loop.run_ready();
    CHECK(order == std::vector<int>{0, 1, 2, 3, 4, 5});
    CHECK(server.tree().find(at("/a")) == nullptr); // each request saw the effect of the one before
}

TEST_CASE("registry.memory: a change has the loop's civil time as its time stamp") {
    virtual_loop loop{wall_time{1'000s}};
    server_type server{loop};
    registry_type r{server};
    REQUIRE(block_on(loop, r.create(at("/a"), "", create_mode::persistent)));
    loop.run_for(5s);
    CHECK(block_on(loop, r.exists(at("/a"))).value()->modified_at_ms == 1'000'000);
    CHECK(block_on(loop, r.set(at("/a"), "")).value().modified_at_ms == 1'005'000);
}

TEST_CASE("registry.memory: a session that is cut off ends after its time-out, not before") {
    virtual_loop loop;
    server_type server{loop, memory_server_options{.session_timeout = 10s}};
    registry_type r{server};
    CHECK(r.session().timeout == 10s);
    REQUIRE(block_on(loop, r.create(at("/e"), "", create_mode::ephemeral)));
    r.disconnect();
    loop.run_for(9'999ms);
    CHECK(server.tree().find(at("/e")) != nullptr);
    CHECK(r.session().state == session_state::suspended);
    loop.run_for(1ms);
    CHECK(server.tree().find(at("/e")) == nullptr);
    CHECK(r.session().state == session_state::connecting);
    CHECK(r.session().id == 0);

    std::optional<result<session_view>> seen;
    task_scope scope;
    scope.spawn(note_session(r, seen));
    loop.run_for(1h);
    CHECK(!seen);
    r.reconnect();
    loop.run_ready();
    REQUIRE(seen);
    CHECK(seen->value().generation == session_generation{2});
}

TEST_CASE("registry.memory: the end of a session removes its ephemeral nodes only") {
    virtual_loop loop;
    server_type server{loop};
    {
        registry_type r{server};
        REQUIRE(block_on(loop, r.create(at("/stays"), "", create_mode::persistent)));
        REQUIRE(block_on(loop, r.create(at("/goes"), "", create_mode::ephemeral)));
        r.disconnect();
        loop.run_for(1h);
    }
    CHECK(server.tree().find(at("/stays")) != nullptr);
    CHECK(server.tree().find(at("/goes")) == nullptr);
}

TEST_CASE("registry.memory: sessions come and go on many threads") {
    event_loop loop;
    memory_server server{loop};
    MemoryRegistry observer{server};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 50; ++i) {
                MemoryRegistry r{server};
                auto const path = node_path{} / ("of-" + std::to_string(t));
                (void)block_on(loop, r.create(path, "", create_mode::ephemeral));
            }
        });
    for (auto& t : threads) t.join();
    CHECK(block_on(loop, observer.children(node_path{})).value().empty());
}

TEST_CASE("registry.memory: a tree has no nodes that belong to session 0") {
    node_tree tree;
    std::vector<operation> operations;
    operations.push_back({operation::kind::create, at("/stays")});
    REQUIRE(!tree.apply(operations, 7, 0).refused);
    CHECK(tree.end_session(0, 0).empty());
    CHECK(tree.find(at("/stays")) != nullptr);
}

TEST_CASE("registry.memory: children are distinct from deeper nodes, and from neighbours with similar names") {
    node_tree tree;
    std::vector<operation> operations;
    // In the order of bytes, '-' and '.' stand before '/', and '0' after it.
    for (char const* path : {"/a", "/a/b", "/a/b-c", "/a/b-c/x", "/a/b/b", "/a/b/b/b", "/a/b.d", "/a/b0", "/a/b0/y", "/a-b", "/a.b", "/a0"})
        operations.push_back({operation::kind::create, at(path)});
    REQUIRE(!tree.apply(operations, 7, 0).refused);
    using names = std::vector<std::string>;
    CHECK(tree.children(node_path{}) == names{"a", "a-b", "a.b", "a0"});
    CHECK(tree.children(at("/a")) == names{"b", "b-c", "b.d", "b0"});
    CHECK(tree.children(at("/a/b")) == names{"b"});
    CHECK(tree.children(at("/a/b-c")) == names{"x"});
    CHECK(tree.children(at("/a/b.d")).empty());
    CHECK(tree.find(at("/a"))->stat.children == 4);
}
