// SPDX-License-Identifier: Apache-2.0
/// \file \brief Everything that a program with jobs needs. If the macro THREADED is defined, as libzookeeper's header
/// requires, this includes ZkRegistry and defines ELASTICJOB_HAS_ZOOKEEPER. The CMake target elasticjob::elasticjob and
/// pkg-config's elasticjob define THREADED. With THREADED but without libzookeeper's header, this does not compile.
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
