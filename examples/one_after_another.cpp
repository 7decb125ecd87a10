// SPDX-License-Identifier: Apache-2.0
// How does one job run after each round of another, even if their items run on different instances?
//
// `fetch` is due every second and has three items. `settle` runs when all three have completed, and receives the round.
// One item of `fetch` fails once: `settle` skips that round, and `mend`, which follows failures, runs for it.
#include <elasticjob/elasticjob.hpp>

#include <chrono>
#include <cstdio>
#include <map>
#include <mutex>
#include <semaphore>
#include <string>

using namespace elasticjob;

namespace {

/// The items fetched and settled, by round.
struct account {
    std::mutex access;
    std::map<wall_time, int> fetched;
    int settled = 0, mended = 0, wrong = 0;
    std::counting_semaphore<> news{0};
};

} // namespace

int main() {
    account all;
    auto fetch = [&](sharding_context const& shard) -> result<void> {
        std::lock_guard const lock{all.access};
        bool const is_first_round = all.fetched.empty() || (all.fetched.size() == 1 && all.fetched.contains(shard.due));
        int const n = ++all.fetched[shard.due];
        if (is_first_round && n == 1) return error{errc::job_failed, "the source is not there"};
        return success();
    };
    auto settle = [&](sharding_context const& shard) {
        std::lock_guard const lock{all.access};
        if (!shard.after || all.fetched[*shard.after] != 3) ++all.wrong; // `settle` would have run too early
        std::printf("settles, %d of 3 fetched\n", shard.after ? all.fetched[*shard.after] : 0);
        ++all.settled;
        all.news.release();
    };
    auto mend = [&](sharding_context const& shard) {
        std::lock_guard const lock{all.access};
        if (!shard.after || *shard.after != all.fetched.begin()->first) ++all.wrong;
        std::printf("mends\n");
        ++all.mended;
        all.news.release();
    };

    MemoryRegistry registry;
    job_scheduler<MemoryRegistry, AverageAllocation, SimpleExecutor> scheduler{registry};
    auto const settling =
        scheduler.schedule({.name = "settle", .schedules = {job_schedule::after_job("fetch")}}, settle);
    auto const mending =
        scheduler.schedule({.name = "mend", .schedules = {job_schedule::after_job("fetch", round_end::failed)}}, mend);
    auto const fetching =
        scheduler.schedule({.name = "fetch", .cron = "0/1 * * * * ?", .sharding_total_count = 3}, fetch);
    for (auto const* job : {&settling, &mending, &fetching})
        if (!*job) return std::fprintf(stderr, "%s\n", to_string(job->error()).c_str()), 1;

    // A job that would wait for itself is refused.
    auto const circle = scheduler.schedule({.name = "audit", .schedules = {job_schedule::after_job("audit")}}, [] {});
    std::printf("%s\n", circle ? "a circle!" : to_string(circle.error()).c_str());

    for (bool is_done = false; !is_done;) {
        if (!all.news.try_acquire_for(std::chrono::seconds{20})) return 1;
        std::lock_guard const lock{all.access};
        is_done = all.settled >= 2 && all.mended == 1;
    }
    std::lock_guard const lock{all.access};
    std::printf("%d rounds were settled, %d mended\n", all.settled, all.mended);
    return !circle && all.mended == 1 && all.wrong == 0 ? 0 : 1;
}
