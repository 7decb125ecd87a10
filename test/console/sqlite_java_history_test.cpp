// SPDX-License-Identifier: Apache-2.0
#include <console/java_answers.hpp>

#include <elasticjob/events/sqlite_database.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <stdlib.h> // mkdtemp
#include <string>
#include <string_view>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

/// A database with rows written by members of 2.1.5.
class recorded_database {
public:
    recorded_database() {
        char name[] = "/tmp/elasticjob-console-XXXXXX";
        directory_ = mkdtemp(name);
        SqliteDatabase d{file()};
        REQUIRE(d.remove_before(wall_time{}, 1)); // makes the tables
        auto const& history = java_answers().at("history");
        for (auto row : history.executions) {
            complete(row[9]);
            complete(row[10]);
            insert("JOB_EXECUTION_LOG", row);
        }
        for (auto row : history.states) {
            complete(row[10]);
            insert("JOB_STATUS_TRACE_LOG", row);
        }
    }
    ~recorded_database() { std::filesystem::remove_all(directory_); }
    recorded_database(recorded_database const&) = delete;

    console_database open() const { return open_console_database("events", SqliteDatabase{file()}); }

private:
    std::string file() const { return directory_ + "/runs.db"; }

    /// With three decimal places, as this library writes.
    static void complete(std::string& time) {
        constexpr std::size_t whole = 23;
        if (time.size() > 19) time.resize(whole, '0');
    }
    void insert(std::string const& table, std::vector<std::string> const& columns) {
        std::string text = "INSERT INTO " + table + " VALUES (";
        for (auto const& column : columns) {
            auto quoted = column;
            for (auto at = quoted.find('\''); at != quoted.npos; at = quoted.find('\'', at + 2)) quoted.insert(at, "'");
            text += (&column == &columns.front() ? "" : ",") + (column == "\\N" ? "NULL" : "'" + quoted + "'");
        }
        sqlite3* db = nullptr;
        REQUIRE(sqlite3_open(file().c_str(), &db) == SQLITE_OK);
        CHECK_MESSAGE(sqlite3_exec(db, (text + ")").c_str(), nullptr, nullptr, nullptr) == SQLITE_OK, text);
        sqlite3_close(db);
    }
    std::string directory_;
};

/// The values of a member, row by row.
std::string column(std::string const& page, std::string_view member) {
    rapidjson::Document d;
    d.Parse(page.c_str());
    REQUIRE(d.IsObject());
    std::string all;
    for (auto const& row : d["rows"].GetArray()) {
        auto const there = row.FindMember(std::string{member}.c_str());
        if (there == row.MemberEnd()) continue;
        all += there->value.IsString() ? there->value.GetString() : there->value.IsTrue() ? "true" : "false";
        all += "\n";
    }
    return all;
}

struct deviation {
    std::string target;
    int status;
    std::string answer;
};

} // namespace

TEST_CASE("console.java_history: pages, filters and orders of rows that members of 2.1.5 wrote") {
    recorded_database const database;
    console_world w{{database.open()}, false};
    w.options.has_java_interface = true;
    std::string const runs = "/api/event-trace/execution", states = "/api/event-trace/status";
    std::string const name = R"([{"name":"events","activated":true}])", there = "where the console is started";
    std::vector<deviation> expected{
        {"POST /api/data-source", 403, there}, // the console neither takes nor shows addresses and passwords
        {"POST /api/data-source/connectTest", 403, there},
        {"POST /api/data-source/connectTest", 403, there},
        {"GET /api/data-source/activated", 200, "true"}, // active from the start
        {"GET /api/data-source", 200, name},
        {"GET " + runs + "?sort=nonsense&order=asc&per_page=100", 400, "cannot be sorted by that"},
        {"GET " + runs + "?sort=startTime", 200, ""}, // 2.1.5 fails without an order
        {"GET " + runs + "?startTime=noon", 400, "must be a time"},
        {"GET " + runs + "?per_page=many", 400, "per_page"},
        {"GET " + runs + "?page=0&sort=startTime&order=asc", 400, "page"},
        {"GET " + runs + "?isSuccess=maybe", 400, "must be 1 or 0"},
        {"GET " + states + "?endTime=noon", 400, "must be a time"},
        {"DELETE /api/data-source", 403, there},
        {"DELETE /api/data-source", 403, there},
        {"GET /api/data-source/activated", 200, "true"},
    };
    auto next = expected.begin();
    for (auto const& theirs : java_answers().at("history").answers) {
        auto const request = theirs.method + " " + theirs.target;
        INFO(request, " ", theirs.body);
        auto const ours = w.send_to(theirs.method, theirs.target, theirs.body);
        if (next != expected.end() && next->target == request) {
            CHECK(ours.status == next->status);
            if (ours.status != 200)
                CHECK_MESSAGE(ours.body.find(next->answer) != std::string::npos, ours.body);
            else if (!next->answer.empty())
                CHECK(difference(next->answer, ours.body) == "");
            ++next;
            continue;
        }
        CHECK(ours.status == theirs.status);
        CHECK(ours.type == theirs.type);
        CHECK(difference(theirs.text, ours.body) == "");
        detail::console_request r;
        REQUIRE(detail::read_target(theirs.target, r));
        if (auto const sort = r.parameter("sort"); !sort.empty() && sort != "success")
            CHECK(column(theirs.text, sort) == column(ours.body, sort));
    }
    CHECK(next == expected.end());

    // Without an order, this console begins with the newest row, and 2.1.5 with any row.
    auto const first = w.send_to("GET", runs + "?per_page=1").at("/rows/0/id");
    CHECK(first == w.send_to("GET", runs + "?per_page=1&sort=startTime&order=desc").at("/rows/0/id"));
    CHECK(first != w.send_to("GET", runs + "?per_page=1&sort=startTime").at("/rows/0/id"));
}
