// SPDX-License-Identifier: Apache-2.0
// A strategy that leaves items without an owner.
#include <elasticjob/allocation/stored_runs.hpp>
#include <elasticjob/testing/explore.hpp>
#include <elasticjob/testing/simulation.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::testing;

namespace {

/// Up to two items for each instance; the rest wait.
struct AtMostTwo {
    static constexpr std::string_view name = "com.example.AtMostTwo";

    partial_runs operator()(sharding_request const& request) const {
        std::vector<run> runs;
        item_index end = 0;
        for (slot_index slot = 0; slot != request.instance_count() && end != request.item_count; ++slot)
            runs.push_back({end = std::min(end + 2, request.item_count), slot});
        if (!runs.empty() && end != request.item_count) runs.push_back({request.item_count, no_slot});
        return {request.instance_count(), runs};
    }
};

} // namespace

TEST_CASE("simulation: a strategy may leave items without an owner") {
    explore_options options;
    options.seeds = 5;
    auto const found = explore(options, [](std::uint64_t seed) {
        auto cluster = std::make_unique<simulation<AtMostTwo>>(seed);
        job_config const config{
            .name = "settle", .cron = "0/10 * * * * ?", .sharding_total_count = 9, .failover = true};
        cluster->add_job(config, [](sharding_context const&) {});
        cluster->add_nodes(3);
        return cluster;
    });
    CHECK_MESSAGE(found.holds(), found.report);
}
