// SPDX-License-Identifier: Apache-2.0
// How does a run continue where the previous one stopped, and do no harm if it is considered dead?
//
// This body settles ten rows and fails after every third. It saves a checkpoint after each row, and the next run
// receives that checkpoint on any instance. It also stores its fencing token with each row, in a store that refuses
// smaller tokens.
#include <elasticjob/elasticjob.hpp>

#include <cstdint>
#include <cstdio>
#include <map>
#include <semaphore>
#include <string>

using namespace elasticjob;

namespace {

/// Stands for a table with a column `fence`: UPDATE ... SET fence = :token WHERE id = :row AND fence <= :token
struct store {
    result<void> settle(int row, std::int64_t token) {
        auto& fence = fences[row];
        if (token < fence) return error{errc::fenced, "a later run has been here", "row " + std::to_string(row)};
        fence = token;
        ++writes;
        return success();
    }
    std::map<int, std::int64_t> fences;
    int writes = 0;
};

} // namespace

int main() {
    constexpr int rows = 10;
    store table;
    std::binary_semaphore done{0};
    auto settle_rows = [&](sharding_context const& shard) -> result<void> {
        int const first = shard.last_checkpoint.empty() ? 0 : std::stoi(shard.last_checkpoint) + 1;
        std::printf("begins with row %d, token %lld\n", first, static_cast<long long>(shard.token));
        for (int row = first; row < rows; ++row) {
            if (shard.stop.stop_requested()) return error{errc::job_failed, std::string{name_of(shard.why_stop())}};
            if (auto stored = table.settle(row, shard.token); !stored) return stored;
            if (auto saved = shard.checkpoint(std::to_string(row)); !saved) return saved;
            if (row % 3 == 2) return error{errc::job_failed, "no more for now"};
        }
        done.release();
        return success();
    };

    MemoryRegistry registry;
    job_scheduler<MemoryRegistry, AverageAllocation, SimpleExecutor, NoEvents> scheduler{registry, {}, NoEvents{}};
    auto job = scheduler.schedule({.name = "settle", .cron = "0/1 * * * * ?"}, settle_rows);
    if (!job) return std::fprintf(stderr, "%s\n", to_string(job.error()).c_str()), 1;
    bool const in_time = done.try_acquire_for(std::chrono::seconds{20});
    if (auto const ended = job->shutdown(); !ended)
        return std::fprintf(stderr, "%s\n", to_string(ended.error()).c_str()), 1;
    std::printf("%zu rows, %d writes\n", table.fences.size(), table.writes);
    return in_time && table.fences.size() == rows && table.writes == rows ? 0 : 1;
}
