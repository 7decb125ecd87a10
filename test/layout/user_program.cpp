// SPDX-License-Identifier: Apache-2.0
// A file as users write it: what of the library does it compile itself? See check_object.sh.
#include <elasticjob/elasticjob.hpp>
#if defined(CUSTOM_POLICIES)
#include <elasticjob/allocation/computed.hpp>
#endif
#if defined(WITH_CONSOLE)
#include <elasticjob/console/console_server.hpp>
#endif

#include <cstdio>

using namespace elasticjob;

#if defined(CUSTOM_POLICIES)
struct LastFirst {
    static constexpr std::string_view name = "com.example.LastFirst";
    constexpr auto operator()(sharding_request const& request) const {
        return allocate_by(request, [n = request.instance_count()](item_index item) { return n - 1 - item % n; });
    }
};
struct Quiet {
    template <class E>
    void operator()(E const&) const {}
};
using Scheduler = job_scheduler<ZkRegistry, LastFirst, SimpleExecutor, Quiet, UtcZone>;
#else
using Scheduler = job_scheduler<ZkRegistry, AverageAllocation, SimpleExecutor>;
#endif

int main() {
    auto registry = ZkRegistry::connect({.servers = "127.0.0.1:2181", .name_space = "billing"});
    if (!registry) return 1;
#if defined(CUSTOM_POLICIES)
    Scheduler scheduler{*registry, {}, Quiet{}, UtcZone{}};
#else
    Scheduler scheduler{*registry};
#endif
#if defined(WITH_CONSOLE)
    auto const console = console_server::start({{"main", "billing", *registry}});
    if (!console) return 1;
#endif
    auto settle = scheduler.schedule({.name = "settle", .cron = "0/5 * * * * ?", .sharding_total_count = 3},
                                     [](sharding_context const& shard) -> result<void> {
                                         std::printf("item %u\n", shard.item);
                                         return success();
                                     });
    return settle ? 0 : 1;
}
