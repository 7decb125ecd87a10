// SPDX-License-Identifier: Apache-2.0
// Measures the cost of writing run events to PostgreSQL: to a server of its own, on a Unix socket, without fsync. Four
// cases: the caller's side of the queue; the queue's side, into the tables; the database without the queue; and the
// floor, the same rows by prepared statements of libpq. The floor has the same tables, indices and transactions (256
// events), but its rows are made beforehand: it makes no id and looks up no original task. A run has two events, which
// are five statements, each of them a round trip.
//
// The columns are those of sqlite_events.cpp; CPU time is without the server's.
//
// 2026-11-22, Intel Xeon, 2 shared and very busy cores of 2.6 GHz, g++ 12.2 -O2, PostgreSQL 15, best of four runs:
//
// |         | CPU                 | events a second | allocations | ratio to plain, CPU |
// |---------|---------------------|-----------------|-------------|---------------------|
// | told    | 0.05 us for a run   |                 |           0 |                     |
// | drained | 31 us for an event  |           7,600 |             |                 1.7 |
// | written | 26 us for an event  |           6,700 |          72 |                 1.4 |
// | plain   | 19 us for an event  |           7,600 |           0 |                   1 |
#include "sql_sink.hpp"

#include "../test/support/postgres_server.hpp"

#include <elasticjob/events/postgres_database.hpp>

#include <libpq-fe.h>

#include <array>
#include <memory>

namespace {

using namespace elasticjob;

/// One for all; empty, and the reason told, where there is none.
std::string connect_to(benchmark::State& state) {
    static std::unique_ptr<test::postgres_server> const server = [] {
        if (test::postgres_server::find_programs().empty()) return std::unique_ptr<test::postgres_server>{};
        auto made = std::make_unique<test::postgres_server>();
        if (!made->start()) made.reset();
        return made;
    }();
    if (server) return server->connection();
    state.SkipWithError("no PostgreSQL server could be started: is the package postgresql there?");
    return {};
}

class plain_postgres {
public:
    explicit plain_postgres(std::string const& connection) : db_{PQconnectdb(connection.c_str())} {
        run("SET client_min_messages = warning");
        // Each benchmark begins with empty tables, as a new file does.
        run("DROP TABLE IF EXISTS JOB_EXECUTION_LOG");
        run("DROP TABLE IF EXISTS JOB_STATUS_TRACE_LOG");
        for (auto const& r : detail::sql::schema) run(r.creation);
    }
    void prepare() {
        constexpr Oid text = 25, integer = 23, timestamp = 1114;
        constexpr std::array<Oid, bench::plain_values> execution{text, text, text,    text,      text,     integer,
                                                                 text, text, integer, timestamp, timestamp};
        constexpr std::array<Oid, bench::plain_values> status{text, text, text, text, text,     text,
                                                              text, text, text, text, timestamp};
        for (auto const s : bench::plain_statements) {
            auto const& types = s == bench::plain_statement::status ? status : execution;
            check(PQprepare(db_.get(), name(s), bench::plain_text(s, '$').c_str(), bench::plain_values, types.data()));
        }
    }
    bool write(std::vector<bench::plain_row> const& rows) {
        run("BEGIN");
        std::array<char const*, bench::plain_values> values{};
        for (auto const& row : rows) {
            for (std::size_t n = 0; n < values.size(); ++n)
                values[n] = row.values[n] ? row.values[n]->c_str() : nullptr;
            check(PQexecPrepared(db_.get(), name(row.statement), bench::plain_values, values.data(), nullptr, nullptr, 0));
        }
        run("COMMIT");
        return is_good_;
    }

private:
    struct closer {
        void operator()(PGconn* db) const { PQfinish(db); }
    };
    static char const* name(bench::plain_statement s) {
        constexpr char const* names[] = {"begin_run", "end_run", "status"};
        return names[static_cast<std::size_t>(s)];
    }
    void run(char const* text) { check(PQexec(db_.get(), text)); }
    void check(PGresult* answer) {
        is_good_ &= PQresultStatus(answer) == PGRES_COMMAND_OK;
        PQclear(answer);
    }

    std::unique_ptr<PGconn, closer> db_;
    bool is_good_ = true;
};

/// `f(connection)`, with empty tables.
template <class F>
void with_tables(benchmark::State& state, F f) {
    auto const connection = connect_to(state);
    if (connection.empty()) return;
    plain_postgres{connection};
    f(connection);
}

void postgres_told(benchmark::State& state) {
    with_tables(state, [&](std::string const& c) { bench::told(state, PostgresDatabase{c}); });
}
void postgres_drained(benchmark::State& state) {
    with_tables(state, [&](std::string const& c) { bench::drained(state, PostgresDatabase{c}); });
}
void postgres_written(benchmark::State& state) {
    with_tables(state, [&](std::string const& c) { bench::written(state, PostgresDatabase{c}); });
}
void postgres_plain(benchmark::State& state) {
    with_tables(state, [&](std::string const& c) {
        plain_postgres db{c};
        db.prepare();
        bench::repeat_batches(state, bench::plain_rows,
                              [&](std::vector<bench::plain_row> const& rows) { return db.write(rows); });
    });
}

BENCHMARK(postgres_told);
BENCHMARK(postgres_drained)->MeasureProcessCPUTime()->UseRealTime();
BENCHMARK(postgres_written)->MeasureProcessCPUTime()->UseRealTime();
BENCHMARK(postgres_plain)->MeasureProcessCPUTime()->UseRealTime();

} // namespace
