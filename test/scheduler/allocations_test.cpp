// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/core/block_on.hpp>
#include <elasticjob/execution/run_transactions.hpp>
#include <elasticjob/execution/simple_executor.hpp>
#include <elasticjob/registry/job_layout.hpp>

#include <support/any_policies.hpp>
#include <support/counted_new.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#ifndef ELASTICJOB_TEST_SANITIZED

using namespace elasticjob;
using namespace std::chrono_literals;

namespace {

/// A job on its own virtual cluster, due each second. Its body does nothing.
class empty_job {
public:
    explicit empty_job(item_index items)
        : items_{items},
          job_{scheduler_.schedule({.name = "settle",
                                    .cron = "* * * * * ?",
                                    .sharding_total_count = static_cast<std::int32_t>(items),
                                    .monitor_execution = true},
                                   [](sharding_context const&) {})} {
        REQUIRE(job_);
        loop_.run_for(20'500ms); // afterwards the histories are full
    }

    /// For each run of some seconds.
    double allocations() {
        constexpr int seconds = 10;
        auto const writes = server_.counts().all();
        auto const all = counted_new::calls_of([&] { loop_.run_for(std::chrono::seconds{seconds}); });
        REQUIRE(server_.counts().all() == writes + 2 * seconds); // the transactions that begin and end the runs
        return static_cast<double>(all) / (seconds * items_);
    }

    /// Those of the registry alone, for each run: carries out the transactions of one more second.
    double allocations_of_registry() {
        transaction begin{registry_.session().generation}, end = begin;
        auto const self = instance_id::parse(server_.tree().children(at_.instances()).front()).value();
        begin.check(at_.instance(self));
        for (item_index i = 0; i < items_; ++i) {
            auto const record = *server_.tree().find(at_.run_record(i));
            run_start s;
            s.share.item = i;
            s.record = record.data;
            s.version = record.stat.version;
            detail::add_start(begin, at_, self, s);
            detail::add_end(end, at_, {i, record.data, detail::version_after(s), true});
        }
        return static_cast<double>(allocations_of(std::move(begin)) + allocations_of(std::move(end))) / items_;
    }

private:
    std::size_t allocations_of(transaction t) {
        return counted_new::calls_of([&] {
            auto const done = block_on(loop_, registry_.commit(std::move(t)));
            if (!done || !*done) FAIL("the registry has refused the transaction");
        });
    }

    item_index items_;
    job_layout at_{job_name::parse("settle").value()};
    virtual_loop loop_{wall_time{std::chrono::seconds{1'767'225'600}}};
    basic_memory_server<virtual_loop> server_{loop_};
    test::virtual_registry registry_{server_};
    test::virtual_scheduler<SimpleExecutor> scheduler_{
        registry_, {}, test::any_pool{LoopPool<virtual_loop>{loop_}}, test::any_sink{NoEvents{}}, UtcZone{}};
    result<decltype(scheduler_)::handle> job_;
};

void check_allocations(item_index items, double most_besides_registry) {
    empty_job job{items};
    auto const all = job.allocations();
    auto const of_registry = job.allocations_of_registry();
    INFO("allocations for each of ", items, " runs: ", all, ", of which the registry makes ", of_registry);
    CHECK(all - of_registry <= most_besides_registry);
    CHECK(of_registry > 0);
}

} // namespace

TEST_CASE("scheduler.job_scheduler: an empty monitored run makes at most 60 allocations besides the registry's") {
    check_allocations(100, 60);
}

TEST_CASE(
    "scheduler.job_scheduler: the run of a job's only item makes at most 110 allocations besides the registry's") {
    check_allocations(1, 110);
}

#endif // ELASTICJOB_TEST_SANITIZED
