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
    /// From now on the database rejects rows of that state.
    void refuse_state(std::string const& state) const {
        auto d = make();
        REQUIRE(d.remove_before(wall_time{}, 1)); // makes the tables
        query("CREATE TRIGGER refuse BEFORE INSERT ON JOB_STATUS_TRACE_LOG WHEN NEW.state = '" + state +
              "' BEGIN SELECT RAISE(ABORT, 'refused'); END");
    }
    std::string directory;
};

} // namespace

TEST_CASE("events.sqlite_database: written rows can be read, filtered and in pages") {
    sqlite_world world;
    check_history_laws(world);
}

TEST_CASE("events.sqlite_database: obeys the laws") {
    sqlite_world world;
    check_database_laws(world);
}

TEST_CASE("events.sqlite_database: status rows of whole firings") {
    sqlite_world world;
    happenings const h;
    std::string const later = "settle@-@1@-@READY@-@10.0.0.1@-@7-x";
    {
        SqlEvents sink{world.make(), {.status_rows = status_rows::per_firing}};
        std::uint64_t number = 0;
        auto const tell = [&](auto e, item_index item, std::string_view task) {
            e.item = item;
            e.run.number = number;
            e.run.task_id = task;
            sink(e);
        };
        for (int n = 0; n < 2; ++n) {
            ++number;
            for (item_index const i : {0U, 1U}) tell(h.started(), i, h.task);
            tell(h.succeeded(), 0, h.task);
            if (n == 0)
                tell(h.succeeded(), 1, h.task);
            else
                tell(h.failed(), 1, h.task);
        }
        ++number; // the retry
        tell(h.started(), 1, later);
        tell(h.succeeded(), 1, later);
    }
    auto const why = "{1=" + to_string(*h.failure) + "}";
    CHECK(world.query("SELECT state, sharding_item, task_id, message FROM JOB_STATUS_TRACE_LOG "
                      "WHERE state IN ('TASK_FINISHED', 'TASK_ERROR') ORDER BY state, task_id") ==
          rows{"TASK_ERROR|[0, 1]|" + h.task + "|" + why, "TASK_FINISHED|[0, 1]|" + h.task + "|",
               "TASK_FINISHED|[1]|" + later + "|"});
    CHECK(world.query("SELECT state, sharding_item, COUNT(*) FROM JOB_STATUS_TRACE_LOG "
                      "WHERE state IN ('TASK_STAGING', 'TASK_RUNNING') GROUP BY state, sharding_item") ==
          rows{"TASK_RUNNING|[0, 1]|2", "TASK_RUNNING|[1]|1", "TASK_STAGING|[0, 1]|2", "TASK_STAGING|[1]|1"});
    CHECK(world.query("SELECT sharding_item, is_success, COUNT(*) FROM JOB_EXECUTION_LOG "
                      "WHERE complete_time IS NOT NULL GROUP BY sharding_item, is_success") ==
          rows{"0|1|2", "1|0|1", "1|1|2"});
    auto d = world.make();
    auto const page = list_states(d, {.job = "settle", .state = "TASK_ERROR"});
    REQUIRE(page);
    REQUIRE(page->rows.size() == 1);
    CHECK(page->rows[0].items == "[0, 1]");
}

TEST_CASE("events.sqlite_database: writing a row does not scan earlier rows") {
    sqlite_world world;
    auto d = world.make();
    REQUIRE(d.remove_before(wall_time{}, 1)); // makes the tables
    std::string how;
    for (auto const& step : world.query(std::string{"EXPLAIN QUERY PLAN "} + detail::sql::write_status))
        how += step + "\n";
    CHECK(how.find("TASK_ID_START_STATE_TIME_INDEX (<expr>=? AND state=?)") != std::string::npos);
    CHECK(how.find("TEMP B-TREE") == std::string::npos); // for the order
}

TEST_CASE("events.sqlite_database: a file that cannot be opened, or is locked, is an error to retry later") {
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

TEST_CASE("events.sqlite_database: dropped tables are created again") {
    happenings const h;
    sqlite_world world;
    auto d = world.make();
    REQUIRE(d.write(entries_of(h.started(1))));
    world.query("DROP TABLE JOB_EXECUTION_LOG");
    CHECK_FALSE(d.write(entries_of(h.started(2))));
    CHECK(d.write(entries_of(h.started(2))));
    CHECK(world.query("SELECT count(*) FROM JOB_EXECUTION_LOG") == rows{"1"});
}

TEST_CASE("events.sqlite_database: only the owner can access a new file, and an existing file keeps its permissions") {
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
