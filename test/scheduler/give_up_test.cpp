// SPDX-License-Identifier: Apache-2.0
// A body that hangs on a real thread.
#include <elasticjob/elasticjob.hpp>
#include <elasticjob/execution/run_record.hpp>

#include <support/any_policies.hpp>

#include <doctest/doctest.h>

#include <future>
#include <mutex>
#include <semaphore>
#include <string>
#include <vector>

using namespace elasticjob;
using namespace std::chrono_literals;

namespace {

/// Reports the first run that ends.
struct first_end {
    std::promise<error>* end;
    template <class E>
    void operator()(E const&) const {}
    void operator()(events::item_finished const& e) const {
        if (e.run.number == 1) end->set_value(e.failure.value_or(error{}));
    }
};

} // namespace

TEST_CASE("scheduler.give_up: late actions of a run that was given up do not reach its item") {
    std::promise<error> ended;
    std::binary_semaphore hangs{0}, next_has_run{0};
    std::promise<result<void>> saved_late;
    std::promise<stop_reason> asked;
    auto body = [&](sharding_context const& c) -> result<void> {
        if (c.last_checkpoint.empty()) {
            auto saved = c.checkpoint("row 7");
            hangs.acquire();
            asked.set_value(c.why_stop());
            saved_late.set_value(c.checkpoint("row 8"));
            return saved;
        }
        if (c.last_checkpoint == "row 7") next_has_run.release();
        return success();
    };
    MemoryRegistry registry;
    scheduler_options options;
    options.pool.threads = 2;
    {
        test::memory_scheduler<SimpleExecutor> scheduler{registry, options, first_end{&ended}};
        auto job = scheduler.schedule({.name = "settle",
                                       .cron = "0 0 0 1 1 ? 2099",
                                       .give_up_after = 200ms,
                                       .retry = {.attempts_max = 2, .pause = 1ms}},
                                      body);
        REQUIRE(job);
        REQUIRE(job->trigger());
        CHECK(ended.get_future().get() == errc::timed_out);
        REQUIRE(next_has_run.try_acquire_for(20s)); // beside the body that hangs
        hangs.release();
        CHECK(asked.get_future().get() == stop_reason::time_limit);
        auto const late = saved_late.get_future().get();
        REQUIRE_FALSE(late);
        CHECK(late.error() == errc::fenced);
    }
    auto const there = block_on(registry.loop(), registry.get(node_path::parse("/settle/ext/run/0").value()));
    REQUIRE(there);
    auto const record = run_record::parse(there->data).value();
    CHECK(record.checkpoint == "row 7");
    REQUIRE(record.ledger.size() == 2);
    CHECK(record.ledger[0].note.starts_with("timed_out: the run took longer than give_up_after"));
    CHECK(record.ledger[1].outcome == run_outcome::completed);
}
