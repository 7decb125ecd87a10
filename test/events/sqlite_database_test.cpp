// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/events/sqlite_database.hpp>

#include <events/database_laws.hpp>
#include <events/history_laws.hpp>

#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>
#include <stdlib.h> // mkdtemp

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

struct sqlite_world {
    sqlite_world() {
        char name[] = "/tmp/elasticjob-events-XXXXXX";
        directory = mkdtemp(name);
    }
    ~sqlite_world() { std::filesystem::remove_all(directory); }
    sqlite_world(sqlite_world const&) = delete;

    SqliteDatabase make() const { return SqliteDatabase{directory + "/runs.db"}; }

    rows query(std::string const& text) const {
        sqlite3* db = nullptr;
        REQUIRE(sqlite3_open((directory + "/runs.db").c_str(), &db) == SQLITE_OK);
        rows all;
        auto const add = [](void* to, int count, char** values, char**) {
            std::string row;
            for (int n = 0; n < count; ++n) row.append(n ? "|" : "").append(values[n] ? values[n] : "-");
            static_cast<rows*>(to)->push_back(std::move(row));
            return 0;
        };
        char* why = nullptr;
        sqlite3_exec(db, text.c_str(), add, &all, &why);
        if (why) FAIL(why);
        sqlite3_close(db);
        return all;
    }
    /// From now on a row of that state is against the rules of the database.
    void refuse_state(std::string const& state) const {
        auto d = make();
        REQUIRE(d.remove_before(wall_time{}, 1)); // makes the tables
        query("CREATE TRIGGER refuse BEFORE INSERT ON JOB_STATUS_TRACE_LOG WHEN NEW.state = '" + state +
              "' BEGIN SELECT RAISE(ABORT, 'refused'); END");
    }
    std::string directory;
};

} // namespace

TEST_CASE("events.sqlite_database: what was written can be read, filtered and in pages") {
    sqlite_world world;
    check_history_laws(world);
}

TEST_CASE("events.sqlite_database: keeps the laws") {
    sqlite_world world;
    check_database_laws(world);
}

TEST_CASE("events.sqlite_database: no row looks through those that were written before it") {
    sqlite_world world;
    auto d = world.make();
    REQUIRE(d.remove_before(wall_time{}, 1)); // makes the tables
    std::string how;
    for (auto const& step : world.query(std::string{"EXPLAIN QUERY PLAN "} + detail::sql::write_status))
        how += step + "\n";
    CHECK(how.find("TASK_ID_STATE_TIME_INDEX (task_id=? AND state=?)") != std::string::npos);
    CHECK(how.find("TEMP B-TREE") == std::string::npos); // for the order
}

TEST_CASE("events.sqlite_database: a file that cannot be opened, or is locked, is to be asked again later") {
    happenings const h;
    SqliteDatabase nowhere{"/nonexistent/runs.db"};
    auto const written = nowhere.write(entries_of(h.started()));
    REQUIRE_FALSE(written);
    CHECK(written.error() == errc::unreachable);
    CHECK(written.error().where == "/nonexistent/runs.db");
    CHECK_FALSE(nowhere.remove_before(h.begun, 1));

    sqlite_world world;
    auto d = world.make();
    REQUIRE(d.write(entries_of(h.started(1))));
    sqlite3* other = nullptr;
    REQUIRE(sqlite3_open((world.directory + "/runs.db").c_str(), &other) == SQLITE_OK);
    REQUIRE(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) == SQLITE_OK);
    auto const locked = d.write(entries_of(h.started(2)));
    REQUIRE_FALSE(locked);
    CHECK(locked.error() == errc::unreachable);
    sqlite3_close(other);
    CHECK(d.write(entries_of(h.started(2))));
}

TEST_CASE("events.sqlite_database: tables that are dropped are made again") {
    happenings const h;
    sqlite_world world;
    auto d = world.make();
    REQUIRE(d.write(entries_of(h.started(1))));
    world.query("DROP TABLE JOB_EXECUTION_LOG");
    CHECK_FALSE(d.write(entries_of(h.started(2))));
    CHECK(d.write(entries_of(h.started(2))));
    CHECK(world.query("SELECT count(*) FROM JOB_EXECUTION_LOG") == rows{"1"});
}

TEST_CASE("events.sqlite_database: a new file is its owner's alone, and one that is there keeps its rights") {
    sqlite_world const world;
    auto const path = world.directory + "/runs.db";
    auto const rights = [](std::string const& name) {
        return static_cast<int>(std::filesystem::status(name).permissions());
    };
    happenings const h;
    {
        auto d = world.make();
        REQUIRE(d.write(entries_of(h.started())));
        CHECK(rights(path) == 0600);
        CHECK(rights(path + "-wal") == 0600);
        CHECK(rights(path + "-shm") == 0600);
    }
    std::filesystem::permissions(path, std::filesystem::perms{0640});
    auto d = world.make();
    REQUIRE(d.write(entries_of(h.failed())));
    CHECK(rights(path) == 0640);
    SqliteDatabase none{":memory:"};
    CHECK(none.write(entries_of(h.started())));
    CHECK_FALSE(std::filesystem::exists(":memory:"));
}
