// SPDX-License-Identifier: Apache-2.0
// A job that ends itself: in its body, or in an event sink.
#include <elasticjob/execution/coroutine_executor.hpp>
#include <elasticjob/execution/simple_executor.hpp>

#include <support/any_policies.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <optional>
#include <string>
#include <utility>

using namespace elasticjob;
using namespace std::chrono_literals;

namespace {

using scheduler_type = test::memory_scheduler<SimpleExecutor>;
using handle = scheduler_type::handle;

/// A job that fires every second, and whose first run does something with the job's handle.
struct fixture {
    struct sink {
        fixture* self;
        void operator()(events::left const&) const { self->has_left.set_value(); }
        void operator()(events::item_finished const&) const { ++self->finished; }
        void operator()(auto const&) const {}
    };

    template <class F>
    explicit fixture(F f) {
        job_config c;
        c.name = "a";
        c.cron = "0/1 * * * * ?";
        auto scheduled = scheduler.schedule(c, [this, f](sharding_context const& ctx) -> result<void> {
            auto* const own = may_begin.get();
            if (!is_first.exchange(false)) return success();
            returned.set_value(f(*own, ctx));
            return success();
        });
        REQUIRE(scheduled);
        job.emplace(*std::move(scheduled));
        begin.set_value(&job);
    }

    std::promise<std::optional<handle>*> begin;
    std::shared_future<std::optional<handle>*> may_begin{begin.get_future()};
    std::promise<result<void>> returned; ///< by what the body has called
    std::promise<void> has_left;
    std::atomic<bool> is_first{true};
    std::atomic<int> finished{0};
    MemoryRegistry registry;
    scheduler_type scheduler{registry, {}, sink{this}};
    std::optional<handle> job;
};

void check_refused(result<void> const& r) {
    REQUIRE_FALSE(r);
    CHECK(r.error() == errc::wrong_thread);
    CHECK(to_string(r.error()).find("leave()") != std::string::npos);
}

} // namespace

TEST_CASE("scheduler.job: shutdown in the job's own body is refused, and the handle keeps its job") {
    fixture f{[](std::optional<handle>& job, sharding_context const&) { return job->shutdown(); }};
    check_refused(f.returned.get_future().get());
    CHECK(f.job->wait_idle()); // the job goes on
    CHECK(f.job->shutdown());
    f.has_left.get_future().wait();
    CHECK(f.job->trigger().error() == errc::closed);
}

TEST_CASE("scheduler.job: shutdown on a thread that works for a coroutine body is refused") {
    using coroutines = test::memory_scheduler<CoroutineExecutor>;
    MemoryRegistry registry;
    coroutines scheduler{registry, {}, NoEvents{}};
    std::promise<coroutines::handle*> begin;
    auto const own = begin.get_future().share();
    std::promise<result<void>> returned;
    std::atomic<bool> is_first{true};
    auto job = scheduler.schedule({.name = "a", .cron = "0/1 * * * * ?"}, [&](auto const& run) -> task<result<void>> {
        co_return co_await run.on_pool([&] {
            if (is_first.exchange(false)) returned.set_value(own.get()->shutdown());
        });
    });
    REQUIRE(job);
    begin.set_value(&*job);
    check_refused(returned.get_future().get());
}

TEST_CASE("scheduler.job: waiting for idleness in the job's own body is refused") {
    fixture f{[](std::optional<handle>& job, sharding_context const&) { return job->wait_idle(); }};
    check_refused(f.returned.get_future().get());
}

TEST_CASE("scheduler.job: a body may have the job leave, and the job leaves when the body has returned") {
    fixture f{[](std::optional<handle>& job, sharding_context const&) { return job->leave(); }};
    CHECK(f.returned.get_future().get());
    f.has_left.get_future().wait();
    CHECK(f.finished == 1);
    CHECK(f.job->trigger().error() == errc::closed);
    CHECK(f.job->shutdown());
    CHECK(f.job->leave().error() == errc::closed);
}

TEST_CASE("scheduler.job: a body may request this through its context") {
    fixture f{[](std::optional<handle>&, sharding_context const& ctx) -> result<void> {
        ctx.leave_job();
        return success();
    }};
    f.has_left.get_future().wait();
    CHECK(f.finished == 1);
}

TEST_CASE("scheduler.job: a handle that is destroyed in the job's own body has the job leave, and its name is free again") {
    fixture f{[](std::optional<handle>& job, sharding_context const&) -> result<void> {
        job.reset();
        return success();
    }};
    f.has_left.get_future().wait();
    CHECK(f.finished == 1);
    job_config again;
    again.name = "a";
    again.cron = "0 0 0 1 1 ? 2099";
    // The name is given back on the loop, right after the report that the job has left.
    for (;;) {
        auto const scheduled = f.scheduler.schedule(again, [](sharding_context const&) {});
        if (!scheduled) REQUIRE(scheduled.error() == errc::job_conflict);
        if (scheduled) break;
    }
}

TEST_CASE("scheduler.job: two shutdowns at once both wait for the job's end") {
    std::promise<void> has_begun, may_end;
    auto const is_over = may_end.get_future().share();
    fixture f{[is_over, &has_begun](std::optional<handle>&, sharding_context const&) -> result<void> {
        has_begun.set_value();
        is_over.wait();
        return success();
    }};
    has_begun.get_future().wait();
    auto const stop = [&] {
        auto const r = f.job->shutdown();
        return r && f.finished > 0;
    };
    auto one = std::async(std::launch::async, stop), two = std::async(std::launch::async, stop);
    // Until the job leaves; it cannot have left.
    while (f.job->trigger()) {}
    may_end.set_value();
    CHECK(one.get());
    CHECK(two.get());
}
