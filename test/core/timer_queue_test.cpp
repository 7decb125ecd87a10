// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/core/timer_queue.hpp>

#include <support/counted_new.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <new> // bad_alloc
#include <random>
#include <utility>

using namespace elasticjob;
using namespace std::chrono_literals;

namespace {
void ignore(timer&) {}
mono_time at(int ms) { return mono_time{std::chrono::milliseconds{ms}}; }
} // namespace

TEST_CASE("core.timer_queue: the earliest timer comes first; of equal ones, the one armed first") {
    timer_queue queue;
    timer a{&ignore}, b{&ignore}, c{&ignore};
    CHECK(queue.empty());
    CHECK(!a.is_armed());
    queue.arm(a, at(2));
    queue.arm(b, at(1));
    queue.arm(c, at(1));
    CHECK(a.is_armed());
    CHECK(&queue.earliest() == &b);
    queue.disarm(b);
    queue.disarm(b); // no effect
    CHECK(!b.is_armed());
    CHECK(&queue.earliest() == &c);
    queue.arm(b, at(1)); // armed again, so after its equal
    CHECK(&queue.earliest() == &c);
    queue.disarm(c);
    queue.disarm(b);
    CHECK(&queue.earliest() == &a);
    queue.disarm(a);
    CHECK(queue.empty());
}

TEST_CASE("core.timer_queue: agrees with a sorted map after any operations") {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        std::mt19937 random{seed};
        timer_queue queue;
        std::deque<timer> timers;
        for (int i = 0; i < 60; ++i) timers.emplace_back(&ignore);
        std::map<std::pair<mono_time, std::uint64_t>, timer*> model;
        std::map<timer*, std::pair<mono_time, std::uint64_t>> keys;
        std::uint64_t order = 0;
        for (int round = 0; round < 2000; ++round) {
            timer& t = timers[random() % timers.size()];
            if (random() % 4 == 0 && !model.empty()) { // fire the first
                timer& first = queue.earliest();
                queue.disarm(first);
                REQUIRE(model.begin()->second == &first);
                keys.erase(&first);
                model.erase(model.begin());
            } else if (t.is_armed()) {
                queue.disarm(t);
                model.erase(keys.at(&t));
                keys.erase(&t);
            } else {
                auto const due = at(static_cast<int>(random() % 50)); // many are equal
                queue.arm(t, due);
                keys[&t] = {due, order};
                model[{due, order++}] = &t;
            }
            REQUIRE(queue.empty() == model.empty());
            REQUIRE(t.is_armed() == keys.contains(&t));
            if (!model.empty()) REQUIRE(&queue.earliest() == model.begin()->second);
        }
        for (; !model.empty(); model.erase(model.begin())) {
            timer& first = queue.earliest();
            REQUIRE(&first == model.begin()->second);
            queue.disarm(first);
        }
        REQUIRE(queue.empty());
    }
}

#ifndef ELASTICJOB_TEST_SANITIZED
TEST_CASE("core.timer_queue: a timer that gets no memory is not armed, and can be armed later") {
    timer_queue queue;
    timer t{&ignore};
    counted_new::does_next_fail = true;
    CHECK_THROWS_AS(queue.arm(t, at(1)), std::bad_alloc);
    REQUIRE(!t.is_armed()); // otherwise its owner's destructor would remove it from a heap that does not hold it
    CHECK(queue.empty());
    queue.disarm(t);
    queue.arm(t, at(2));
    CHECK(&queue.earliest() == &t);
    queue.disarm(t);
}
#endif
