// SPDX-License-Identifier: Apache-2.0
// The only file of this folder that depends on a scheduler's components.
#include <elasticjob/allocation/label.hpp>

#define ELASTICJOB_TEST_CLUSTER_STRATEGY LabelAllocation
#include <support/cluster.cpp>
