// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/core/virtual_loop.hpp>

#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/task.hpp>

#include <core/counted.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <random>
#include <string>
#include <vector>

using namespace elasticjob;
using namespace std::chrono_literals;

namespace {

/// Three coroutines that meet at random. Returns the events, their times and their order.
std::vector<std::string> trace(unsigned seed) {
    virtual_loop loop;
    event_count<virtual_loop> s{loop};
    std::mt19937 random{seed};
    std::vector<std::string> lines;
    auto wander = [](virtual_loop& l, event_count<virtual_loop>& news, std::mt19937& r, std::vector<std::string>& out,
                     int number) -> task<> {
        for (int i = 0; i < 50; ++i) {
            switch (r() % 4) {
            case 0:
                co_await yield(l);
                break;
            case 1:
                news.notify();
                break;
            case 2:
                co_await sleep_until(l, l.now() + std::chrono::milliseconds{r() % 3});
                break;
            default:
                co_await news.newer_than(news.edition(), l.now() + 2ms);
            }
            out.push_back(std::to_string(number) + " at " + std::to_string(l.now().time_since_epoch().count()));
        }
    };
    task_scope scope;
    for (int n = 0; n < 3; ++n) scope.spawn(wander(loop, s, random, lines, n));
    loop.run_for(1h);
    CHECK(scope.empty());
    return lines;
}

task<> tick(virtual_loop& loop, std::chrono::nanoseconds every, int& ticks) {
    for (auto due = loop.now() + every;; due += every) {
        co_await sleep_until(loop, due);
        ++ticks;
    }
}

} // namespace

TEST_CASE("core.virtual_loop: the same program takes the same steps every time") {
    auto const once = trace(1);
    CHECK(once.size() == 150);
    CHECK(trace(1) == once);
    CHECK(trace(2) != once);
}

TEST_CASE("core.virtual_loop: runs a timer every minute for a year") {
    virtual_loop loop{wall_time{1'000'000s}};
    task_scope scope;
    int ticks = 0;
    scope.spawn(tick(loop, 1min, ticks));
    loop.run_for(365 * 24h);
    CHECK(ticks == 365 * 24 * 60);
    CHECK(loop.now() == mono_time{365 * 24h});
    CHECK(loop.wall_now() == wall_time{1'000'000s} + 365 * 24h);
}

TEST_CASE("core.virtual_loop: run_until stops at exactly that time, with or without due timers") {
    virtual_loop loop;
    task_scope scope;
    int ticks = 0;
    scope.spawn(tick(loop, 1s, ticks));
    loop.run_until(mono_time{2500ms});
    CHECK(ticks == 2);
    CHECK(loop.now() == mono_time{2500ms});
    loop.run_until(mono_time{3s});
    CHECK(ticks == 3);
    loop.run_until(mono_time{1s}); // the past: nothing
    CHECK(loop.now() == mono_time{3s});
    loop.run_ready();
    CHECK(ticks == 3);
}

TEST_CASE("core.virtual_loop: setting the wall clock does not affect waiting tasks") {
    virtual_loop loop{wall_time{1h}};
    task_scope scope;
    int ticks = 0;
    scope.spawn(tick(loop, 1s, ticks));
    loop.run_for(1500ms);
    loop.set_wall(wall_time{100h});
    CHECK(loop.wall_now() == wall_time{100h});
    loop.run_for(1s);
    CHECK(ticks == 2);
    CHECK(loop.wall_now() == wall_time{100h + 1s});
    loop.set_wall(wall_time{0h});
    loop.run_for(1s);
    CHECK(ticks == 3);
    CHECK(loop.now() == mono_time{3500ms});
}

TEST_CASE("core.virtual_loop: is on the loop while a step runs") {
    virtual_loop loop;
    bool during = false;
    CHECK(!loop.on_loop());
    post(loop, [&] { during = loop.on_loop(); });
    CHECK(!during); // never before post returns
    CHECK(loop.step());
    CHECK(during);
    CHECK(!loop.on_loop());
    CHECK(!loop.step());
}

TEST_CASE("core.virtual_loop: waits for a gate as long as there is work to do") {
    virtual_loop loop;
    gate opened;
    post(loop, [&] { opened.open(); });
    CHECK(loop.wait(opened));
    CHECK(loop.wait(opened)); // it stays open
    gate shut;
    CHECK(!loop.wait(shut));
    bool inside = true;
    post(loop, [&] { inside = loop.wait(shut); });
    loop.run_ready();
    CHECK(!inside);
}

TEST_CASE("core.virtual_loop: its destructor discards queued work and runs none of it") {
    auto const before = test::counted::alive();
    bool ran = false;
    {
        virtual_loop loop;
        for (int i = 0; i < 3; ++i) post(loop, [&ran, held = test::counted{}] { ran = true; });
        CHECK(test::counted::alive() == before + 3);
    }
    CHECK(test::counted::alive() == before);
    CHECK(!ran);
}
