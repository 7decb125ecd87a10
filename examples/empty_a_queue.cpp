// SPDX-License-Identifier: Apache-2.0
// How does a job empty a queue batch by batch, with several threads?
//
// There are two items, each with a queue of its own. A run fetches up to ten orders, processes them in parts on several
// threads, and fetches again: `streaming_process`. When a fetch returns no orders, the run ends; the schedule
// determines the next run.
#include <elasticjob/elasticjob.hpp>
#include <elasticjob/execution/dataflow_executor.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <span>
#include <vector>

using namespace elasticjob;

namespace {

struct order {
    int number;
};

/// Stands for a table of orders with a column for the item.
struct order_queues {
    std::array<std::vector<order>, 2> of_item;
    std::atomic<int> settled{0};
    std::atomic<int> batches{0};

    /// Called by one thread at a time for each item.
    std::vector<order> fetch(sharding_context const& ctx) {
        auto& queue = of_item.at(ctx.item);
        auto const count = std::min<std::size_t>(queue.size(), ctx.fetch_count);
        std::vector<order> batch(queue.end() - static_cast<std::ptrdiff_t>(count), queue.end());
        queue.resize(queue.size() - count);
        if (count != 0) ++batches;
        return batch;
    }
    /// Called for parts of a batch, by several threads at once.
    void process(sharding_context const&, std::span<order> part) {
        settled += static_cast<int>(part.size());
        settled.notify_all();
    }
};

} // namespace

int main() {
    order_queues queues;
    for (int n = 0; n < 70; ++n) queues.of_item[n % 2 == 0].push_back({n});

    MemoryRegistry registry;
    job_scheduler<MemoryRegistry, AverageAllocation, DataflowExecutor> scheduler{registry};
    auto job = scheduler.schedule({.name = "settle",
                                   .sharding_total_count = 2,
                                   .streaming_process = true,
                                   .schedules = {job_schedule::once_now()},
                                   .dataflow = {.fetch_count = 10, .threads = 3}},
                                  dataflow{[&](sharding_context const& ctx) { return queues.fetch(ctx); },
                                           [&](sharding_context const& ctx, std::span<order> part) {
                                               queues.process(ctx, part);
                                           }});
    if (!job) {
        std::fprintf(stderr, "%s\n", to_string(job.error()).c_str());
        return 1;
    }
    while (queues.settled != 70) queues.settled.wait(queues.settled);
    if (auto const left = job->shutdown(); !left) return 1;
    std::printf("settled %d orders in %d batches\n", queues.settled.load(), queues.batches.load());
    return queues.batches == 8 ? 0 : 1;
}
