// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/core/block_on.hpp>

#include <elasticjob/core/event_loop.hpp>
#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/virtual_loop.hpp>

#include <core/counted.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

using namespace elasticjob;
using test::counted;

namespace {

task<result<int>> give(int value) { co_return value; }
task<result<int>> fail() { co_return error{errc::overloaded, "full"}; }

template <class Loop>
task<result<void>> wait_for(event_count<Loop>& s, counted) {
    co_await s.newer_than(s.edition());
    co_return success();
}

template <class Loop>
task<result<void>> block_again(Loop& l, result<int>& inner) {
    inner = block_on(l, give(1));
    co_return success();
}

template <class Loop>
task<result<bool>> ask_whether_on_loop(Loop& l) {
    co_return l.on_loop();
}

/// Counts itself when it is destroyed on the loop, unless it was moved away.
template <class Loop>
struct leaving {
    leaving(Loop& l, int& count) : loop{&l}, on_loop{&count} {}
    leaving(leaving&& other) noexcept : loop{std::exchange(other.loop, nullptr)}, on_loop{other.on_loop} {}
    ~leaving() {
        if (loop && loop->on_loop()) ++*on_loop;
    }
    Loop* loop;
    int* on_loop;
};

template <class Loop>
task<result<int>> hold(leaving<Loop>) {
    co_return 3;
}

} // namespace

TEST_CASE_TEMPLATE("core.block_on: gives the value or the error, from a task that runs on the loop", Loop, event_loop,
                   virtual_loop) {
    Loop loop;
    CHECK(block_on(loop, give(7)).value() == 7);
    auto const failed = block_on(loop, fail());
    REQUIRE(!failed);
    CHECK(failed.error() == error{errc::overloaded, "full"});
    CHECK(block_on(loop, ask_whether_on_loop(loop)).value());
    CHECK(!loop.on_loop());
}

TEST_CASE_TEMPLATE("core.block_on: on the loop itself it refuses instead of waiting for itself", Loop, event_loop,
                   virtual_loop) {
    Loop loop;
    result<int> inner = 0;
    REQUIRE(block_on(loop, block_again(loop, inner)));
    REQUIRE(!inner);
    CHECK(inner.error() == errc::wrong_thread);
}

TEST_CASE_TEMPLATE("core.block_on: the task is gone when it returns, and was destroyed on the loop", Loop, event_loop,
                   virtual_loop) {
    Loop loop;
    int left_on_loop = 0;
    for (int round = 1; round <= 200; ++round) {
        leaving<Loop> parameter{loop, left_on_loop};
        REQUIRE(block_on(loop, hold(std::move(parameter))).value() == 3);
        REQUIRE(left_on_loop == round);
    }
}

TEST_CASE("core.block_on: virtual time without further events gives timed_out, and the frames are destroyed") {
    virtual_loop loop;
    event_count<virtual_loop> never{loop};
    auto const before = counted::alive();
    auto const outcome = block_on(loop, wait_for(never, counted{}));
    REQUIRE(!outcome);
    CHECK(outcome.error() == errc::timed_out);
    CHECK(counted::alive() == before);
    never.notify(); // no task waits any more
    CHECK(!loop.step());
}

TEST_CASE("core.block_on: many threads wait for one loop") {
    event_loop loop;
    std::vector<std::thread> threads;
    std::atomic<int> right = 0;
    for (int t = 0; t < 8; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 200; ++i) right += block_on(loop, give(t * 1000 + i)).value() == t * 1000 + i;
        });
    for (auto& t : threads) t.join();
    CHECK(right == 1600);
}
