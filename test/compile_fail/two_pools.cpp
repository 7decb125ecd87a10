// expect: two policies fill the same slot of the scheduler
// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/scheduler/policies.hpp>

using namespace elasticjob;

#ifdef BAD
using pool = detail::policy_for<detail::pool_slot, ThreadPool, NoEvents, SharedPool<ThreadPool>>;
#else
using pool = detail::policy_for<detail::pool_slot, NoEvents, SharedPool<ThreadPool>>;
#endif

int main() { return static_cast<int>(sizeof(pool)) == 0; }
