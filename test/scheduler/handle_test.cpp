// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/scheduler/job_scheduler.hpp>

#include <elasticjob/allocation/average.hpp>
#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/config/schedule_text.hpp>
#include <elasticjob/core/start_on.hpp>
#include <elasticjob/execution/simple_executor.hpp>
#include <elasticjob/registry/memory_registry.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <semaphore>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using namespace elasticjob;
using namespace std::chrono_literals;

namespace {

using scheduler_type = job_scheduler<MemoryRegistry, AverageAllocation, SimpleExecutor>;
using items = std::vector<item_index>;

static_assert(std::is_same_v<handle_on<MemoryRegistry>, scheduler_type::handle>);

constexpr char const* never = "0 0 0 1 1 ? 2099";
wall_time const year_2099{4'070'908'800s};

job_config make_job(std::string name, int count = 3) {
    return {.name = std::move(name), .cron = never, .sharding_total_count = count, .time_zone = "Etc/UTC"};
}

std::string data_of(MemoryRegistry& r, std::string const& path) {
    auto const node = block_on(r.loop(), r.get(node_path::parse(path).value()));
    return node ? node->data : "(absent)";
}

/// Each look is a call on the loop, and the loop does its other work in between.
template <class Condition>
bool comes_true(Condition condition) {
    for (auto const end = std::chrono::steady_clock::now() + 30s; std::chrono::steady_clock::now() < end;)
        if (condition()) return true;
    return false;
}

bool owns(scheduler_type::handle const& job, items const& expected) {
    return comes_true([&] { return job.status().value().items == expected; });
}

} // namespace

TEST_CASE("scheduler.handle: status reports what the instance knows of the job") {
    MemoryRegistry registry;
    scheduler_type scheduler{registry};
    std::counting_semaphore<> begun{0}, may_end{0};
    auto job = scheduler.schedule(make_job("settle"), [&] {
        begun.release();
        may_end.acquire();
    });
    REQUIRE(job);
    REQUIRE(owns(*job, {0, 1, 2}));
    auto status = job->status();
    REQUIRE(status);
    CHECK(status->job == "settle");
    CHECK(status->instance.find("@-@") != std::string::npos);
    CHECK(status->state == job_state::active);
    CHECK(status->is_leader);
    CHECK(status->running.empty());
    CHECK(status->next_due == year_2099);

    REQUIRE(job->trigger());
    for (int i = 0; i < 3; ++i) begun.acquire();
    CHECK(job->status()->running == items{0, 1, 2});
    may_end.release(3);
    REQUIRE(job->wait_idle());
    CHECK(job->status()->running.empty());

    REQUIRE(job->disable());
    CHECK(comes_true([&] { return job->status()->state == job_state::disabled; }));
    REQUIRE(job->shutdown());
    CHECK(job->status().error() == errc::closed);
}

TEST_CASE("scheduler.handle: reschedule writes another schedule for all members, and nothing else") {
    MemoryRegistry registry;
    scheduler_type scheduler{registry}, other{registry};
    std::counting_semaphore<> ran{0};
    auto config = make_job("settle", 1);
    config.description = "as it was";
    auto job = scheduler.schedule(config, [&] { ran.release(); });
    auto peer = other.schedule(config, [&] { ran.release(); });
    REQUIRE(job);
    REQUIRE(peer);

    CHECK(job->reschedule("0 61 * * * ?").error() == errc::invalid_cron);
    CHECK(job->reschedule("").error() == errc::invalid_cron);
    CHECK(job->reschedule(never, {job_schedule::after_job("settle")}).error() == errc::invalid_config);
    CHECK(from_json(data_of(registry, "/settle/config")).value()->cron == never);

    REQUIRE(job->reschedule("0 30 6 1 1 ? 2098", {job_schedule::once_at(year_2099 + 1s)}));
    auto const stored = from_json(data_of(registry, "/settle/config")).value();
    CHECK(stored->cron == "0 30 6 1 1 ? 2098");
    CHECK(stored->description == "as it was");
    auto const schedule = data_of(registry, "/settle/ext/schedule");
    CHECK(with_schedule_text({}, schedule)->schedules == std::vector{job_schedule::once_at(year_2099 + 1s)});
    CHECK(with_schedule_text({}, schedule)->time_zone == "Etc/UTC");
    wall_time const in_2098{4'039'396'200s};
    for (auto const* h : {&*job, &*peer}) CHECK(comes_true([&] { return h->status()->next_due == in_2098; }));

    REQUIRE(job->reschedule("* * * * * ?"));
    CHECK(with_schedule_text({}, data_of(registry, "/settle/ext/schedule"))->schedules.empty());
    CHECK(ran.try_acquire_for(30s));
    REQUIRE(job->reschedule("@yearly"));
    CHECK(from_json(data_of(registry, "/settle/config")).value()->cron == "0 0 0 1 1 ?");
    REQUIRE(job->shutdown());
    CHECK(job->reschedule(never).error() == errc::closed);
}

TEST_CASE("scheduler.handle: asynchronous calls run on the loop, and no caller waits") {
    MemoryRegistry registry;
    scheduler_type scheduler{registry};
    std::counting_semaphore<> ran{0};
    std::promise<result<scheduler_type::handle>> made;
    std::atomic<bool> was_on_loop = false;
    start_on(registry.loop(), scheduler.async_schedule(make_job("settle", 2), [&] { ran.release(); }), [&](auto job) {
        was_on_loop = registry.loop().on_loop();
        made.set_value(std::move(job));
    });
    auto job = made.get_future().get();
    REQUIRE(job);
    CHECK(was_on_loop);

    std::promise<result<void>> triggered;
    start_on(registry.loop(), job->async_trigger(), [&](result<void> r) { triggered.set_value(std::move(r)); });
    REQUIRE(triggered.get_future().get());
    for (int i = 0; i < 2; ++i) CHECK(ran.try_acquire_for(30s));

    std::promise<result<void>> rescheduled;
    start_on(registry.loop(), job->async_reschedule("0 0 0 1 1 ? 2098"),
             [&](result<void> r) { rescheduled.set_value(std::move(r)); });
    REQUIRE(rescheduled.get_future().get());

    std::promise<result<scheduler_type::handle>> refused;
    start_on(registry.loop(), scheduler.async_schedule({.name = "a/b"}, [] {}),
             [&](auto r) { refused.set_value(std::move(r)); });
    CHECK(refused.get_future().get().error() == errc::invalid_config);

    REQUIRE(job->shutdown());
    std::promise<result<void>> closed;
    start_on(registry.loop(), job->async_trigger(), [&](result<void> r) { closed.set_value(std::move(r)); });
    CHECK(closed.get_future().get().error() == errc::closed);
}

TEST_CASE("scheduler.job_scheduler: its jobs are listed, paused, disabled, and brought back") {
    MemoryRegistry registry;
    scheduler_type scheduler{registry};
    CHECK(scheduler.jobs()->empty());
    REQUIRE(scheduler.pause_all());
    auto one = scheduler.schedule(make_job("one", 1), [] {});
    auto two = scheduler.schedule(make_job("two", 2), [] {});
    REQUIRE(one);
    REQUIRE(two);
    auto const all = [&](job_state state) {
        auto const jobs = scheduler.jobs().value();
        REQUIRE(jobs.size() == 2);
        CHECK(jobs[0].job == "one");
        CHECK(jobs[1].job == "two");
        return jobs[0].state == state && jobs[1].state == state;
    };
    CHECK(all(job_state::active));
    REQUIRE(scheduler.pause_all());
    CHECK(comes_true([&] { return all(job_state::paused); }));
    REQUIRE(scheduler.pause_all()); // no change
    REQUIRE(scheduler.disable_all());
    CHECK(comes_true([&] { return all(job_state::disabled); }));
    REQUIRE(scheduler.enable_all());
    CHECK(comes_true([&] { return all(job_state::paused); })); // still
    REQUIRE(one->resume());
    CHECK(comes_true([&] { return one->status()->state == job_state::active; }));
    REQUIRE(scheduler.resume_all());
    CHECK(comes_true([&] { return all(job_state::active); }));
    REQUIRE(one->shutdown());
    CHECK(scheduler.jobs()->size() == 1);
}
