// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/core/event_count.hpp>

#include <elasticjob/core/task.hpp>
#include <elasticjob/core/virtual_loop.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

using namespace elasticjob;
using namespace std::chrono_literals;

namespace {

using news = event_count<virtual_loop>;

/// The outcome of a wait.
struct outcome {
    std::optional<bool> was_news;
    mono_time at{};
};

task<> wait(virtual_loop& loop, news& s, std::uint64_t seen, mono_time due, outcome& o) {
    o.was_news = co_await s.newer_than(seen, due);
    o.at = loop.now();
}

task<> note_after(virtual_loop& loop, mono_time due, std::vector<int>& order, int number) {
    co_await sleep_until(loop, due);
    order.push_back(number);
}

task<> take_turns(virtual_loop& loop, std::vector<int>& order, int number, int turns) {
    for (; turns > 0; --turns) {
        order.push_back(number);
        co_await yield(loop);
    }
}

/// Reads the editions: each one if it is fast enough, and the last one in any case.
task<> follow(news& s, std::uint64_t& last, int& wakes) {
    for (;;) {
        co_await s.newer_than(last);
        ++wakes;
        last = s.edition();
    }
}

auto const never = mono_time::max();

} // namespace

TEST_CASE("core.event_count: a notification before the wait ends it at once") {
    virtual_loop loop;
    news s{loop};
    task_scope scope;
    outcome o;
    auto const seen = s.edition();
    s.notify();
    scope.spawn(wait(loop, s, seen, never, o));
    CHECK(o.was_news == true); // without a turn of the loop
    CHECK(scope.empty());
}

TEST_CASE("core.event_count: the waiter resumes after the notifier, once for any number of notifications") {
    virtual_loop loop;
    news s{loop};
    task_scope scope;
    std::uint64_t last = s.edition();
    int wakes = 0;
    scope.spawn(follow(s, last, wakes));
    s.notify();
    s.notify();
    s.notify();
    CHECK(wakes == 0);
    loop.run_ready();
    CHECK(wakes == 1);
    CHECK(last == s.edition());
}

TEST_CASE("core.event_count: a follower never misses the last edition, whenever it is notified") {
    for (unsigned seed = 1; seed <= 50; ++seed) {
        CAPTURE(seed);
        std::mt19937 random{seed};
        virtual_loop loop;
        news s{loop};
        task_scope scope;
        std::uint64_t last[3] = {s.edition(), s.edition(), 0};
        int wakes = 0;
        for (auto& l : last) scope.spawn(follow(s, l, wakes));
        for (int i = 0; i < 200; ++i) {
            if (random() % 2 == 0) s.notify();
            if (random() % 2 == 0) loop.step();
        }
        loop.run_ready();
        for (auto l : last) REQUIRE(l == s.edition());
    }
}

TEST_CASE("core.event_count: without a notification a wait ends at its deadline, and reports it") {
    virtual_loop loop;
    news s{loop};
    task_scope scope;
    outcome o;
    auto const due = loop.now() + 10s;
    scope.spawn(wait(loop, s, s.edition(), due, o));
    loop.run_for(9s);
    CHECK(!o.was_news);
    loop.run_for(2s);
    CHECK(o.was_news == false);
    CHECK(o.at == due);
}

TEST_CASE("core.event_count: a notification before the deadline disarms its timer") {
    virtual_loop loop;
    news s{loop};
    task_scope scope;
    outcome o;
    scope.spawn(wait(loop, s, s.edition(), loop.now() + 10s, o));
    s.notify();
    loop.run_ready();
    CHECK(o.was_news == true);
    CHECK(o.at == mono_time{});
    CHECK(!loop.step()); // no timer is left
}

TEST_CASE("core.event_count: a notification at the exact moment of the deadline counts") {
    virtual_loop loop;
    news s{loop};
    task_scope scope;
    outcome o;
    auto const due = loop.now() + 1s;
    auto notify = [](virtual_loop& l, news& w, mono_time when) -> task<> {
        co_await sleep_until(l, when);
        w.notify();
    };
    scope.spawn(notify(loop, s, due)); // armed first, so first; then the deadline, then the resumptions
    scope.spawn(wait(loop, s, s.edition(), due, o));
    loop.run_until(due);
    CHECK(o.was_news == true);
    CHECK(scope.empty());
}

TEST_CASE("core.event_count: a passed deadline still takes one turn of the loop") {
    virtual_loop loop;
    loop.run_for(5s);
    news s{loop};
    task_scope scope;
    outcome o;
    scope.spawn(wait(loop, s, s.edition(), loop.now() - 1s, o));
    CHECK(!o.was_news);
    loop.run_ready();
    CHECK(o.was_news == false);
    CHECK(o.at == mono_time{5s});
}

TEST_CASE("core.event_count: a destroyed waiter is neither awaited nor resumed") {
    virtual_loop loop;
    news s{loop};
    outcome o;
    {
        task_scope scope;
        scope.spawn(wait(loop, s, s.edition(), loop.now() + 1s, o));
    }
    s.notify();
    CHECK(!loop.step());
    CHECK(!o.was_news);
}

TEST_CASE("core.event_count: a waiter that is destroyed after it was posted is not resumed") {
    virtual_loop loop;
    news s{loop};
    outcome by_news, by_alarm;
    task_scope scope;
    scope.spawn(wait(loop, s, s.edition(), never, by_news));
    scope.spawn(wait(loop, s, 1'000, loop.now() + 1s, by_alarm));
    s.notify();
    scope.cancel();
    CHECK(!loop.step());
    scope.spawn(wait(loop, s, 1'000, loop.now() + 1s, by_alarm));
    loop.step(); // the alarm rings and posts it
    scope.cancel();
    CHECK(!loop.step());
    CHECK(!by_news.was_news);
    CHECK(!by_alarm.was_news);
}

TEST_CASE("core.sleep_until: ends in the order of the times; of equal ones, in the order of the calls") {
    virtual_loop loop;
    task_scope scope;
    std::vector<int> order;
    scope.spawn(note_after(loop, mono_time{2s}, order, 1));
    scope.spawn(note_after(loop, mono_time{1s}, order, 2));
    scope.spawn(note_after(loop, mono_time{2s}, order, 3));
    scope.spawn(note_after(loop, mono_time{1s}, order, 4));
    loop.run_for(3s);
    CHECK(order == std::vector<int>{2, 4, 1, 3});
}

TEST_CASE("core.yield: lets all ready work run first") {
    virtual_loop loop;
    task_scope scope;
    std::vector<int> order;
    scope.spawn(take_turns(loop, order, 1, 3));
    scope.spawn(take_turns(loop, order, 2, 2));
    loop.run_ready();
    CHECK(order == std::vector<int>{1, 2, 1, 2, 1});
}
