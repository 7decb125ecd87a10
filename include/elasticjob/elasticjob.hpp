// SPDX-License-Identifier: Apache-2.0
/// \file \brief Everything that a program with jobs needs. ZkRegistry is in it, and ELASTICJOB_HAS_ZOOKEEPER defined,
/// where libzookeeper is linked: the CMake target elasticjob::elasticjob and pkg-config's elasticjob say so with
/// THREADED, which libzookeeper's own header asks for. With THREADED and without that header the file is not compiled.
#ifndef ELASTICJOB_ELASTICJOB_HPP
#define ELASTICJOB_ELASTICJOB_HPP

#include <elasticjob/core/decl.hpp>

#if __cplusplus >= 202002L // decl.hpp has said so otherwise, and a thousand other errors would hide it
#include <elasticjob/allocation/average.hpp>
#include <elasticjob/allocation/odevity.hpp>
#include <elasticjob/allocation/rotate.hpp>
#include <elasticjob/core/version.hpp>
#include <elasticjob/events/log_events.hpp>
#include <elasticjob/execution/simple_executor.hpp>
#include <elasticjob/registry/memory_registry.hpp>
#include <elasticjob/scheduler/job_scheduler.hpp>

#ifdef THREADED
#define ELASTICJOB_HAS_ZOOKEEPER
#include <elasticjob/registry/zk_registry.hpp>
#endif
#endif

#endif // ELASTICJOB_ELASTICJOB_HPP
