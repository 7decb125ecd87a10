// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/execution/once_latch.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;
using namespace elasticjob::detail;
using namespace std::chrono_literals;

namespace {

using indices = std::vector<item_index>;
using names = std::vector<std::string>;

struct latch_world {
    once_latch latch;
    std::vector<latch_item> ours{{0}, {1}};
    std::optional<names> there{};
    bool is_used = true;
    mono_time now{1h};

    once_latch::step next() { return latch.next(ours, 4, there, is_used, now, 30s); }
    /// Carries the step out.
    once_latch::step act() {
        auto const s = next();
        latch.done(ours, s);
        if (!s.registered.empty() && !there) there.emplace();
        for (auto const i : s.registered) there->push_back(std::to_string(i));
        for (auto const i : s.withdrawn) std::erase(*there, std::to_string(i));
        if (!s.all.empty()) there.reset();
        return s;
    }
};

} // namespace

TEST_CASE("execution.once_latch: items are registered before the round, and those that run not as completed") {
    latch_world started{once_latch{once_latch::stage::started}};
    started.is_used = false;
    CHECK(started.next().is_empty());
    started.is_used = true;
    CHECK(started.act().registered == indices{0, 1});
    CHECK(started.act().is_empty());

    latch_world completed{once_latch{once_latch::stage::completed}};
    CHECK(completed.act().is_empty()); // nothing has run
    completed.ours[0].is_running = true;
    completed.ours[0].begun = wall_time{5s};
    CHECK(completed.act().is_empty());
    completed.there = names{"2"}; // a Java member's item has ended, and item 1 had nothing to do
    CHECK(completed.act().registered == indices{1});
    completed.ours[0].is_running = false;
    CHECK(completed.act().registered == indices{0});
    completed.there.reset();
    CHECK(completed.act().is_empty()); // the same run does not count twice
    completed.ours[0].begun = wall_time{65s};
    CHECK(completed.act().registered == indices{0});
}

TEST_CASE("execution.once_latch: the last one to register opens the latch; another opener has time for its hook") {
    latch_world w{once_latch{once_latch::stage::started}};
    w.there = names{"2", "3"};
    auto const last = w.act();
    CHECK(last.registered == indices{0, 1});
    CHECK(last.all == names{"2", "3", "0", "1"});

    REQUIRE(w.act().registered == indices{0, 1});
    w.there->insert(w.there->end(), {"2", "3"});
    CHECK(w.act().is_empty());
    CHECK(w.latch.look_again() == w.now + 30s);
    w.now += 29s;
    CHECK(w.act().is_empty());
    w.now += 1s;
    CHECK(w.act().all == names{"0", "1", "2", "3"});
    CHECK(w.latch.look_again() == mono_time::max());
}

TEST_CASE("execution.once_latch: nothing is registered while the latch is being removed") {
    latch_world w{once_latch{once_latch::stage::started}};
    w.act();
    w.there = names{"1", "2", "3"};
    CHECK(w.next().is_empty());
    w.now += 900ms;
    w.there = names{"3"};
    CHECK(w.next().is_empty());
    CHECK(w.latch.look_again() == w.now + 100ms);
    w.there.reset();
    CHECK(w.act().registered == indices{0, 1});

    w.there = names{"1"}; // an operator has removed one
    CHECK(w.next().is_empty());
    w.now += 1s;
    CHECK(w.act().registered == indices{0});
}

TEST_CASE("execution.once_latch: registrations of an item that goes to another instance are withdrawn, and a job "
          "without Java items has no latch") {
    latch_world w{once_latch{once_latch::stage::started}};
    w.act();
    w.ours = {{0}};
    CHECK(w.act().withdrawn == indices{1});
    CHECK(w.act().is_empty());
    w.ours = {{0}, {1}, {2}, {3}};
    CHECK(w.act().is_empty());
}
