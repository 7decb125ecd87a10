// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/execution/progress_mailbox.hpp>

#include <doctest/doctest.h>

#include <chrono>

using namespace elasticjob;

TEST_CASE("execution.progress_mailbox: the loop is called once, and only the latest counts") {
    detail::progress_mailbox box;
    run_progress seen;
    CHECK(box.put(1, 100));
    CHECK_FALSE(box.put(2, 100));
    CHECK_FALSE(box.put(3, 90));
    CHECK(box.take(seen));
    CHECK(seen == run_progress{3, 90});
    CHECK_FALSE(box.put(4, 90)); // the loop comes back by itself
    CHECK(box.take(seen));
    CHECK(seen == run_progress{4, 90});
    CHECK_FALSE(box.take(seen));
    CHECK(seen == run_progress{4, 90});
    CHECK(box.put(5, 90)); // it did not: there was nothing new
}

TEST_CASE("execution.progress_mailbox: closing takes the remaining report, and lets nothing in") {
    detail::progress_mailbox box;
    run_progress seen;
    CHECK(box.put(1, 2));
    CHECK(box.close(seen));
    CHECK(seen == run_progress{1, 2});
    CHECK_FALSE(box.put(2, 2));
    CHECK_FALSE(box.take(seen));
    detail::progress_mailbox unused;
    CHECK_FALSE(unused.close(seen));
}

TEST_CASE("execution.progress_mailbox: a run reports once a second, and a job a hundred times") {
    using namespace std::chrono_literals;
    mono_time const now{5s};
    for (auto const few : {0u, 1u, 100u}) CHECK(detail::progress_mailbox::next_look(now, few) == mono_time{6s});
    CHECK(detail::progress_mailbox::next_look(now, 101) == mono_time{6s + 10ms});
    CHECK(detail::progress_mailbox::next_look(now, 10'000) == mono_time{105s});
}
