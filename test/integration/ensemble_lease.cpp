// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/execution/lease.hpp>

#include <integration/ensemble_lab.hpp>
#include <integration/zk_lab.hpp>

#include <doctest/doctest.h>

#include <optional>

using namespace elasticjob;
using namespace elasticjob::test;

/// Read by the thread sanitizer. Two handles that reconnect at once write an address for their logs into one static
/// buffer of libzookeeper (ZOOKEEPER-4810). The other tests check our own use of the library.
extern "C" char const* __tsan_default_suppressions();
extern "C" char const* __tsan_default_suppressions() { return "race:libzookeeper_mt"; }

namespace {

constexpr auto session_timeout = 2000ms;

/// Reports each deadline, so that a test can wait for one.
struct TellingGuard {
    event_count<event_loop>* told;
    void until(mono_time) const { told->notify(); }
    void disarm() const {}
};

using lease_type = session_lease<ZkRegistry, TellingGuard>;

/// Two clients of the first server: one holds a lease, the other only stays connected. A client of the second server
/// watches their nodes.
struct clients {
    event_loop loop;
    ZkRegistry cut, naive, other;
    event_count<event_loop> told{loop};
    std::unique_ptr<lease_type> lease;

    explicit clients(zk_ensemble const& e)
        : cut{connected(options(e.endpoint(1)))}, naive{connected(options(e.endpoint(1)))}, other{connected(options(
                                                                                                e.endpoint(2)))} {
        on_loop(loop, [this]() -> task<> {
            lease = std::make_unique<lease_type>(cut, TellingGuard{&told});
            co_return;
        });
    }
    ~clients() {
        on_loop(loop, [this]() -> task<> {
            lease.reset();
            co_return;
        });
    }
    zk_options options(std::string server) {
        auto o = to(std::move(server));
        o.session_timeout = session_timeout;
        o.loop = &loop;
        return o;
    }
};

/// The times of the events after the cut, in milliseconds.
struct times {
    double lapsed = 0, deleted = 0, naive_deleted = 0;
};

double ms(mono_time::duration d) { return std::chrono::duration<double, std::milli>{d}.count(); }

/// They take three seconds to start.
zk_ensemble& servers() {
    static zk_ensemble all;
    return all;
}

/// Begins to hold the lease with a node, like a run that has just started.
task<lease_type::hold> begin_to_hold(clients& c, node_path me) {
    auto const session = co_await connected_session(c.cut);
    auto const created = co_await c.cut.create(me, {}, create_mode::ephemeral, session->generation);
    REQUIRE(created.has_value());
    auto const sent = c.loop.now();
    transaction start{session->generation};
    start.check(me);
    auto const started = co_await c.cut.commit(std::move(start));
    REQUIRE((started && *started));
    auto hold = c.lease->keep(session->generation, me, sent);
    REQUIRE(hold.is_valid());
    co_return hold;
}

task<> until_proven(clients& c) {
    while (!c.lease->is_proven()) {
        auto const seen = c.told.edition();
        co_await c.told.newer_than(seen);
    }
}

/// The majority's deletions, as one of its clients sees them.
struct deletion {
    event_count<event_loop> seen;
    mono_time when{};
    task_scope watching{};

    deletion(ZkRegistry& majority, node_path what) : seen{majority.loop()} {
        watching.spawn(watch(*this, majority, std::move(what)));
    }
    task<> wait() {
        if (when == mono_time{}) co_await seen.newer_than(1);
    }

private:
    static task<> watch(deletion& self, ZkRegistry& r, node_path what) {
        co_await until_exists(r, what, true); // a server that lags does not show the node yet
        co_await until_exists(r, std::move(what), false);
        self.when = r.loop().now();
        self.seen.notify();
    }
};

/// Loses its connection permanently with the session, and comes back with the next one.
task<> come_back(ZkRegistry& r, session_generation former) {
    return reach(r, session_state::connected, former.value + 1);
}

} // namespace

TEST_CASE("ensemble: a follower is cut off with its clients: the lease ends before the session does") {
    clients c{servers()};
    for (int round = 0; round < 6; ++round) {
        bool const is_proven = round > 1; // otherwise the cut comes right after the start
        CAPTURE(round);
        times after;
        auto scenario = [&]() -> task<> {
            auto const me = at("/me-" + std::to_string(round));
            auto const naive = at("/naive-" + std::to_string(round));
            auto const naive_before = co_await connected_session(c.naive);
            auto const created = co_await c.naive.create(naive, {}, create_mode::ephemeral);
            REQUIRE(created.has_value());
            auto const hold = co_await begin_to_hold(c, me);
            auto const before = c.cut.session().generation;
            auto const seen = c.lease->lapsed().edition();
            if (is_proven) {
                co_await until_proven(c);
                // At another moment of the period in each round.
                co_await sleep_until(c.loop, c.loop.now() + (round - 2) * session_timeout / 40);
            }
            REQUIRE(c.lease->is_proven() == is_proven);
            REQUIRE(hold.is_valid());
            servers().cut_off(1);
            auto const cut_at = c.loop.now();
            deletion mine{c.other, me}, of_naive{c.other, naive};

            co_await c.lease->lapsed().newer_than(seen);
            after.lapsed = ms(c.loop.now() - cut_at);
            CHECK(!hold.is_valid());
            CHECK(mine.when == mono_time{});
            co_await mine.wait();
            after.deleted = ms(mine.when - cut_at);
            CHECK(!c.lease->is_valid());

            // This is the danger: the majority has deleted its node, but its own server still shows it alive.
            co_await of_naive.wait();
            after.naive_deleted = ms(of_naive.when - cut_at);
            auto const own = co_await c.naive.exists(naive);
            REQUIRE(own.has_value());
            CHECK(own->has_value());
            CHECK(c.naive.session().state == session_state::connected);
            CHECK(c.naive.session().generation == naive_before->generation);

            servers().join(1);
            co_await come_back(c.cut, before);
            co_await come_back(c.naive, naive_before->generation);
        };
        on_loop(c.loop, scenario);
        std::string const when = is_proven ? "" : "just started: ";
        MESSAGE(when << "lapsed " << after.lapsed << " ms after the cut, deleted " << after.deleted
                     << "; without heartbeats deleted " << after.naive_deleted << ", and still connected");
        CHECK(after.lapsed < after.deleted);
        // The validity of a fresh proof or start, plus the loop's delay.
        CHECK(after.lapsed <= ms(session_timeout) * (is_proven ? 0.64 : 0.375) + 200);
    }
}

TEST_CASE("ensemble: the leader stops for a while: the lease ends, and the same session later proves that it lives") {
    clients c{servers()};
    auto const me = at("/me");
    times after;
    double proven_again = 0;
    auto scenario = [&]() -> task<> {
        auto const hold = co_await begin_to_hold(c, me);
        co_await until_proven(c);
        auto const generation = c.cut.session().generation;
        auto const seen = c.lease->lapsed().edition();
        servers().pause(3);
        auto const paused_at = c.loop.now();
        co_await c.lease->lapsed().newer_than(seen);
        after.lapsed = ms(c.loop.now() - paused_at);
        CHECK(!hold.is_valid());
        // The followers notice only after their long limit; a leader that comes back in time is believed.
        servers().resume(3);
        co_await until_proven(c);
        proven_again = ms(c.loop.now() - paused_at);
        CHECK(c.cut.session().generation == generation);
        CHECK(!hold.is_valid());
        auto const seen_by_other = co_await c.other.exists(me);
        CHECK((seen_by_other && seen_by_other->has_value()));
    };
    on_loop(c.loop, scenario);
    MESSAGE("leader paused: lapsed after " << after.lapsed << " ms, proven again after " << proven_again << " ms");
}
