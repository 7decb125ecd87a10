// SPDX-License-Identifier: Apache-2.0
// Measures the cost of writing run events to a file of SQLite. Four cases: the caller's side of the queue; the queue's
// side, into the file; the database without the queue; and the floor, the same rows by prepared statements of SQLite.
// The floor has the same tables, indices, pragmas and transactions (256 events), but its rows are made beforehand: it
// makes no id and looks up no original task. A run has two events, which are five statements.
//
// Columns: `told` is CPU time of the caller for a run, allocations likewise. The others: CPU time of the process for a
// queue full (drained, 8192 events) or a batch; `items_per_second` events by the wall clock; allocations for an event.
//
// 2026-11-22, Intel Xeon, 2 shared and very busy cores of 2.6 GHz, g++ 12.2 -O2, best of four runs:
//
// |         | CPU                 | events a second | allocations | ratio to plain, CPU |
// |---------|---------------------|-----------------|-------------|---------------------|
// | told    | 0.05 us for a run   |                 |           0 |                     |
// | drained | 26 us for an event  |          23,000 |             |                 1.9 |
// | written | 18 us for an event  |          26,000 |         5.5 |                 1.4 |
// | plain   | 13 us for an event  |          22,000 |           0 |                   1 |
#include "sql_sink.hpp"

#include <elasticjob/events/sqlite_database.hpp>

#include <filesystem>
#include <memory>

#include <stdlib.h> // mkdtemp

namespace {

using namespace elasticjob;

/// A file in a directory that is gone with this object.
class scratch {
public:
    scratch() { made_ = mkdtemp(directory_) != nullptr; }
    scratch(scratch const&) = delete;
    ~scratch() {
        if (made_) std::filesystem::remove_all(directory_);
    }
    std::string file() const { return std::string{directory_} + "/runs.db"; }

private:
    char directory_[32] = "/tmp/elasticjob-bench-XXXXXX";
    bool made_ = false;
};

class plain_sqlite {
public:
    explicit plain_sqlite(std::string const& path) {
        sqlite3* db = nullptr;
        is_good_ = sqlite3_open(path.c_str(), &db) == SQLITE_OK;
        db_.reset(db);
        run("PRAGMA journal_mode = WAL");
        run("PRAGMA synchronous = NORMAL");
        for (auto const& r : detail::sql::schema) run(r.creation);
        for (auto const s : bench::plain_statements) {
            sqlite3_stmt* made = nullptr;
            is_good_ &= sqlite3_prepare_v2(db, bench::plain_text(s, '?').c_str(), -1, &made, nullptr) == SQLITE_OK;
            statements_.emplace_back(made);
        }
    }
    bool write(std::vector<bench::plain_row> const& rows) {
        run("BEGIN IMMEDIATE");
        for (auto const& row : rows) {
            auto* const s = statements_[static_cast<std::size_t>(row.statement)].get();
            int place = 0;
            for (auto const& value : row.values) {
                ++place;
                if (value)
                    sqlite3_bind_text(s, place, value->data(), static_cast<int>(value->size()), SQLITE_STATIC);
                else
                    sqlite3_bind_null(s, place);
            }
            is_good_ &= sqlite3_step(s) == SQLITE_DONE;
            sqlite3_reset(s);
        }
        run("COMMIT");
        return is_good_;
    }

private:
    struct closer {
        void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
        void operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
    };
    void run(char const* text) { is_good_ &= sqlite3_exec(db_.get(), text, nullptr, nullptr, nullptr) == SQLITE_OK; }

    std::unique_ptr<sqlite3, closer> db_;
    std::vector<std::unique_ptr<sqlite3_stmt, closer>> statements_;
    bool is_good_ = false;
};

void sqlite_told(benchmark::State& state) {
    scratch const place;
    bench::told(state, SqliteDatabase{place.file()});
}
void sqlite_drained(benchmark::State& state) {
    scratch const place;
    bench::drained(state, SqliteDatabase{place.file()});
}
void sqlite_written(benchmark::State& state) {
    scratch const place;
    bench::written(state, SqliteDatabase{place.file()});
}
void sqlite_plain(benchmark::State& state) {
    scratch const place;
    plain_sqlite db{place.file()};
    bench::repeat_batches(state, bench::plain_rows,
                          [&](std::vector<bench::plain_row> const& rows) { return db.write(rows); });
}

BENCHMARK(sqlite_told);
BENCHMARK(sqlite_drained)->MeasureProcessCPUTime()->UseRealTime();
BENCHMARK(sqlite_written)->MeasureProcessCPUTime()->UseRealTime();
BENCHMARK(sqlite_plain)->MeasureProcessCPUTime()->UseRealTime();

} // namespace
