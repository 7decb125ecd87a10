// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/core/reactions.hpp>

#include <elasticjob/core/virtual_loop.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <string>
#include <utility>

using namespace elasticjob;
using namespace std::chrono_literals;

namespace {

auto const never = mono_time::max();

/// Two parts that write down each of their steps. What a step does can be set.
struct two_parts {
    enum class part { first, second };
    using plan = std::function<next_step()>;

    explicit two_parts(virtual_loop& l) : loop{l}, news{l}, parts{news, *this} {}

    next_step step(part which) {
        steps += which == part::first ? '1' : '2';
        auto const& chosen = which == part::first ? first : second;
        return chosen ? chosen() : next_step{};
    }

    /// The steps since the last call.
    std::string taken() { return std::exchange(steps, {}); }

    virtual_loop& loop;
    event_count<virtual_loop> news;
    std::string steps;
    plan first, second;
    reactions<virtual_loop, two_parts, part, part::second> parts;
};

task<mono_time> act(virtual_loop& loop, mono_time end, mono_time again, bool* is_over = nullptr) {
    if (end > loop.now()) co_await sleep_until(loop, end);
    if (is_over) *is_over = true;
    co_return again;
}

} // namespace

TEST_CASE("core.reactions: each part takes a step at the beginning and after a change, in order") {
    virtual_loop loop;
    two_parts two{loop};
    two.parts.begin();
    CHECK(two.taken() == "12");
    loop.run_for(1h);
    CHECK(two.taken().empty());
    two.news.notify();
    two.news.notify();
    CHECK(two.taken().empty()); // the notifier finishes its own step first
    loop.run_for(0s);
    CHECK(two.taken() == "12");
}

TEST_CASE("core.reactions: a part is called at its time, and the others are not") {
    virtual_loop loop;
    two_parts two{loop};
    auto const begin = loop.now();
    two.second = [&] { return loop.now() < begin + 25s ? loop.now() + 10s : never; };
    two.parts.begin();
    CHECK(two.taken() == "12");
    loop.run_for(1h);
    CHECK(two.taken() == "222");
    CHECK(two.news.edition() == 1);
}

TEST_CASE("core.reactions: a change during a step leads to one more step of the parts before it") {
    virtual_loop loop;
    two_parts two{loop};
    int changes = 1;
    two.second = [&] {
        if (changes-- > 0) two.news.notify();
        return never;
    };
    two.parts.begin();
    loop.run_for(1s);
    CHECK(two.taken() == "1212"); // its own step began before the change
}

TEST_CASE("core.reactions: a part that acts is not called, and learns afterwards of changes") {
    virtual_loop loop;
    two_parts two{loop};
    auto const begin = loop.now();
    bool has_acted = false;
    two.first = [&]() -> next_step {
        if (std::exchange(has_acted, true)) return never;
        return act(loop, begin + 10s, never);
    };
    two.parts.begin();
    SUBCASE("without a change it waits") {
        loop.run_for(1h);
        CHECK(two.taken() == "12");
    }
    SUBCASE("a change during the action") {
        CHECK(two.taken() == "12");
        two.news.notify();
        loop.run_for(5s);
        CHECK(two.taken() == "2");
        loop.run_for(10s);
        CHECK(two.taken() == "1");
    }
}

TEST_CASE("core.reactions: an action returns the time of the next step") {
    virtual_loop loop;
    two_parts two{loop};
    auto const begin = loop.now();
    auto end = begin;
    SUBCASE("an action that waits") { end = begin + 1s; }
    SUBCASE("an action that ends at once") {}
    two.first = [&]() -> next_step {
        if (loop.now() > end) return never;
        return act(loop, end, begin + 10s);
    };
    two.parts.begin();
    loop.run_for(9s);
    CHECK(two.taken() == "12");
    loop.run_for(1s);
    CHECK(two.taken() == "1");
    loop.run_for(1h);
    CHECK(two.taken().empty());
}

TEST_CASE("core.reactions: after the stop no part is called, and no action goes on") {
    virtual_loop loop;
    two_parts two{loop};
    bool is_over = false;
    two.first = [&]() -> next_step { return act(loop, loop.now() + 1s, never, &is_over); };
    two.second = [&] { return loop.now() + 2s; };
    two.parts.begin();
    two.news.notify();
    two.parts.stop();
    CHECK(two.taken() == "12");
    two.news.notify();
    loop.run_for(1h);
    CHECK(two.taken().empty());
    CHECK_FALSE(is_over);
}
