// SPDX-License-Identifier: Apache-2.0
/// \file \brief `zk_scheduler`: schedulers on ZooKeeper with any sink, compiled once, in support/zk_schedulers.cpp.
#ifndef ELASTICJOB_TEST_SUPPORT_ZK_SCHEDULERS_HPP
#define ELASTICJOB_TEST_SUPPORT_ZK_SCHEDULERS_HPP

#include <support/any_policies.hpp>

#include <elasticjob/registry/zk_registry.hpp>

namespace elasticjob::test {

using zk_environment = detail::environment_for<ZkRegistry, any_sink>;

template <executor Executor>
using zk_scheduler = job_scheduler<ZkRegistry, AverageAllocation, Executor, any_sink>;

} // namespace elasticjob::test

namespace elasticjob {
ELASTICJOB_ENVIRONMENT_INSTANCES(extern, test::zk_environment);
ELASTICJOB_JOB_INSTANCES(extern, AverageAllocation, test::zk_environment);
} // namespace elasticjob

#endif // ELASTICJOB_TEST_SUPPORT_ZK_SCHEDULERS_HPP
