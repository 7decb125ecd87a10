// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/core/event_loop.hpp>

#include <elasticjob/core/block_on.hpp>
#include <elasticjob/core/event_count.hpp>

#include <core/counted.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

using namespace elasticjob;
using namespace std::chrono_literals;

namespace {

task<result<std::vector<int>>> sleep_in_disorder(event_loop& loop) {
    std::vector<int> order;
    auto note = [](event_loop& l, mono_time due, std::vector<int>& out, int number, bool& early) -> task<> {
        co_await sleep_until(l, due);
        early |= l.now() < due;
        out.push_back(number);
    };
    bool early = false;
    task_scope scope;
    auto const start = loop.now();
    scope.spawn(note(loop, start + 30ms, order, 3, early));
    scope.spawn(note(loop, start + 10ms, order, 1, early));
    scope.spawn(note(loop, start + 20ms, order, 2, early));
    scope.spawn(note(loop, start + 10s, order, 4, early)); // cancelled with the scope
    co_await sleep_until(loop, start + 40ms);
    if (early) order.clear();
    co_return order;
}

task<result<bool>> takes_back_what_it_posted(event_loop& loop) {
    struct flagged : work {
        flagged() : work{&act_on} {}
        static void act_on(work& w, work_action) { static_cast<flagged&>(w).ran = true; }
        bool ran = false;
    };
    flagged kept, taken;
    loop.post(kept);
    loop.post(taken);
    taken.unlink();
    co_await yield(loop);
    co_return kept.ran && !taken.ran;
}

/// Posts itself again each time that it runs: a loop that emptied its queue before stopping would never stop.
struct restless : work {
    explicit restless(event_loop& l) : work{&act_on}, loop{l} {}
    static void act_on(work& w, work_action action) {
        auto& self = static_cast<restless&>(w);
        if (action == work_action::discard) {
            ++self.discards;
            return;
        }
        self.runs.open();
        self.loop.post(self);
    }
    event_loop& loop;
    gate runs;
    int discards = 0;
};

} // namespace

TEST_CASE("core.event_loop: runs posted work on its own thread, in the order of each thread's posts") {
    constexpr int threads_max = 4, posts = 2'000;
    event_loop loop;
    std::vector<int> next(threads_max, 0); // touched on the loop only
    bool in_order = true, on_loop = true;
    std::vector<std::thread> threads;
    for (int t = 0; t < threads_max; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < posts; ++i)
                post(loop, [&, t, i] {
                    in_order = in_order && next[static_cast<std::size_t>(t)] == i;
                    ++next[static_cast<std::size_t>(t)];
                    on_loop = on_loop && loop.on_loop();
                });
        });
    for (auto& t : threads) t.join();
    gate done;
    post(loop, [&] { done.open(); }); // after all the others
    REQUIRE(loop.wait(done));
    CHECK(in_order);
    CHECK(on_loop);
    CHECK(!loop.on_loop());
    for (auto const n : next) CHECK(n == posts);
}

TEST_CASE("core.event_loop: work posted on the loop keeps its order and runs later") {
    event_loop loop;
    std::vector<int> order;
    gate done;
    post(loop, [&] {
        post(loop, [&] { order.push_back(2); });
        post(loop, [&] {
            order.push_back(3);
            done.open();
        });
        order.push_back(1);
    });
    REQUIRE(loop.wait(done));
    CHECK(order == std::vector<int>{1, 2, 3});
}

TEST_CASE("core.event_loop: fires timers in order and never early") {
    event_loop loop;
    CHECK(block_on(loop, sleep_in_disorder(loop)).value() == std::vector<int>{1, 2, 3});
}

TEST_CASE("core.event_loop: an earlier timer wakes it while it sleeps until a later one") {
    event_loop loop;
    struct ringing : timer {
        ringing() : timer{&ring} {}
        static void ring(timer& t) { static_cast<ringing&>(t).rang.open(); }
        gate rang;
    };
    ringing late, soon;
    post(loop, [&] { loop.arm(late, loop.now() + 1h); });
    post(loop, [&] { loop.arm(soon, loop.now() + 1ms); });
    REQUIRE(loop.wait(soon.rang));
    gate disarmed;
    post(loop, [&] {
        loop.disarm(late);
        disarmed.open();
    });
    REQUIRE(loop.wait(disarmed));
    CHECK(!late.rang.is_open());
}

TEST_CASE("core.event_loop: can take back its own posted work") {
    event_loop loop;
    CHECK(block_on(loop, takes_back_what_it_posted(loop)).value());
}

TEST_CASE("core.event_loop: does not wait on its own thread") {
    event_loop loop;
    bool waited = true;
    gate never, done;
    post(loop, [&] {
        waited = loop.wait(never);
        done.open();
    });
    REQUIRE(loop.wait(done));
    CHECK(!waited);
}

TEST_CASE("core.event_loop: stopping lets running work finish, and leaves no queued work behind") {
    auto const before = test::counted::alive();
    std::atomic<int> ran = 0;
    bool finished = false;
    gate running, stop;
    std::thread releaser;
    {
        event_loop loop;
        post(loop, [&] {
            running.open();
            stop.wait();
            finished = true;
            post(loop, [&, held = test::counted{}] { ++ran; });
        });
        REQUIRE(loop.wait(running));
        for (int i = 0; i < 10; ++i) post(loop, [&, held = test::counted{}] { ++ran; });
        CHECK(test::counted::alive() >= before + 10);
        // The loop may run some of it before the destructor closes the queue: each has run or has been discarded.
        releaser = std::thread{[&] { stop.open(); }};
    }
    releaser.join();
    CHECK(finished);
    CHECK(test::counted::alive() == before);
    CHECK(ran <= 11);
}

TEST_CASE("core.event_loop: stopping discards queued work instead of running it") {
    std::optional<event_loop> loop{std::in_place};
    restless w{*loop};
    loop->post(w);
    REQUIRE(loop->wait(w.runs));
    loop.reset();
    CHECK(w.discards == 1);
}

TEST_CASE("core.event_loop: many loops start and stop") {
    for (int i = 0; i < 100; ++i) {
        gate done;
        event_loop loop;
        post(loop, [&done] { done.open(); });
        if (i % 2 == 0) REQUIRE(loop.wait(done));
    }
}
