// SPDX-License-Identifier: Apache-2.0
/// \file \brief The lateness of a simulated run.
#ifndef ELASTICJOB_TEST_SIMULATION_LATENESS_HPP
#define ELASTICJOB_TEST_SIMULATION_LATENESS_HPP

#include <elasticjob/testing/simulation.hpp>

#include <chrono>

namespace elasticjob::test {

/// How long after its due instant that was observed, by the clock of the world.
inline std::chrono::nanoseconds lateness(testing::cluster_view const& view, testing::observation const& o) {
    auto const& world = view.server.world();
    return world.wall_now() - (world.now() - o.at) - o.due;
}

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SIMULATION_LATENESS_HPP
