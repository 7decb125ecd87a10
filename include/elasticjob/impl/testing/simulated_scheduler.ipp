// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_TESTING_SIMULATED_SCHEDULER_IPP
#define ELASTICJOB_IMPL_TESTING_SIMULATED_SCHEDULER_IPP

#include <elasticjob/testing/simulated_scheduler.hpp>

namespace elasticjob::testing {

ELASTICJOB_DECL simulated_scheduler::simulated_scheduler(void* self, schedule_function* function,
                                                         void (*destroy)(void*), simulated_workers& w) noexcept
    : self_{self},
      schedule_{function},
      destroy_{destroy},
      workers_{w} {}

ELASTICJOB_DECL simulated_scheduler::handle::handle(handle&& other) noexcept
    : self_{std::exchange(other.self_, nullptr)},
      shutdown_{other.shutdown_},
      trigger_{other.trigger_},
      destroy_{other.destroy_} {}

ELASTICJOB_DECL simulated_scheduler::handle::~handle() {
    if (self_) destroy_(self_);
}

ELASTICJOB_DECL result<simulated_scheduler::handle> simulated_scheduler::schedule(job_config const& config,
                                                                                  simulated_call body) {
    return schedule_(self_, config, body, workers_);
}

} // namespace elasticjob::testing
#endif // ELASTICJOB_IMPL_TESTING_SIMULATED_SCHEDULER_IPP
