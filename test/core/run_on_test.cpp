// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/core/run_on.hpp>

#include <elasticjob/core/block_on.hpp>
#include <elasticjob/core/event_loop.hpp>
#include <elasticjob/core/virtual_loop.hpp>

#include <doctest/doctest.h>

#include <thread>
#include <type_traits>

using namespace elasticjob;

namespace {

template <class Pool, class Loop, class F>
task<result<void>> call(Pool& pool, Loop& l, F f) {
    co_return co_await run_on(pool, l, f);
}

/// Keeps the function that it is given, and releases it later.
struct closing_pool {
    bool try_submit(work& w) {
        kept = &w;
        return true;
    }
    work* kept = nullptr;
};

struct full_pool {
    bool try_submit(work&) { return false; }
};

} // namespace

TEST_CASE("core.run_on: runs on a worker, and continues on the loop with the function's result") {
    event_loop l;
    ThreadPool pool{{.threads = 1}};
    auto const caller = std::this_thread::get_id();
    std::thread::id worker;
    CHECK(block_on(l, call(pool, l, [&]() -> result<void> {
                       worker = std::this_thread::get_id();
                       CHECK_FALSE(l.on_loop());
                       return success();
                   })));
    CHECK(worker != caller);
    auto const failed = block_on(l, call(pool, l, []() -> result<void> { return error{errc::job_failed, "no"}; }));
    CHECK(failed.error() == errc::job_failed);
}

TEST_CASE("core.run_on: with the loop's own pool everything stays on the loop") {
    virtual_loop l;
    LoopPool pool{l};
    CHECK(block_on(l, call(pool, l, [&]() -> result<void> {
                       CHECK(l.on_loop());
                       return success();
                   })));
}

TEST_CASE("core.run_on: a full pool refuses the function and does not call it") {
    virtual_loop l;
    full_pool pool;
    bool called = false;
    auto const refused = block_on(l, call(pool, l, [&]() -> result<void> {
                                      called = true;
                                      return success();
                                  }));
    CHECK(refused.error() == errc::overloaded);
    CHECK_FALSE(called);
}

TEST_CASE("core.run_on: a pool that closes first is reported") {
    virtual_loop l;
    closing_pool pool;
    task_scope scope;
    result<void> outcome = success();
    auto wait = [](task<result<void>> t, result<void>& into) -> task<void> { into = co_await std::move(t); };
    scope.spawn(wait(call(pool, l, []() -> result<void> { return success(); }), outcome));
    REQUIRE(pool.kept);
    pool.kept->act(*pool.kept, work_action::discard);
    while (l.step()) {
    }
    CHECK(scope.empty());
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error() == errc::closed);
}
