// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/core/within.hpp>

#include <elasticjob/core/block_on.hpp>
#include <elasticjob/core/virtual_loop.hpp>
#include <elasticjob/core/wait_within.hpp>

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

TEST_CASE("core.wait_within: the longest and the most negative time-out overflow nothing") {
    virtual_loop l;
    l.run_for(1h);
    CHECK(detail::wait_within(l, std::chrono::milliseconds::max(), give(l, 1h)).value() == 7);
    auto const begin = l.now();
    CHECK(detail::wait_within(l, std::chrono::milliseconds::min(), give(l, 1h)).error() == errc::timed_out);
    CHECK(l.now() == begin);
    CHECK(end_of_wait(begin, 7ms) == begin + 7ms);
    CHECK(end_of_wait(begin, std::chrono::milliseconds::max()) == begin + span_max);
}
