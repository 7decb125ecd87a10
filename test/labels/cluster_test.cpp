// SPDX-License-Identifier: Apache-2.0
// The one file of this folder that knows what a scheduler is made of.
#include <elasticjob/allocation/label.hpp>

#define ELASTICJOB_TEST_CLUSTER_STRATEGY LabelAllocation
#include <support/cluster.cpp>
