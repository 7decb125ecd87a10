// expect: SimpleExecutor calls body\(\) or body\(context\), with a sharding_context const&: this body can be called in neither way
// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/allocation/average.hpp>
#include <elasticjob/execution/simple_executor.hpp>
#include <elasticjob/registry/memory_registry.hpp>
#include <elasticjob/scheduler/job_scheduler.hpp>

#include <utility>

using namespace elasticjob;
using scheduler = job_scheduler<MemoryRegistry, AverageAllocation, SimpleExecutor>;

#ifdef BAD
constexpr auto settle_body = [](int) {};
#else
constexpr auto settle_body = [](sharding_context const&) {};
#endif

task<void> start(scheduler& s, job_config c) { (void)co_await s.async_schedule(std::move(c), settle_body); }
