// SPDX-License-Identifier: Apache-2.0
/// \file \brief The number of seeds that a test of jobs tries, and the checks of all of them.
#ifndef ELASTICJOB_TEST_SIMULATION_SEEDS_HPP
#define ELASTICJOB_TEST_SIMULATION_SEEDS_HPP

#include <elasticjob/testing/explore.hpp>

#include <support/full_run.hpp>

#include <doctest/doctest.h>

#include <cstdint>

namespace elasticjob::test {

/// That many seeds and two new ones. Outside a full run a quarter of them; under a sanitizer, which is slow, few.
inline testing::explore_options seeds(std::uint64_t count) {
    testing::explore_options o;
    o.seeds = amount_for_this_run({.full = count, .usual = count / 4, .sanitized = 1 + count / 25});
    o.fresh = amount_for_this_run({.full = 2, .usual = 2, .sanitized = 0});
    return o;
}

/// The distance between the seeds, moments or requests that a test tries one after another.
inline auto const tries_apart =
    static_cast<std::uint32_t>(amount_for_this_run({.full = 1, .usual = 1, .sanitized = 8}));

/// Explores, and checks that all holds.
template <class Build>
testing::exploration explored(testing::explore_options const& o, Build build) {
    auto found = testing::explore(o, build);
    CHECK_MESSAGE(found.holds(), found.report);
    return found;
}

/// True if a single seed is replayed. The counts of one seed mean nothing.
inline bool is_replay() { return std::getenv("ELASTICJOB_SEED") != nullptr; }

} // namespace elasticjob::test

#endif // ELASTICJOB_TEST_SIMULATION_SEEDS_HPP
