// SPDX-License-Identifier: Apache-2.0
/// \file \brief `simulation<>`, of which support/simulation.cpp holds the schedulers for the tests of all folders.
#ifndef ELASTICJOB_TEST_SUPPORT_SIMULATION_HPP
#define ELASTICJOB_TEST_SUPPORT_SIMULATION_HPP

#include <elasticjob/testing/simulation.hpp>

extern template class elasticjob::testing::simulation<>;

#endif // ELASTICJOB_TEST_SUPPORT_SIMULATION_HPP
