// SPDX-License-Identifier: Apache-2.0
// The system has no thread left for a ZooKeeper registry.
#include <elasticjob/registry/zk_registry.hpp>

#include <integration/zk_lab.hpp>
#include <support/limited_threads.hpp>

#include <doctest/doctest.h>

#include <optional>

#ifndef ELASTICJOB_TEST_SANITIZED

using namespace elasticjob;
using namespace elasticjob::test;

TEST_CASE("zk_no_thread: connect without one of its threads is an error that names the reason") {
    // The loop's thread, the one that opens the session, and libzookeeper's two. No server needs to listen there.
    for (int count = 0; count < 4; ++count) {
        CAPTURE(count);
        limited_threads::limit const only{count};
        auto const connected = ZkRegistry::connect({.servers = "127.0.0.1:1"});
        REQUIRE(!connected);
        CHECK(connected.error() == errc::overloaded);
        CHECK(connected.error().what.starts_with("the system has no thread left: "));
        CHECK(connected.error().where == "std::thread");
    }
}

TEST_CASE("zk_no_thread: a registry ends its session even if no thread for it can start") {
    shared_zk_server server;
    auto other = connected(to(server));
    {
        std::optional<ZkRegistry> r = connected(to(server));
        on_loop(r->loop(), [&]() -> task<> {
            auto const made = co_await r->create(at("/mine"), "", create_mode::ephemeral);
            REQUIRE(made.has_value());
        });
        limited_threads::limit const none{0};
        r.reset();
    }
    on_loop(other.loop(), [&]() -> task<> {
        auto const found = co_await other.exists(at("/mine"));
        REQUIRE(found.has_value());
        CHECK(!found->has_value());
    });
}

#endif // ELASTICJOB_TEST_SANITIZED
