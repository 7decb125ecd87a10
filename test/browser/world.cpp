// SPDX-License-Identifier: Apache-2.0
// What the tests of the page look at: two registries in memory, with a few thousand jobs, of which some run; two
// databases of events, if there is SQLite; and the console on loopback.
//
//   browser_world DIRECTORY    keeps its databases there, and prints `serves ADDRESS` and what there is besides
//
// It obeys the lines of its standard input, answers each of them with a line, and leaves when there are no more:
//
//   describe JOB TEXT     changes the description of a job             -> `done MILLISECONDS`, the time of the day before it
//   sign-in on|off        serves the console again, with passwords     -> `serves ADDRESS`
//   requests              asks how many requests the registry has had  -> `requests NUMBER`
#include <elasticjob/console/console_server.hpp>
#include <elasticjob/elasticjob.hpp>
#include <elasticjob/operations/add_job.hpp>
#include <elasticjob/operations/job_settings.hpp>
#include <elasticjob/registry/measured_registry.hpp>
#if defined(BROWSER_WORLD_SQLITE)
#include <elasticjob/events/sqlite_database.hpp>
#endif

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <mutex>
#include <optional>
#include <sstream>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <crypt.h>
#include <sys/stat.h>

namespace {

using namespace elasticjob;
using namespace std::chrono_literals;

constexpr int idle_jobs = 3'000;
constexpr int items_of_large_job = 10'000;
constexpr char const* rows_of_history = "1000000";

template <class T>
T checked(result<T> r) {
    if (r) {
        if constexpr (std::is_void_v<T>)
            return;
        else
            return *std::move(r);
    }
    std::fprintf(stderr, "browser_world: %s\n", to_string(r.error()).c_str());
    std::exit(1);
}

void say(std::string const& line) {
    std::puts(line.c_str());
    std::fflush(stdout);
}

std::string name_of_job(int n) {
    char text[32];
    std::snprintf(text, sizeof text, "branch-%04d", n);
    return text;
}

/// Jobs that no instance runs and that are not due during the tests, so that the list is long and quiet.
void add_idle_jobs(MemoryRegistry& r) {
    for (int n = 0; n < idle_jobs; ++n)
        checked(add_job(r, {.name = name_of_job(n),
                            .cron = n % 2 == 0 ? "0 0/5 9-17 ? * MON-FRI 2099" : "0 30 2 * * ? 2099",
                            .sharding_total_count = n % 10 + 1,
                            .description = n % 3 == 0 ? "Settles the accounts of the day before" : "",
                            .time_zone = n % 4 == 0 ? "Europe/Berlin" : ""}));
}

/// One process with a server of its own.
class member {
    using scheduler_type = job_scheduler<MemoryRegistry, AverageAllocation, SimpleExecutor, NoEvents>;

public:
    member(MemoryRegistry& r, std::string address) : scheduler_{r, options_of(std::move(address)), NoEvents{}} {}

    /// Item 3 of each job fails; a run takes `span`.
    void run(job_config config, std::chrono::milliseconds span) {
        auto body = [span](sharding_context const& c) -> result<void> {
            std::mutex m;
            std::condition_variable_any stopped;
            std::unique_lock lock{m};
            stopped.wait_for(lock, c.stop, span, [] { return false; });
            if (c.item == 3) return error{errc::job_failed, "the ledger of 10.2.3.4 refused the connection"};
            return success();
        };
        jobs_.push_back(checked(scheduler_.schedule(std::move(config), body)));
    }

private:
    static scheduler_options options_of(std::string address) {
        scheduler_options o;
        o.server_ip = std::move(address);
        o.drain_timeout = 1s;
        return o;
    }

    scheduler_type scheduler_;
    std::vector<scheduler_type::handle> jobs_{};
};

void run_jobs(member& m) {
    m.run({.name = "settle",
           .cron = "0/2 * * * * ?",
           .sharding_total_count = 6,
           .failover = true,
           .description = "Settles the accounts"},
          300ms);
    m.run({.name = "import", .cron = "0 0 3 * * ?", .sharding_total_count = items_of_large_job}, 1ms);
    m.run({.name = "report", .cron = "0 0 2 1 1 ?", .sharding_total_count = 4, .time_zone = "America/New_York"}, 600s);
    m.run({.name = "alarm", .cron = "0 0 2 1 1 ?", .sharding_total_count = 4, .description = "Fails"}, 1ms);
}

/// The databases: one of many rows, and one of two.
std::vector<console_database> make_databases(std::string const& directory) {
    std::vector<console_database> all;
#if defined(BROWSER_WORLD_SQLITE)
    auto const fill = [&](std::string const& name, std::string const& count, std::string const& job) {
        auto const file = directory + "/" + name + ".db";
        std::remove(file.c_str());
        auto reader = open_console_database(name, SqliteDatabase{file});
        checked(reader.executions({})); // which makes the tables
        sqlite3* db = nullptr;
        auto const sql =
            "PRAGMA synchronous = OFF; BEGIN; "
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
            count +
            ") "
            "INSERT INTO JOB_EXECUTION_LOG (id, job_name, task_id, hostname, ip, sharding_item, "
            "execution_source, failure_cause, is_success, start_time, complete_time) "
            "SELECT printf('%016x', i), '" +
            job +
            "', 'task-' || (i / 10), 'host-1', '10.0.0.' || (1 + i % 3), i % 10, "
            "'NORMAL_TRIGGER', CASE WHEN i % 97 = 0 THEN 'the ledger refused the connection' END, i % 97 <> 0, "
            "strftime('%Y-%m-%d %H:%M:%f', 1700000000 + i * 30, 'unixepoch'), "
            "strftime('%Y-%m-%d %H:%M:%f', 1700000001 + i * 30, 'unixepoch') FROM n; COMMIT";
        char* fault = nullptr;
        if (sqlite3_open(file.c_str(), &db) != SQLITE_OK ||
            sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &fault) != SQLITE_OK) {
            std::fprintf(stderr, "browser_world: %s\n", fault ? fault : "the database cannot be opened");
            std::exit(1);
        }
        sqlite3_close(db);
        all.push_back(std::move(reader));
    };
    fill("events", rows_of_history, "settle");
    fill("archive", "2", "yearly");
#else
    (void)directory;
#endif
    return all;
}

/// One operator, ann, whose password is `secret`.
std::string make_passwords(std::string const& directory) {
    auto file = directory + "/passwords";
    std::ofstream{file} << "ann:" << ::crypt("secret", "$6$salt$") << "\n";
    ::chmod(file.c_str(), S_IRUSR | S_IWUSR);
    return file;
}

} // namespace

int main(int count, char** words) {
    if (count != 2) {
        std::fputs("usage: browser_world DIRECTORY\n", stderr);
        return 2;
    }
    std::string const directory = words[1];
    MemoryRegistry billing, settling{billing.server()}, other;
    add_idle_jobs(billing);
    checked(add_job(other, {.name = "archive", .cron = "0 0 4 * * ?", .sharding_total_count = 2}));
    member one{billing, "10.0.0.1"}, two{settling, "10.0.0.2"};
    for (auto* const m : {&one, &two}) run_jobs(*m);
    // A server that went, and left its node behind.
    checked(block_on(billing.loop(),
                     billing.create(node_path{} / "report" / "servers" / "10.0.0.9", {}, create_mode::persistent)));

    std::atomic<std::uint64_t> requests{0};
    auto const meter = [&](registry_request const&) { ++requests; };
    MemoryRegistry looking{billing.server()};
    using measured = MeasuredRegistry<MemoryRegistry, decltype(meter)>;
    measured seen{looking, meter}, seen_too{other, meter};
    auto const databases = make_databases(directory);
    std::optional<console_server> console;
    auto const serve = [&](bool asks) {
        console.reset();
        console_options options;
        options.local_operator = "ann";
        if (asks) {
            options.authentication = console_authentication::password;
            options.password_file = make_passwords(directory);
            options.grants = {{"ann", "*", console_role::viewer}};
        }
        console.emplace(checked(console_server::start(
            {{"billing", "eu/billing", seen}, {"payroll", "eu/payroll", seen_too}}, std::move(options), databases)));
        say("serves " + console->url());
    };
    serve(false);
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream said{line};
        std::string verb, job, text;
        said >> verb >> job;
        std::getline(said >> std::ws, text);
        if (verb == "describe") {
            auto settings = checked(read_settings(billing, job));
            settings.config.description = text;
            auto const at = std::chrono::duration<double, std::milli>{SystemClock{}.wall_now().time_since_epoch()};
            checked(change_settings(billing, {settings.config, settings.tag, false, {}, true}, {"bob"}));
            char told[40];
            std::snprintf(told, sizeof told, "done %.3f", at.count());
            say(told);
        } else if (verb == "sign-in") {
            serve(job == "on");
        } else if (verb == "requests") {
            say("requests " + std::to_string(requests));
        } else {
            say("what is " + verb + "?");
        }
    }
}
