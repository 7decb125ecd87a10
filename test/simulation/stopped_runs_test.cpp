// SPDX-License-Identifier: Apache-2.0
// Runs that fail only because they were asked to stop, under whatever a seed does to their clusters: another run
// continues them.
#include <elasticjob/execution/coroutine_executor.hpp>

#include <simulation/seeds.hpp>
#include <elasticjob/testing/simulation.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace elasticjob::testing;
using namespace std::chrono_literals;

namespace {

struct until_stopped {
    task<result<void>> operator()(coroutine_context<node_loop> const& run) const {
        bool const goes_on = co_await run.sleep_for(3s);
        if (!goes_on) co_return error{errc::job_failed, "stopped"};
        co_return success();
    }
};

/// As long as failover is on.
class nothing_fails_for_good {
public:
    static constexpr std::string_view name = "nothing that was stopped fails for good";

    explicit nothing_fails_for_good(std::uint64_t& taken_up) : taken_up_{taken_up} {}

    std::string changed(tree_event const& e, cluster_view const& v) {
        auto const& job = v.jobs.front();
        if (e.path.ends_with("/config")) {
            auto const config = from_json(v.data(cluster_view::layout(job).config()));
            was_off_ |= config && *config && !(*config)->failover;
        }
        auto const place = testing::detail::record_place_of(e.path);
        if (e.kind != watch_kind::data || !place) return {};
        auto const item = place->item;
        auto const record = testing::detail::record_of(v, job, item);
        if (!record) return {};
        taken_up_ += record->retry.has_value();
        auto const is_bad = [](run_entry const& letter) {
            return letter.outcome == run_outcome::failed && letter.note == "job_failed: stopped";
        };
        auto const bad = std::find_if(record->dead_letters.begin(), record->dead_letters.end(), is_bad);
        if (was_off_ || bad == record->dead_letters.end()) return {};
        return testing::detail::item_text(job, item) + " has a dead letter: " + bad->note;
    }

private:
    std::uint64_t& taken_up_;
    bool was_off_ = false;
};

std::uint64_t taken_up = 0; // in all seeds

std::unique_ptr<simulation<>> build(std::uint64_t seed) {
    random_source random{seed * 49'979'687};
    simulation_options o;
    o.scheduler.drain_timeout = 1s;
    auto s = std::make_unique<simulation<>>(seed, o);
    job_config c;
    c.name = "settle";
    c.cron = "0/5 * * * * ?";
    c.sharding_total_count = static_cast<int>(1 + random.next() % 5);
    c.failover = true;
    s->add_job<CoroutineExecutor>(c, until_stopped{});
    s->add_invariant(nothing_fails_for_good{taken_up});
    s->add_nodes(static_cast<std::uint32_t>(3 + random.next() % 2));
    return s;
}

} // namespace

TEST_CASE(
    "testing.simulation: a run that fails only because it is stopped never fails for good, whatever a seed does") {
    taken_up = 0;
    auto const found = explored(seeds(50), &build);
    if (!is_replay()) CHECK(taken_up > found.seeds);
}
