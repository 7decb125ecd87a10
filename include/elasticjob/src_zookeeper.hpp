// SPDX-License-Identifier: Apache-2.0
/// \file \brief What elasticjob::compiled contains beyond elasticjob::compiled_core: ZkRegistry and its schedulers.
#ifndef ELASTICJOB_SRC_ZOOKEEPER_HPP
#define ELASTICJOB_SRC_ZOOKEEPER_HPP

#if !defined(ELASTICJOB_COMPILED)
#error "define ELASTICJOB_COMPILED for the whole program: without it, every file contains these definitions already"
#endif

#include <elasticjob/scheduler/zk_job_code.hpp>

#include <elasticjob/impl/registry/zk/c_api.ipp>
#include <elasticjob/impl/registry/zk/call.ipp>
#include <elasticjob/impl/registry/zk/call_table.ipp>
#include <elasticjob/impl/registry/zk/ephemeral_table.ipp>
#include <elasticjob/impl/registry/zk/guardian_process.ipp>
#include <elasticjob/impl/registry/zk/guarded_sessions.ipp>
#include <elasticjob/impl/registry/zk/handle.ipp>
#include <elasticjob/impl/registry/zk/options.ipp>
#include <elasticjob/impl/registry/zk/reconnect_gate.ipp>
#include <elasticjob/impl/registry/zk/requests.ipp>
#include <elasticjob/impl/registry/zk/server_order.ipp>
#include <elasticjob/impl/registry/zk/session.ipp>
#include <elasticjob/impl/registry/zk/session_end.ipp>
#include <elasticjob/impl/registry/zk/watch_table.ipp>
#include <elasticjob/impl/registry/session_guardian.ipp>
#include <elasticjob/impl/registry/zk_registry.ipp>

namespace elasticjob {
ELASTICJOB_TREE_INSTANCES(, ZkRegistry);
ELASTICJOB_REGISTRY_INSTANCES(, ZkRegistry);
ELASTICJOB_JOB_INSTANCES(, detail::job_environment<ZkRegistry>);
ELASTICJOB_SCHEDULER_INSTANCES(, ZkRegistry);
} // namespace elasticjob

#endif // ELASTICJOB_SRC_ZOOKEEPER_HPP
