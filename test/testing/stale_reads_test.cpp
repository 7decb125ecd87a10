// SPDX-License-Identifier: Apache-2.0
// The simulation's follower of an ensemble, which lags a little.
#include <testing/simulated_world.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace std::chrono_literals;

namespace {

struct ensemble : SimulatedWorld {
    explicit ensemble(std::uint64_t seed = 1) : SimulatedWorld{seed} { first_wire.set_lag(1s); }

    node_path const path = node_path::parse("/a").value();

    std::string data() {
        auto const found = wait_for(registry().get(path));
        return found ? found->data : "(absent)";
    }
};

} // namespace

TEST_CASE("testing.stale_reads: others' writes show later, and the watch fires when they show") {
    int stale = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        ensemble e{seed};
        event_watch<testing::node_loop> changed{e.loop};
        CHECK_FALSE(*e.wait_for(e.registry().exists(e.path, &changed)));
        REQUIRE(e.wait_for(e.second().create(e.path, "1", create_mode::persistent)));
        auto const seen = e.data();
        stale += seen == "(absent)";
        if (seen == "1") CHECK_FALSE(changed.is_linked());
        e.world.run_for(1'100ms);
        CHECK_FALSE(changed.is_linked());
        CHECK(e.data() == "1");
    }
    CHECK(stale > 5);
}

TEST_CASE("testing.stale_reads: a follower shows a process its own writes and all earlier ones") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        ensemble e{seed};
        REQUIRE(e.wait_for(e.second().create(e.path, "1", create_mode::persistent)));
        REQUIRE(e.wait_for(e.registry().create(node_path::parse("/b").value(), {}, create_mode::persistent)));
        CHECK(e.data() == "1");
        CHECK(e.wait_for(e.registry().children(node_path::parse("/").value()))->size() == 2);
    }
}

TEST_CASE("testing.stale_reads: after a reconnect a write whose reply was lost may not show, until the next write") {
    int stale = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        ensemble e{seed};
        e.lose_next_write(request_fate::reply_lost);
        REQUIRE(e.wait_for(e.registry().create(e.path, "1", create_mode::ephemeral)).error() == errc::unknown_outcome);
        e.first_wire.reset();
        REQUIRE(e.wait_for(connected_session(e.registry())));
        stale += e.data() == "(absent)";
        transaction write{session_generation::current()};
        write.check(node_path::parse("/no/such/node").value());
        CHECK_FALSE(*e.wait_for(e.registry().commit(std::move(write))));
        CHECK(e.data() == "1");
    }
    CHECK(stale > 5);
}

TEST_CASE("testing.stale_reads: an abandoned node goes even if its creation had no reply and the next follower lags") {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        INFO("seed " << seed);
        ensemble e{seed};
        auto const g = e.registry().session().generation;
        e.lose_next_write(request_fate::reply_lost);
        REQUIRE(e.wait_for(e.registry().create(e.path, "1", create_mode::ephemeral)).error() == errc::unknown_outcome);
        post(e.loop, [&] { e.registry().abandon({g, {{e.path}}}); });
        e.first_wire.reset();
        e.world.run_for(30s);
        CHECK_FALSE(e.server.tree().find(e.path));
    }
}

TEST_CASE("testing.stale_reads: after a reconnect a follower never shows less than the process has seen") {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        ensemble e{seed};
        int shown = 0;
        REQUIRE(e.wait_for(e.second().create(e.path, "0", create_mode::persistent)));
        for (int i = 1; i <= 10; ++i) {
            REQUIRE(e.wait_for(e.second().set(e.path, std::to_string(i))));
            if (i % 3 == 0) e.first_wire.reset();
            REQUIRE(e.wait_for(connected_session(e.registry())));
            auto const now = e.data();
            auto const is = now == "(absent)" ? 0 : std::stoi(now);
            CHECK(is >= shown);
            shown = is;
        }
        e.world.run_for(1'100ms);
        CHECK(e.data() == "10");
    }
}
