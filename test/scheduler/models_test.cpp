// SPDX-License-Identifier: Apache-2.0
// The library's own policies model the concepts of their slots. The checks are here and not beside the types, because
// every file that includes a type would pay for its check.
#include <elasticjob/elasticjob.hpp>

#include <elasticjob/allocation/run_list.hpp>
#include <elasticjob/cron/tzif_zone.hpp>
#include <elasticjob/execution/dead_man_timer.hpp>
#include <elasticjob/registry/registry_ref.hpp>

#include <iterator>

using namespace elasticjob;

static_assert(loop<event_loop>);
static_assert(worker_pool<ThreadPool>);
static_assert(registry<MemoryRegistry>);
static_assert(registry<registry_ref<event_loop>>);
#ifdef ELASTICJOB_HAS_ZOOKEEPER
static_assert(registry<ZkRegistry>);
#endif

static_assert(sharding_strategy<AverageAllocation>);
static_assert(sharding_strategy<OdevitySortByName>);
static_assert(sharding_strategy<RotateServerByName>);
static_assert(allocation<closed_form> && detail::allocation_lists_its_runs<closed_form>);
static_assert(allocation<run_list_view> && detail::allocation_lists_its_runs<run_list_view>);
static_assert(std::random_access_iterator<shard_range::iterator>);
static_assert(std::forward_iterator<run_items::iterator>);

static_assert(executor<SimpleExecutor>);
static_assert(lease_guard<NoDeadManTimer> && lease_guard<DeadManTimer>);
static_assert(std::constructible_from<job_scheduler<MemoryRegistry, AverageAllocation, SimpleExecutor, DeadManTimer>,
                                      MemoryRegistry&, scheduler_options, DeadManTimer>);
static_assert(event_sink<NoEvents> && event_sink<LogEvents>);
static_assert(time_zone<UtcZone> && time_zone<FixedOffset> && time_zone<TzifZone> && time_zone<SystemZone>);
