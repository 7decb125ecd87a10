// SPDX-License-Identifier: Apache-2.0
// Listeners around runs; for rounds see test/simulation/rounds_test.cpp.
#include <elasticjob/scheduler/job_scheduler.hpp>

#include <elasticjob/allocation/average.hpp>
#include <elasticjob/execution/simple_executor.hpp>
#include <elasticjob/registry/memory_registry.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

using namespace elasticjob;

namespace {

/// The calls, in order.
struct diary {
    std::mutex mutex;
    std::vector<std::string> lines;
    void note(std::string line) {
        std::lock_guard const lock{mutex};
        lines.push_back(std::move(line));
    }
};

struct writer {
    std::shared_ptr<diary> into;
    std::string name;
    result<void> failure = success();

    result<void> before(sharding_context const& c) const {
        into->note(name + " before " + std::to_string(c.item));
        return failure;
    }
    void after(sharding_context const&, result<void> const& outcome) const {
        into->note(name + " after " + (outcome ? "ok" : outcome.error().what));
        if (name == "thrower") throw std::runtime_error{"as it wants"};
    }
};

/// Only one of the hooks.
struct only_before {
    std::shared_ptr<diary> into;
    void before(sharding_context const&) const { into->note("only before"); }
};

struct trouble_sink {
    std::shared_ptr<diary> into;
    template <class E>
    void operator()(E const&) const {}
    void operator()(events::trouble const& e) const { into->note("trouble " + e.what.what); }
};

/// The diary of one triggered run of a job of one item. Each list of listeners is a scheduler that takes seconds to
/// compile, so the tests use one.
template <class... Ls>
std::vector<std::string> run_with(std::shared_ptr<diary> const& into, result<void> outcome, Ls... listeners) {
    MemoryRegistry registry;
    {
        job_scheduler<MemoryRegistry, AverageAllocation, SimpleExecutor, trouble_sink, Listeners<Ls...>> scheduler{
            registry, {}, trouble_sink{into}, Listeners<Ls...>{std::move(listeners)...}};
        auto job = scheduler.schedule({.name = "settle", .cron = "0 0 0 1 1 ? 2099"}, [&]() -> result<void> {
            into->note("body");
            return outcome;
        });
        REQUIRE(job);
        REQUIRE(job->trigger());
        for (bool has_run = false; !has_run;) {
            REQUIRE(job->wait_idle());
            std::lock_guard const lock{into->mutex};
            for (auto const& line : into->lines) has_run |= line == "body";
        }
    } // leaves in order, so that all is over
    return into->lines;
}

using lines = std::vector<std::string>;

} // namespace

TEST_CASE("scheduler.listeners: before-hooks run in the order of the pack, after-hooks in reverse order with the "
          "outcome of the run") {
    auto const d = std::make_shared<diary>();
    CHECK(run_with(d, success(), writer{d, "a"}, only_before{d}, writer{d, "b"}) ==
          lines{"a before 0", "only before", "b before 0", "body", "b after ok", "a after ok"});
    d->lines.clear();
    CHECK(run_with(d, error{errc::job_failed, "no luck"}, writer{d, "a"}, only_before{d}, writer{d, "b"}) ==
          lines{"a before 0", "only before", "b before 0", "body", "b after no luck", "a after no luck"});
}

TEST_CASE("scheduler.listeners: a listener that fails or throws is reported as trouble, and hinders neither the others "
          "nor the run") {
    auto const d = std::make_shared<diary>();
    writer const failing{d, "failing", error{errc::job_failed, "not today"}};
    CHECK(run_with(d, success(), failing, only_before{d}, writer{d, "thrower"}) ==
          lines{"failing before 0", "only before", "thrower before 0", "trouble not today", "body", "thrower after ok",
                "failing after ok", "trouble as it wants"});
}

TEST_CASE("scheduler.listeners: if several listeners fail, each is reported") {
    auto const d = std::make_shared<diary>();
    Listeners listeners{writer{d, "thrower", error{errc::job_failed, "not today", "there"}},
                        writer{d, "thrower", error{errc::timed_out, "too slow", "here"}}, only_before{d}};
    auto const before = listeners.before({});
    REQUIRE(!before);
    CHECK(before.error() == errc::job_failed);
    CHECK(before.error().where == "");
    CHECK(before.error().what == "not today (there); then timed_out: too slow (here)");
    auto const after = listeners.after({}, success());
    REQUIRE(!after);
    CHECK(after.error().what == "as it wants; then job_threw: as it wants");
}

static_assert(!job_listener<int>);
static_assert(detail::fits_a_slot<Listeners<writer>> && !Listeners<writer>::hear_rounds);
static_assert(sizeof(Listeners<>) == 1 && !Listeners<>::hear_before && !Listeners<>::hear_after);

namespace {

struct batch_writer {
    std::shared_ptr<diary> into;
    static std::string text(run_batch const& b) {
        std::string t = b.job;
        for (auto const i : b.items) t += " " + std::to_string(i);
        return t;
    }
    result<void> before_batch(run_batch const& b) const {
        into->note("before " + text(b));
        return error{errc::job_failed, "as it wants"};
    }
    void after_batch(run_batch const& b) const {
        into->note("after " + text(b) + (b.task_id.starts_with("settle@-@0,1,2,3@-@READY@-@") ? "" : b.task_id));
    }
};

} // namespace

TEST_CASE("scheduler.listeners: hooks are called once around all items that an instance begins together") {
    auto const into = std::make_shared<diary>();
    MemoryRegistry registry;
    {
        job_scheduler<MemoryRegistry, AverageAllocation, SimpleExecutor, trouble_sink, Listeners<batch_writer>> scheduler{
            registry, {}, trouble_sink{into}, Listeners<batch_writer>{batch_writer{into}}};
        auto job = scheduler.schedule(
            {.name = "settle", .cron = "0 0 0 1 1 ? 2099", .sharding_total_count = 4}, [&] { into->note("body"); });
        REQUIRE(job);
        REQUIRE(job->trigger());
        for (bool has_run = false; !has_run;) {
            REQUIRE(job->wait_idle());
            std::lock_guard const lock{into->mutex};
            for (auto const& line : into->lines) has_run |= line == "body";
        }
    }
    CHECK(into->lines == std::vector<std::string>{"before settle 0 1 2 3", "trouble as it wants", "body", "body", "body",
                                                  "body", "after settle 0 1 2 3"});
}
