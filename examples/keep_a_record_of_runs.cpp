// SPDX-License-Identifier: Apache-2.0
// How do I keep a record of past runs?
//
// In a database: here an SQLite file, which needs no server. The sink has a thread of its own. While the database is
// unavailable, runs continue and their events wait.
#include <elasticjob/elasticjob.hpp>
#include <elasticjob/events/sql_events.hpp>
#include <elasticjob/events/sqlite_database.hpp>

#include <cstdio>
#include <semaphore>
#include <string>
#include <unistd.h> // getpid

using namespace elasticjob;

int main() {
    std::string const file = "/tmp/elasticjob-runs-" + std::to_string(getpid()) + ".db";
    std::counting_semaphore<> runs{0};
    {
        using Record = SqlEvents<SqliteDatabase>;
        Record record{SqliteDatabase{file}, {.keep_for = std::chrono::hours{24 * 30}}};
        MemoryRegistry registry;
        job_scheduler<MemoryRegistry, AverageAllocation, SimpleExecutor, Record> scheduler{
            registry, {}, std::move(record)};
        auto settle = scheduler.schedule({.name = "settle", .cron = "0/1 * * * * ?", .sharding_total_count = 3},
                                         [&](sharding_context const& shard) -> result<void> {
                                             runs.release();
                                             if (shard.item == 2) return error{errc::job_failed, "out of paper"};
                                             return success();
                                         });
        if (!settle) {
            std::fprintf(stderr, "%s\n", to_string(settle.error()).c_str());
            return 1;
        }
        for (int n = 0; n < 6; ++n)
            if (!runs.try_acquire_for(std::chrono::seconds{10})) return 1;
    } // the scheduler ends together with the sink: all events have been written

    sqlite3* db = nullptr;
    if (sqlite3_open(file.c_str(), &db) != SQLITE_OK) return 1;
    int rows = 0;
    auto const print = [](void* count, int, char** column, char**) {
        ++*static_cast<int*>(count);
        std::printf("%s  item %s of %s: %s\n", column[0], column[1], column[2], column[3] ? column[3] : "success");
        return 0;
    };
    sqlite3_exec(db,
                 "SELECT start_time, sharding_item, job_name, failure_cause FROM JOB_EXECUTION_LOG "
                 "WHERE complete_time IS NOT NULL ORDER BY start_time, sharding_item",
                 print, &rows, nullptr);
    sqlite3_close(db);
    for (auto const* end : {"", "-wal", "-shm"}) std::remove((file + end).c_str());
    return rows >= 6 ? 0 : 1;
}
