// SPDX-License-Identifier: Apache-2.0
/// \file \brief A choice of strategies for programs that plan for any job.
#ifndef ELASTICJOB_ALLOCATION_ALL_STRATEGIES_HPP
#define ELASTICJOB_ALLOCATION_ALL_STRATEGIES_HPP

#include <elasticjob/allocation/average.hpp>
#include <elasticjob/allocation/label.hpp>
#include <elasticjob/allocation/odevity.hpp>
#include <elasticjob/allocation/rendezvous.hpp>
#include <elasticjob/allocation/rotate.hpp>
#include <elasticjob/allocation/round_robin_by_name.hpp>
#include <elasticjob/allocation/spread.hpp>
#include <elasticjob/allocation/sticky.hpp>
#include <elasticjob/allocation/strategies.hpp>
#include <elasticjob/allocation/weighted.hpp>

namespace elasticjob {

/// All strategies of the library. A job that names no strategy gets the first.
using AllStrategies =
    Strategies<AverageAllocation, OdevitySortByName, RotateServerByName, RoundRobinByName, StickyAllocation,
               WeightedAllocation, RendezvousAllocation, SpreadAllocation, LabelAllocation>;

} // namespace elasticjob
#endif // ELASTICJOB_ALLOCATION_ALL_STRATEGIES_HPP
