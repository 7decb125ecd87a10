// SPDX-License-Identifier: Apache-2.0
#include <support/simulation.hpp>

template class elasticjob::testing::simulation<>;
