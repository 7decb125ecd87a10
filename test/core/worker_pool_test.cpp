// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/core/worker_pool.hpp>

#include <elasticjob/core/virtual_loop.hpp>

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <deque>
#include <optional>
#include <thread>
#include <vector>

using namespace elasticjob;

static_assert(worker_pool<LoopPool<virtual_loop>>);

namespace {

struct counter {
    std::atomic<int> runs = 0;
    std::atomic<int> discards = 0;
    gate full; ///< opened by the run that makes it `wanted`
    int wanted = -1;
};

struct counted_work : work {
    explicit counted_work(counter& c) : work{&act_on}, total{c} {}
    static void act_on(work& w, work_action action) {
        auto& c = static_cast<counted_work&>(w).total;
        if (action == work_action::discard)
            ++c.discards;
        else if (++c.runs == c.wanted)
            c.full.open();
    }
    counter& total;
};

/// Occupies a thread until it is released.
struct blocker : work {
    blocker() : work{&act_on} {}
    static void act_on(work& w, work_action action) {
        auto& self = static_cast<blocker&>(w);
        if (action == work_action::discard) return;
        self.running.open();
        self.release.wait();
        self.finished = true;
    }
    gate running, release;
    std::atomic<bool> finished = false;
};

/// Submits itself again each time that it runs.
struct restless : work {
    explicit restless(ThreadPool& p) : work{&act_on}, pool{p} {}
    static void act_on(work& w, work_action action) {
        auto& self = static_cast<restless&>(w);
        if (action == work_action::discard) {
            ++self.discards;
            return;
        }
        self.runs.open();
        (void)self.pool.try_submit(self);
    }
    ThreadPool& pool;
    gate runs;
    int discards = 0;
};

} // namespace

TEST_CASE("core.worker_pool: runs everything once, from any thread") {
    counter c;
    c.wanted = 4000;
    std::deque<counted_work> all;
    for (int i = 0; i < 4000; ++i) all.emplace_back(c);
    ThreadPool pool{{.threads = 3}};
    CHECK(pool.size() == 3);
    std::vector<std::thread> threads;
    std::atomic<int> accepted = 0;
    for (std::size_t t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (std::size_t i = 0; i < 1000; ++i) accepted += pool.try_submit(all[t * 1000 + i]);
        });
    for (auto& t : threads) t.join();
    CHECK(accepted == 4000);
    c.full.wait();
    CHECK(c.runs == 4000);
    CHECK(c.discards == 0);
}

TEST_CASE("core.worker_pool: wakes as many threads as there are pieces of work") {
    ThreadPool pool{{.threads = 4}};
    for (int round = 0; round < 100; ++round) {
        std::array<blocker, 4> all;
        for (auto& w : all) REQUIRE(pool.try_submit(w));
        for (auto& w : all) w.running.wait(); // for ever, if a thread sleeps beside queued work
        for (auto& w : all) w.release.open();
        for (auto& w : all)
            while (!w.finished) std::this_thread::yield();
    }
}

TEST_CASE("core.worker_pool: has threads by default") {
    ThreadPool const pool;
    CHECK(pool.size() >= 2);
}

TEST_CASE("core.worker_pool: a full queue refuses work, and accepts it again once there is room") {
    blocker b;
    counter c;
    c.wanted = 2;
    counted_work one{c}, two{c}, three{c};
    ThreadPool pool{{.threads = 1, .queue_max = 2}};
    REQUIRE(pool.try_submit(b));
    b.running.wait(); // taken out of the queue
    CHECK(pool.try_submit(one));
    CHECK(pool.try_submit(two));
    CHECK(!pool.try_submit(three));
    CHECK(!three.is_linked());
    b.release.open();
    c.full.wait();
    CHECK(pool.try_submit(three));
}

TEST_CASE("core.worker_pool: its destructor waits for running work, and leaves no queued work behind") {
    blocker b;
    counter c;
    std::deque<counted_work> queued;
    for (int i = 0; i < 10; ++i) queued.emplace_back(c);
    std::thread releaser;
    {
        ThreadPool pool{{.threads = 1}};
        REQUIRE(pool.try_submit(b));
        b.running.wait();
        for (auto& w : queued) REQUIRE(pool.try_submit(w));
        releaser = std::thread{[&] { b.release.open(); }};
    }
    CHECK(b.finished);
    CHECK(c.runs + c.discards == 10);
    releaser.join();
}

TEST_CASE("core.worker_pool: its destructor discards queued work instead of running it") {
    std::optional<ThreadPool> pool{std::in_place, thread_pool_options{.threads = 2}};
    restless w{*pool};
    REQUIRE(pool->try_submit(w));
    w.runs.wait();
    pool.reset();
    CHECK(w.discards == 1);
}

TEST_CASE("core.worker_pool: on a loop, work runs after its submission, in order") {
    virtual_loop loop;
    LoopPool<virtual_loop> pool{loop};
    counter c;
    counted_work one{c}, two{c};
    CHECK(pool.try_submit(one));
    CHECK(pool.try_submit(two));
    CHECK(c.runs == 0);
    loop.step();
    CHECK(c.runs == 1);
    CHECK(!one.is_linked());
    CHECK(two.is_linked());
    loop.step();
    CHECK(c.runs == 2);
}
