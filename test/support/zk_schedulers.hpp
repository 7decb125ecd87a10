// SPDX-License-Identifier: Apache-2.0
/// \file \brief `zk_scheduler`: schedulers on ZooKeeper with any sink.
#ifndef ELASTICJOB_TEST_SUPPORT_ZK_SCHEDULERS_HPP
#define ELASTICJOB_TEST_SUPPORT_ZK_SCHEDULERS_HPP

#include <support/any_policies.hpp>

#include <elasticjob/registry/zk_registry.hpp>

namespace elasticjob::test {

template <executor Executor>
using zk_scheduler = job_scheduler<ZkRegistry, AverageAllocation, Executor, any_sink>;

} // namespace elasticjob::test

#endif // ELASTICJOB_TEST_SUPPORT_ZK_SCHEDULERS_HPP
