// expect: include .*<elasticjob/scheduler/job_code.hpp>
// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/registry/zk_registry.hpp>
#ifndef BAD
#include <elasticjob/scheduler/job_code.hpp>
#endif
#include <elasticjob/elasticjob.hpp>
#include <elasticjob/registry/measured_registry.hpp>

using namespace elasticjob;

struct count_nothing {
    template <class... Args>
    void operator()(Args const&...) const noexcept {}
};

void schedule_nothing() {
    MemoryRegistry registry;
    MeasuredRegistry measured{registry, count_nothing{}};
    job_scheduler<decltype(measured), AverageAllocation, SimpleExecutor> const scheduler{measured};
}
