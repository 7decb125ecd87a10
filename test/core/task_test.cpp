// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/core/task.hpp>

#include <elasticjob/core/block_on.hpp>
#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/virtual_loop.hpp>

#include <core/counted.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

using namespace elasticjob;
using test::counted;

static_assert(!std::is_copy_constructible_v<task<>> && std::is_nothrow_move_constructible_v<task<>>);
static_assert(!std::is_default_constructible_v<task<>>);

namespace {

using waits = event_count<virtual_loop>;

task<int> note(int& starts, int value) {
    ++starts;
    co_return value;
}

task<std::unique_ptr<int>> give(std::unique_ptr<int> p) { co_return std::move(p); }

task<int> fall(int depth) {
    counted const here;
    if (depth == 0) throw std::runtime_error{"at the bottom"};
    auto const below = co_await fall(depth - 1);
    co_return below + 1;
}

task<int> sum_below(int depth) {
    if (depth == 0) co_return 0;
    auto const below = co_await sum_below(depth - 1);
    co_return below + depth;
}

task<> wait_at_the_bottom(waits& s, int depth, counted parameter) {
    counted const local;
    if (depth == 0)
        co_await s.newer_than(s.edition());
    else
        co_await wait_at_the_bottom(s, depth - 1, counted{});
    (void)parameter;
}

task<> note_end(task<> inner, bool& ended) {
    co_await std::move(inner);
    ended = true;
}

task<> collect(task<int> inner, std::optional<int>& value, std::string& failure) {
    try {
        value = co_await std::move(inner);
    } catch (std::exception const& e) {
        failure = e.what();
    }
}

task<> finish_at_once(counted) { co_return; }

task<> spawn_another(task_scope& scope, waits& s, int depth) {
    if (depth > 0) scope.spawn(spawn_another(scope, s, depth - 1));
    co_await s.newer_than(s.edition());
}

} // namespace

TEST_CASE("core.task: does nothing until it is awaited") {
    int starts = 0;
    {
        auto const unawaited = note(starts, 1);
        CHECK(starts == 0);
    }
    CHECK(starts == 0);
    std::optional<int> value;
    std::string failure;
    auto both = collect(note(starts, 7), value, failure);
    CHECK(starts == 0);
    task_scope scope;
    scope.spawn(std::move(both));
    CHECK(starts == 1);
    CHECK(value == 7);
    CHECK(failure.empty());
}

TEST_CASE("core.task: destroying a task that has never started destroys its parameters") {
    auto const before = counted::alive();
    {
        auto const unawaited = finish_at_once(counted{});
        CHECK(counted::alive() == before + 1);
    }
    CHECK(counted::alive() == before);
}

TEST_CASE("core.task: can be moved, and swaps on assignment") {
    int starts = 0;
    auto a = note(starts, 1);
    auto b = note(starts, 2);
    a = std::move(b);
    auto c = std::move(a);
    std::optional<int> value;
    std::string failure;
    task_scope scope;
    scope.spawn(collect(std::move(c), value, failure));
    CHECK(value == 2);
    CHECK(starts == 1);
}

TEST_CASE("core.task: passes on move-only values") {
    std::optional<int> value;
    std::string failure;
    auto read = [](task<std::unique_ptr<int>> inner) -> task<int> {
        auto const p = co_await std::move(inner);
        co_return *p;
    };
    task_scope scope;
    scope.spawn(collect(read(give(std::make_unique<int>(9))), value, failure));
    CHECK(value == 9);
}

TEST_CASE("core.task: passes values and exceptions up through any number of levels") {
    auto const before = counted::alive();
    std::optional<int> value;
    std::string failure;
    task_scope scope;
    scope.spawn(collect(sum_below(200), value, failure));
    CHECK(value == 20100);
    value.reset();
    scope.spawn(collect(fall(200), value, failure));
    CHECK(!value);
    CHECK(failure == "at the bottom");
    CHECK(counted::alive() == before);
    CHECK(scope.empty());
}

TEST_CASE("core.task: destroying a suspended chain destroys every frame and its wait") {
    virtual_loop loop;
    waits s{loop};
    auto const before = counted::alive();
    bool ended = false;
    {
        task_scope scope;
        scope.spawn(note_end(wait_at_the_bottom(s, 10, counted{}), ended));
        CHECK(!scope.empty());
        CHECK(counted::alive() >= before + 22);
    }
    CHECK(counted::alive() == before);
    s.notify(); // no task waits any more
    CHECK(!loop.step());
    CHECK(!ended);
}

TEST_CASE("core.task: a resumed chain ends, and leaves nothing behind") {
    virtual_loop loop;
    waits s{loop};
    auto const before = counted::alive();
    bool ended = false;
    task_scope scope;
    scope.spawn(note_end(wait_at_the_bottom(s, 10, counted{}), ended));
    s.notify();
    CHECK(!ended); // the notifying code finishes first
    loop.run_ready();
    CHECK(ended);
    CHECK(scope.empty());
    CHECK(counted::alive() == before);
}

TEST_CASE("core.task_scope: a task that ends at once does not stay in the scope") {
    auto const before = counted::alive();
    task_scope scope;
    scope.spawn(finish_at_once(counted{}));
    CHECK(scope.empty());
    CHECK(counted::alive() == before);
}

TEST_CASE("core.task_scope: cancel destroys all unfinished tasks, and the scope stays usable") {
    virtual_loop loop;
    waits s{loop};
    auto const before = counted::alive();
    int ends = 0;
    auto run = [](waits& w, int& count, counted) -> task<> {
        co_await w.newer_than(w.edition());
        ++count;
    };
    task_scope scope;
    for (int i = 0; i < 5; ++i) scope.spawn(run(s, ends, counted{}));
    scope.cancel();
    CHECK(scope.empty());
    CHECK(counted::alive() == before);
    scope.cancel(); // no effect
    scope.spawn(run(s, ends, counted{}));
    CHECK(!scope.empty());
    s.notify();
    loop.run_ready();
    CHECK(ends == 1);
    CHECK(scope.empty());
}

TEST_CASE("core.task_scope: its tasks may spawn more into it") {
    virtual_loop loop;
    waits s{loop};
    task_scope scope;
    scope.spawn(spawn_another(scope, s, 5));
    CHECK(!scope.empty());
    s.notify();
    loop.run_ready();
    CHECK(scope.empty());
    scope.spawn(spawn_another(scope, s, 5));
    scope.cancel();
    CHECK(scope.empty());
}

TEST_CASE("core.task_scope: a task of one scope may cancel another task between any two of its waits") {
    virtual_loop loop;
    waits s{loop};
    auto const before = counted::alive();
    bool ended = false;
    task_scope victim, scope;
    auto cancel = [](waits& w, task_scope& v) -> task<> {
        co_await w.newer_than(w.edition());
        v.cancel();
    };
    scope.spawn(cancel(s, victim));
    victim.spawn(note_end(wait_at_the_bottom(s, 3, counted{}), ended));
    s.notify(); // wakes both; the first cancels the second, which is already posted
    loop.run_ready();
    CHECK(!ended);
    CHECK(victim.empty());
    CHECK(counted::alive() == before);
}
