// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/scheduler/job_scheduler.hpp>

#include <elasticjob/allocation/average.hpp>
#include <elasticjob/execution/simple_executor.hpp>
#include <elasticjob/registry/memory_registry.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <vector>

using namespace elasticjob;
using namespace std::chrono_literals;

namespace {

/// The calls, in order.
struct diary {
    std::mutex mutex;
    std::vector<std::string> lines;
    std::vector<failed_run> failures;
    bool handler_throws = false, stops_job = false;
    std::counting_semaphore<> finished{0}, left{0}, has_all{0};

    void note(std::string line) {
        std::lock_guard const lock{mutex};
        lines.push_back(std::move(line));
    }
};

struct diary_sink {
    std::shared_ptr<diary> into;
    template <class E>
    void operator()(E const&) const {}
    void operator()(events::trouble const& e) const { into->note("trouble " + e.what.what); }
    void operator()(events::item_finished const& e) const {
        into->note(e.failure ? "failed" : "succeeded");
        into->finished.release();
    }
    void operator()(events::share_changed const& e) const {
        if (e.items.size() == 2) into->has_all.release();
    }
    void operator()(events::left const&) const { into->left.release(); }
};

struct keep_failure {
    std::shared_ptr<diary> into;
    void operator()(failed_run const& run) const {
        into->note("handler " + run.failure.what);
        std::lock_guard const lock{into->mutex};
        into->failures.push_back(run);
    }
};

struct throw_if_asked {
    std::shared_ptr<diary> into;
    void operator()(failed_run const&) const {
        if (into->handler_throws) throw std::runtime_error{"no line"};
    }
};

struct unless_asked {
    std::shared_ptr<diary> into;
    bool operator()(failed_run const&) const { return !into->stops_job; }
};

struct hear_after {
    std::shared_ptr<diary> into;
    void after(sharding_context const&, result<void> const&) const { into->note("after"); }
};

// One type for all tests, because it takes long to compile.
using handlers = ErrorHandlers<throw_if_asked, keep_failure, IgnoreErrors<unless_asked>, StopJob>;
using scheduler_type =
    job_scheduler<MemoryRegistry, AverageAllocation, SimpleExecutor, diary_sink, Listeners<hear_after>, handlers>;

scheduler_type make_scheduler(MemoryRegistry& r, std::shared_ptr<diary> const& d) {
    return scheduler_type{r,
                          {},
                          diary_sink{d},
                          Listeners{hear_after{d}},
                          handlers{throw_if_asked{d}, keep_failure{d}, IgnoreErrors{unless_asked{d}}, StopJob{}}};
}

job_config settle(int items) {
    return {.name = "settle",
            .cron = "0 0 0 1 1 ? 2099",
            .sharding_total_count = items,
            .sharding_item_parameters = "0=Beijing"};
}

/// The diary of one triggered run of a job of one item.
template <class Body>
std::vector<std::string> run_with(std::shared_ptr<diary> const& into, Body body) {
    MemoryRegistry registry;
    {
        auto scheduler = make_scheduler(registry, into);
        auto job = scheduler.schedule(settle(1), std::move(body));
        REQUIRE(job);
        REQUIRE(job->trigger());
        REQUIRE(into->finished.try_acquire_for(60s));
    } // leaves in order, so that all is over
    return into->lines;
}

using lines = std::vector<std::string>;

} // namespace

TEST_CASE("scheduler.error_handlers: a failed run is reported after the listeners, with all that identifies it") {
    auto const d = std::make_shared<diary>();
    sharding_context seen;
    auto const body = [&](sharding_context const& c) -> result<void> {
        seen = c;
        return error{errc::job_failed, "no luck", "here"};
    };
    CHECK(run_with(d, body) == lines{"after", "handler no luck", "failed"});
    REQUIRE(d->failures.size() == 1);
    auto const& run = d->failures.front();
    CHECK(run.job == "settle");
    CHECK(run.item == 0);
    CHECK(run.task_id == seen.task_id);
    CHECK(run.parameter == "Beijing");
    CHECK(run.due == seen.due);
    CHECK(run.source == run_source::trigger);
    CHECK(run.attempt == 1);
    CHECK(run.token == seen.token);
    CHECK(run.token != 0);
    CHECK(seen.task_id.ends_with(run.instance.str()));
    CHECK(run.failure == error{errc::job_failed, "no luck", "here"});
    CHECK(run.took >= 0ns);
}

TEST_CASE("scheduler.error_handlers: each attempt is reported, and whether it is the last") {
    auto const d = std::make_shared<diary>();
    MemoryRegistry registry;
    {
        auto scheduler = make_scheduler(registry, d);
        auto config = settle(1);
        config.retry.attempts_max = 2;
        config.retry.pause = 10ms;
        auto job = scheduler.schedule(config, []() -> result<void> { return error{errc::job_failed, "no luck"}; });
        REQUIRE(job);
        REQUIRE(job->trigger());
        for (int n = 0; n < 2; ++n) REQUIRE(d->finished.try_acquire_for(60s));
    }
    REQUIRE(d->failures.size() == 2);
    CHECK(d->failures[0].attempt == 1);
    CHECK(d->failures[0].retry_at.has_value());
    CHECK(d->failures[1].attempt == 2);
    CHECK_FALSE(d->failures[1].retry_at.has_value());
}

TEST_CASE("scheduler.error_handlers: an exception is a failure, and a successful run is none") {
    auto const d = std::make_shared<diary>();
    CHECK(run_with(d, [] { throw std::runtime_error{"paper jam"}; }) == lines{"after", "handler paper jam", "failed"});
    d->lines.clear();
    CHECK(run_with(d, [] {}) == lines{"after", "succeeded"});
}

TEST_CASE(
    "scheduler.error_handlers: a handler that throws is reported as trouble, and the others still receive the run") {
    auto const d = std::make_shared<diary>();
    d->handler_throws = true;
    CHECK(run_with(d, []() -> result<void> {
              return error{errc::job_failed, "no luck"};
          }) == lines{"after", "handler no luck", "trouble no line", "failed"});
}

TEST_CASE("scheduler.error_handlers: StopJob takes this instance out of the job when the run is on record, and other "
          "instances go on") {
    MemoryRegistry registry;
    auto const here = std::make_shared<diary>(), there = std::make_shared<diary>();
    here->stops_job = true;
    auto other = make_scheduler(registry, there);
    auto stops = make_scheduler(registry, here);
    auto const fail = []() -> result<void> { return error{errc::job_failed, "no luck"}; };
    auto job = stops.schedule(settle(2), fail);
    REQUIRE(job);
    REQUIRE(here->has_all.try_acquire_for(60s));
    auto second = other.schedule(settle(2), fail);
    REQUIRE(second);
    REQUIRE(job->trigger());
    REQUIRE(here->left.try_acquire_for(60s));
    REQUIRE(there->has_all.try_acquire_for(60s)); // its own item, and the one that was left
    CHECK(job->trigger().error() == errc::closed);
    CHECK(second->wait_idle()); // it goes on, though its runs have failed, too

    auto const record = job_layout{job_name::parse("settle").value()}.run_record(here->failures.at(0).item);
    auto const there_is = block_on(registry.loop(), registry.get(record));
    REQUIRE(there_is);
    CHECK(there_is->data.find(here->failures[0].instance.str() + " failed ") != std::string::npos);
}

static_assert(detail::fits_a_slot<ErrorHandlers<StopJob>> && !detail::fits_a_slot<StopJob>);
static_assert(std::is_same_v<detail::policy_for<detail::error_handlers_slot, NoEvents>, ErrorHandlers<>>);
static_assert(sizeof(ErrorHandlers<>) == 1);
