// SPDX-License-Identifier: Apache-2.0
/// \file \brief The role of a database that records runs, and its tables.
#ifndef ELASTICJOB_EVENTS_EVENT_DATABASE_HPP
#define ELASTICJOB_EVENTS_EVENT_DATABASE_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/events/trace.hpp>

#include <array>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace elasticjob {

namespace trace {
/// An entry: a new row, or a change of a row.
using entry = std::variant<execution_event, status_trace_event>;
} // namespace trace

/// | expression              | returns                 | must hold                                                          |
/// |-------------------------|-------------------------|--------------------------------------------------------------------|
/// | `d.write(entries)`      | `result<void>`          | writes all entries or none; a repeated write changes nothing; the  |
/// |                         |                         | start of a run never overwrites its end                            |
/// | `d.remove_before(t, n)` | `result<std::uint64_t>` | removes at most `n` rows of events before `t`, and returns their   |
/// |                         |                         | number; fewer than `n` if there are no more                        |
///
/// Both functions connect and create the tables if necessary. Errors: unreachable if the call may succeed later;
/// invalid_argument if the database will never accept this.
/// Models: SqliteDatabase, PostgresDatabase. Threads: one.
template <class D>
concept event_database = std::move_constructible<D> &&
    requires(D& d, std::span<trace::entry const> entries, wall_time t, std::uint64_t n) {
    { d.write(entries) } -> std::same_as<result<void>>;
    { d.remove_before(t, n) } -> std::same_as<result<std::uint64_t>>;
};

/// The tables of ElasticJob, in SQL that SQLite and PostgreSQL both understand. Texts have no limit of length, because
/// a task id may have any length. Times are in UTC.
namespace detail::sql {

struct relation {
    char const* name; ///< of a table or an index
    char const* creation;
    char const* removal = nullptr; ///< of the index of an earlier version that this one replaces
};

inline constexpr std::array<relation, 5> schema{{
    {"JOB_EXECUTION_LOG",
     "CREATE TABLE IF NOT EXISTS JOB_EXECUTION_LOG ("
     "id VARCHAR(40) NOT NULL PRIMARY KEY, job_name TEXT NOT NULL, task_id TEXT NOT NULL, hostname TEXT NOT NULL, "
     "ip TEXT NOT NULL, sharding_item INT NOT NULL, execution_source VARCHAR(20) NOT NULL, failure_cause TEXT NULL, "
     "is_success INT NOT NULL, start_time TIMESTAMP NULL, complete_time TIMESTAMP NULL)"},
    {"JOB_STATUS_TRACE_LOG",
     "CREATE TABLE IF NOT EXISTS JOB_STATUS_TRACE_LOG ("
     "id VARCHAR(40) NOT NULL PRIMARY KEY, job_name TEXT NOT NULL, original_task_id TEXT NOT NULL, "
     "task_id TEXT NOT NULL, slave_id TEXT NOT NULL, source VARCHAR(50) NOT NULL, execution_type VARCHAR(20) NOT NULL, "
     "sharding_item TEXT NOT NULL, state VARCHAR(20) NOT NULL, message TEXT NULL, creation_time TIMESTAMP NULL)"},
    // For finding the original task of a row. The TASK_ID_STATE_INDEX of 2.1.5 does not contain the time. All firings
    // of an instance for the same items share a task id, so without the time each insertion would scan all earlier
    // rows. PostgreSQL limits a row of an index to some 2,700 bytes, and a task id names all its items.
    {"TASK_ID_START_STATE_TIME_INDEX",
     "CREATE INDEX IF NOT EXISTS TASK_ID_START_STATE_TIME_INDEX ON JOB_STATUS_TRACE_LOG "
     "(substr(task_id, 1, 200), state, creation_time)",
     "DROP INDEX IF EXISTS TASK_ID_STATE_TIME_INDEX"},
    // For the removal of old rows.
    {"JOB_EXECUTION_LOG_START_TIME",
     "CREATE INDEX IF NOT EXISTS JOB_EXECUTION_LOG_START_TIME ON JOB_EXECUTION_LOG (start_time)"},
    {"JOB_STATUS_TRACE_LOG_CREATION_TIME",
     "CREATE INDEX IF NOT EXISTS JOB_STATUS_TRACE_LOG_CREATION_TIME ON JOB_STATUS_TRACE_LOG (creation_time)"},
}};

/// If the run has ended, its start changes nothing. Its end overwrites its start, or is inserted if there is no start.
inline constexpr char const* write_execution =
    "INSERT INTO JOB_EXECUTION_LOG (id, job_name, task_id, hostname, ip, sharding_item, execution_source, "
    "failure_cause, "
    "is_success, start_time, complete_time) VALUES (:id, :job_name, :task_id, :hostname, :ip, :sharding_item, "
    ":execution_source, :failure_cause, :is_success, :start_time, :complete_time) "
    "ON CONFLICT (id) DO UPDATE SET failure_cause = excluded.failure_cause, is_success = excluded.is_success, "
    "complete_time = excluded.complete_time WHERE excluded.complete_time IS NOT NULL";

/// Without an original task, a row takes that of the first row of its task. SQLite would put the value of `task_id`
/// into the other condition, which could not use its index then; `|| ''` prevents that.
inline constexpr char const* write_status =
    "INSERT INTO JOB_STATUS_TRACE_LOG (id, job_name, original_task_id, task_id, slave_id, source, execution_type, "
    "sharding_item, state, message, creation_time) VALUES (:id, :job_name, COALESCE(NULLIF(:original_task_id, ''), "
    "(SELECT original_task_id FROM JOB_STATUS_TRACE_LOG WHERE substr(task_id, 1, 200) = "
    "substr(CAST(:same_start AS TEXT), 1, 200) AND task_id || '' = :staged_task_id AND state = 'TASK_STAGING' "
    "ORDER BY creation_time DESC LIMIT 1), ''), :task_id, :slave_id, :source, :execution_type, :sharding_item, :state, "
    ":message, :creation_time) ON CONFLICT (id) DO NOTHING";

/// For each table, the statement that removes its oldest rows from before `:before`, `:count` at most. The databases
/// select the rows of a subquery in different ways, so the beginning and the end of the condition are parameters:
/// `rowid IN (SELECT rowid` and `)`.
std::array<std::string, 2> removals(std::string const& is_one_of, std::string const& end);

inline std::string instant(wall_time t) { return format_instant(t, ' ', ""); }

/// Calls `f(name, value)` for each parameter of the statement. A value is a text, a number, or an optional text.
template <class F>
void bind(trace::execution_event const& x, F&& f) {
    f("id", x.id);
    f("job_name", x.job_name);
    f("task_id", x.task_id);
    f("hostname", x.hostname);
    f("ip", x.ip);
    f("sharding_item", static_cast<int>(x.sharding_item));
    f("execution_source", std::string{x.source});
    f("failure_cause", x.failure_cause.empty() ? std::optional<std::string>{} : x.failure_cause);
    f("is_success", x.is_success ? 1 : 0);
    f("start_time", instant(x.start_time));
    f("complete_time", x.complete_time ? std::optional{instant(*x.complete_time)} : std::nullopt);
}
template <class F>
void bind(trace::status_trace_event const& s, F&& f) {
    f("id", s.id);
    f("job_name", s.job_name);
    f("original_task_id", s.original_task_id);
    f("same_start", s.task_id);
    f("staged_task_id", s.task_id);
    f("task_id", s.task_id);
    f("slave_id", s.slave_id);
    f("source", std::string{s.source});
    f("execution_type", std::string{s.execution_type});
    f("sharding_item", s.sharding_items);
    f("state", std::string{s.state});
    f("message", s.message);
    f("creation_time", instant(s.creation_time));
}

} // namespace detail::sql
} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/events/event_database.ipp>
#endif
#endif // ELASTICJOB_EVENTS_EVENT_DATABASE_HPP
