// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/core/gather.hpp>

#include <elasticjob/core/block_on.hpp>
#include <elasticjob/core/virtual_loop.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <vector>

using namespace elasticjob;
using namespace std::chrono_literals;

namespace {

task<int> give(virtual_loop& l, std::chrono::milliseconds after, int value) {
    if (after > 0ms) co_await sleep_until(l, l.now() + after);
    co_return value;
}

task<result<std::vector<int>>> gather_these(virtual_loop& l, std::vector<std::chrono::milliseconds> pauses) {
    std::vector<task<int>> tasks;
    int value = 0;
    for (auto const pause : pauses) tasks.push_back(give(l, pause, value++));
    co_return co_await gather(l, std::move(tasks));
}

} // namespace

TEST_CASE("core.gather: values come in the order of the tasks, whichever ends first, in the time of the longest") {
    virtual_loop l;
    auto const begin = l.now();
    std::vector<std::chrono::milliseconds> pauses{30ms, 0ms, 10ms, 20ms};
    auto const values = block_on(l, gather_these(l, std::move(pauses)));
    REQUIRE(values);
    CHECK(*values == std::vector{0, 1, 2, 3});
    CHECK(l.now() - begin == 30ms);
}

TEST_CASE("core.gather: gathering no tasks ends at once") {
    virtual_loop l;
    auto const values = block_on(l, gather_these(l, {}));
    REQUIRE(values);
    CHECK(values->empty());
}

TEST_CASE("core.gather: ends with its owner, and its tasks with it") {
    virtual_loop l;
    {
        task_scope scope;
        auto forget = [](task<result<std::vector<int>>> t) -> task<void> { (void)co_await std::move(t); };
        std::vector<std::chrono::milliseconds> pauses{10ms, 20ms};
        scope.spawn(forget(gather_these(l, std::move(pauses))));
        l.run_for(15ms);
        CHECK_FALSE(scope.empty());
    }
    CHECK_FALSE(l.step()); // no timer is left
}
