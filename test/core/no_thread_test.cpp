// SPDX-License-Identifier: Apache-2.0
// The system has no thread left.
#include <elasticjob/core/start_thread.hpp>

#include <elasticjob/core/event_loop.hpp>
#include <elasticjob/core/worker_pool.hpp>

#include <support/limited_threads.hpp>

#include <doctest/doctest.h>

#include <system_error>
#include <thread>

#ifndef ELASTICJOB_TEST_SANITIZED

using namespace elasticjob;

TEST_CASE("core.no_thread: a pool that gets only some of its threads ends them, and throws") {
    for (int count = 0; count < 3; ++count) {
        limited_threads::limit const only{count};
        CHECK_THROWS_AS(ThreadPool{{.threads = 3}}, std::system_error);
    }
    ThreadPool const pool{{.threads = 3}};
    CHECK(pool.size() == 3);
}

TEST_CASE("core.no_thread: a loop without its thread throws") {
    limited_threads::limit const none{0};
    CHECK_THROWS_AS(event_loop{}, std::system_error);
}

TEST_CASE("core.no_thread: functions that start a thread and return a result give an error") {
    limited_threads::limit const none{0};
    auto const started = detail::start_thread([] {});
    REQUIRE(!started);
    CHECK(started.error() == errc::overloaded);
    CHECK(started.error().where == "std::thread");
}

#endif // ELASTICJOB_TEST_SANITIZED
