// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/events/postgres_database.hpp>

#include <events/database_laws.hpp>
#include <events/history_laws.hpp>
#include <support/postgres_server.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <barrier>
#include <thread>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace std::chrono_literals;

namespace {

/// One server for all tests of this file; none if PostgreSQL is not installed.
postgres_server* the_server() {
    static bool const is_there = !postgres_server::find_programs().empty();
    if (!is_there) {
        MESSAGE("skipped: no PostgreSQL server below /usr/lib/postgresql (apt-get install postgresql)");
        return nullptr;
    }
    static postgres_server server;
    static bool const runs = server.start();
    REQUIRE(runs);
    return &server;
}

struct postgres_world {
    explicit postgres_world(postgres_server& s) : server{s} {
        query("DROP TABLE IF EXISTS JOB_EXECUTION_LOG, JOB_STATUS_TRACE_LOG");
    }
    PostgresDatabase make() const { return PostgresDatabase{server.connection()}; }

    /// Directly by libpq.
    rows query(std::string const& text) const {
        auto* const c = PQconnectdb(("options='-c client_min_messages=warning' " + server.connection()).c_str());
        auto* const r = PQexec(c, text.c_str());
        auto const state = PQresultStatus(r);
        if (state != PGRES_TUPLES_OK && state != PGRES_COMMAND_OK) FAIL(PQerrorMessage(c));
        rows all;
        for (int n = 0; n < PQntuples(r); ++n) {
            std::string row;
            for (int i = 0; i < PQnfields(r); ++i)
                row.append(i ? "|" : "").append(PQgetisnull(r, n, i) ? "-" : PQgetvalue(r, n, i));
            all.push_back(std::move(row));
        }
        PQclear(r);
        PQfinish(c);
        return all;
    }
    void refuse_state(std::string const& state) const {
        auto d = make();
        REQUIRE(d.remove_before(wall_time{}, 1)); // makes the tables
        query("ALTER TABLE JOB_STATUS_TRACE_LOG ADD CONSTRAINT refuse CHECK (state <> '" + state + "')");
    }
    postgres_server& server;
};

} // namespace

TEST_CASE("events.postgres_database: written rows can be read, filtered and in pages") {
    auto* const server = the_server();
    if (!server) return;
    postgres_world world{*server};
    check_history_laws(world);
}

TEST_CASE("events.postgres_database: obeys the laws") {
    auto* const server = the_server();
    if (!server) return;
    postgres_world world{*server};
    check_database_laws(world);
}

TEST_CASE("events.postgres_database: instances that create the tables at the same time refuse no events") {
    auto* const server = the_server();
    if (!server) return;
    std::atomic<int> refused{0};
    for (int round = 0; round < 10; ++round) {
        postgres_world const world{*server};
        constexpr int count = 6;
        std::barrier together{count};
        std::vector<std::jthread> instances;
        for (int n = 0; n < count; ++n)
            instances.emplace_back([&] {
                happenings const h;
                together.arrive_and_wait();
                auto const written = world.make().write(entries_of(h.started()));
                if (!written && written.error() == errc::invalid_argument) ++refused;
            });
    }
    CHECK(refused == 0);
}

TEST_CASE("events.postgres_database: with existing tables, a user may write or read without owning them") {
    auto* const server = the_server();
    if (!server) return;
    postgres_world world{*server};
    happenings const h;
    auto owner = world.make();
    REQUIRE(owner.write(entries_of(h.started())));
    for (auto const* const text :
         {"CREATE ROLE writer LOGIN", "CREATE ROLE reader LOGIN", "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
          "GRANT SELECT, INSERT, UPDATE ON JOB_EXECUTION_LOG, JOB_STATUS_TRACE_LOG TO writer",
          "GRANT SELECT ON JOB_EXECUTION_LOG, JOB_STATUS_TRACE_LOG TO reader"})
        world.query(text);
    PostgresDatabase writer{server->connection() + " user=writer"};
    CHECK(writer.write(entries_of(h.succeeded())));
    PostgresDatabase reader{server->connection() + " user=reader"};
    auto const read = reader.select({"SELECT is_success FROM JOB_EXECUTION_LOG", {}, 1});
    REQUIRE(read);
    CHECK(read->at(0).at(0) == "1");
    CHECK_FALSE(reader.write(entries_of(h.started())));
    for (auto const* const text : {"DROP OWNED BY writer, reader", "DROP ROLE writer, reader"}) world.query(text);
}

TEST_CASE("events.postgres_database: text that PostgreSQL cannot store is changed so that it can") {
    auto* const server = the_server();
    if (!server) return;
    postgres_world world{*server};
    happenings h;
    h.job = "caf\xe9";
    h.failure = error{errc::job_threw, std::string{"a\0b\xff", 4}, ""};
    auto d = world.make();
    REQUIRE(d.write(entries_of(h.failed())));
    CHECK(world.query("SELECT job_name, failure_cause FROM JOB_EXECUTION_LOG") ==
          rows{"caf\xef\xbf\xbd|job_threw: a\xef\xbf\xbd"
               "b\xef\xbf\xbd"});
}

TEST_CASE("events.postgres_database: events wait while the server is away, and are written afterwards") {
    auto* const server = the_server();
    if (!server) return;
    postgres_world world{*server};
    happenings const h;
    {
        SqlEvents sink{world.make(), {.queue = {.drain_timeout = 30s}, .retry_first = 10ms, .retry_max = 50ms}};
        auto const account = sink.account();
        sink(h.started(1));
        while (account->done < 1) std::this_thread::yield();
        server->stop();
        for (std::uint64_t n = 2; n <= 50; ++n) sink(h.started(n));
        while (account->failed < 3) std::this_thread::yield();
        REQUIRE(server->start());
        while (account->done < 50) std::this_thread::yield();
        CHECK(account->dropped == 0);
    }
    CHECK(world.query("SELECT count(*) FROM JOB_EXECUTION_LOG") == rows{"50"});
}

TEST_CASE("events.postgres_database: an absent server is an error to retry later") {
    happenings const h;
    PostgresDatabase d{"host=/nonexistent dbname=jobs"};
    auto const written = d.write(entries_of(h.started()));
    REQUIRE_FALSE(written);
    CHECK(written.error() == errc::unreachable);
    CAPTURE(written.error().what);
    CHECK(written.error().what.find('\n') == std::string::npos); // it would end the line in a log
    CHECK(written.error().what.find("/nonexistent") != std::string::npos);
    CHECK(written.error().what.find("No such file or directory") != std::string::npos);
}

TEST_CASE("events.postgres_database: the reason for a refused row is one line, without the row and the statement") {
    auto* const server = the_server();
    if (!server) return;
    postgres_world world{*server};
    happenings h;
    h.failure = error{errc::job_threw, "secret", ""};
    world.refuse_state("TASK_ERROR");
    auto d = world.make();
    auto const refused = d.write(entries_of(h.failed()));
    REQUIRE_FALSE(refused);
    CHECK(refused.error() == errc::invalid_argument);
    CAPTURE(refused.error().what);
    CHECK(refused.error().what.find("violates check constraint") != std::string::npos);
    for (auto const* const text : {"secret", "INSERT", "\n"})
        CHECK(refused.error().what.find(text) == std::string::npos);
}
