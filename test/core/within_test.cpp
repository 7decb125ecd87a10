// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/core/within.hpp>

#include <elasticjob/core/block_on.hpp>
#include <elasticjob/core/virtual_loop.hpp>

#include <doctest/doctest.h>

#include <chrono>

using namespace elasticjob;
using namespace std::chrono_literals;

namespace {

task<result<int>> give(virtual_loop& l, std::chrono::milliseconds after) {
    co_await sleep_until(l, l.now() + after);
    co_return 7;
}

task<result<int>> refuse() { co_return error{errc::no_node, "none"}; }

} // namespace

TEST_CASE("core.within: gives a result that comes in time, errors too") {
    virtual_loop l;
    CHECK(block_on(l, within(l, l.now() + 10ms, give(l, 9ms))).value() == 7);
    CHECK(block_on(l, within(l, l.now() + 10ms, refuse())).error() == errc::no_node);
}

TEST_CASE("core.within: gives up at the deadline, and the task is gone") {
    virtual_loop l;
    auto const begin = l.now();
    auto const outcome = block_on(l, within(l, l.now() + 10ms, give(l, 1h)));
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error() == errc::timed_out);
    CHECK(l.now() - begin == 10ms);
    CHECK_FALSE(l.step()); // its timer is gone
}
