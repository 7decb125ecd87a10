// SPDX-License-Identifier: Apache-2.0
// How do a thousand items wait at the same time on one thread, the loop's? And what if they wait in vain?
//
// Each item of this job checks at intervals whether its file has arrived. Most files are there. Every tenth comes late,
// so its first run fails and is tried again. One file never comes.
#include <elasticjob/elasticjob.hpp>
#include <elasticjob/execution/coroutine_executor.hpp>
#include <elasticjob/operations/dead_letters.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <semaphore>

using namespace elasticjob;
using namespace std::chrono_literals;

int main() {
    constexpr item_index items = 1000, lost = 7;
    constexpr std::uint32_t attempts = 2;
    std::atomic<item_index> imported{0}, ended{0};
    std::binary_semaphore done{0};
    auto wait_for_file = [&](auto const& run) -> task<result<void>> {
        for (int look = 0; look < 3; ++look)
            if (!co_await run.sleep_for(100ms)) co_return error{errc::job_failed, "asked to stop"};
        bool const has_arrived = run.item != lost && (run.item % 10 != 0 || run.attempt > 1);
        if (has_arrived) ++imported;
        bool const is_last_attempt = has_arrived || run.attempt == attempts;
        if (is_last_attempt && ++ended == items) done.release();
        if (!has_arrived) co_return error{errc::job_failed, "the file has not arrived"};
        co_return success();
    };

    MemoryRegistry registry;
    scheduler_options options;
    options.pool.threads = 1; // for hooks and `on_pool`: the items wait on the loop's thread
    job_scheduler<MemoryRegistry, AverageAllocation, CoroutineExecutor, NoEvents> scheduler{registry, options,
                                                                                            NoEvents{}};
    auto job = scheduler.schedule({.name = "import",
                                   .sharding_total_count = static_cast<int>(items),
                                   .schedules = {job_schedule::once_now()},
                                   .retry = {.attempts_max = attempts, .pause = 200ms}},
                                  wait_for_file);
    if (!job) return std::fprintf(stderr, "%s\n", to_string(job.error()).c_str()), 1;
    bool const in_time = done.try_acquire_for(30s);
    (void)job->wait_idle();
    auto const letters = list_dead_letters(registry, "import");
    if (!letters) return std::fprintf(stderr, "%s\n", to_string(letters.error()).c_str()), 1;
    for (auto const& letter : *letters)
        std::printf("item %u failed for good, at attempt %u: %s\n", letter.item, letter.run.run.attempt,
                    letter.run.note.c_str());
    std::printf("%u of %u imported\n", imported.load(), items);
    return in_time && imported == items - 1 && letters->size() == 1 ? 0 : 1;
}
