// SPDX-License-Identifier: Apache-2.0
/// \file \brief Reads recorded runs from the database of events: filtered, sorted, page by page.
#ifndef ELASTICJOB_EVENTS_EVENT_HISTORY_HPP
#define ELASTICJOB_EVENTS_EVENT_HISTORY_HPP

#include <elasticjob/config/text.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/identity.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/events/sql_selection.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// The order of the rows in a history. Rows that are equal in it are ordered by their id.
enum class history_sort : std::uint8_t {
    time,  ///< of the start, or of the state; rows without a time are left out
    ended, ///< runs that have not ended come after all others
    job,
    item, ///< of a state: compared as text
    ip,
    success,
    source,
    execution_type,
    state,
};

/// The order with the name that the console of 2.1.5 uses: `startTime`, `creationTime`, `completeTime`, `jobName`,
/// `shardingItem`, `shardingItems`, `ip`, `slaveId`, `isSuccess`, `success`, `source`, `executionType`, `state`.
/// Errors: invalid_argument.
result<history_sort> parse_history_sort(std::string_view name);

/// The wanted rows, and the size of a page. Texts are compared as a whole; an empty text means any.
struct history_query {
    std::string job{};
    std::string ip{};
    std::string source{};             ///< `NORMAL_TRIGGER`, `MISFIRE`, `FAILOVER`; of a state: `LITE_EXECUTOR`
    std::optional<bool> is_success{}; ///< of executions only; a run that has not ended does not count as a success
    std::string execution_type{};     ///< of states only: `READY`, `FAILOVER`
    std::string state{};              ///< of states only: `TASK_ERROR`
    std::optional<wall_time> from{};  ///< started, or written, at this time or later
    std::optional<wall_time> until{}; ///< started, or written, at this time or earlier
    history_sort sort = history_sort::time;
    bool is_descending = true;

    std::string after{};       ///< the cursor of the previous page; empty: from the beginning
    std::uint64_t skipped = 0; ///< leaves out this many rows, but reads them too: prefer the cursor
    std::size_t rows_max = 10; ///< 1 to 1,000
    bool is_counted = false;   ///< whether the page has the total number of rows, which requires reading all of them
};

/// A run of an item.
struct execution_row {
    std::string id, job, task_id, hostname, ip;
    item_index item = 0;
    std::string source;
    std::string failure; ///< empty: the run did not fail
    bool is_success = false;
    wall_time started{};
    std::optional<wall_time> ended{};
};

/// A state that a run has reached.
struct state_row {
    std::string id, job, original_task_id, task_id, ip, source, execution_type, items, state, message;
    wall_time at{};
};

template <class Row>
struct history_page {
    std::vector<Row> rows;
    std::string next{};                   ///< the cursor of the next page; empty: this is the last page
    std::optional<std::uint64_t> total{}; ///< of all pages, if `is_counted`
};

namespace detail {

inline constexpr std::size_t history_rows_max = 1'000;

/// The end of a page.
struct history_place {
    std::string id, key;
};

/// Errors: invalid_argument for an invalid cursor, and for a cursor of another order.
result<std::optional<history_place>> parse_history_place(history_query const& q);
std::string to_text(history_place const& place, history_query const& q);

/// Errors: invalid_argument for an order or a filter that executions, or states, do not have.
result<void> check_execution_query(history_query const& q);
result<void> check_state_query(history_query const& q);

/// The statement for a page and one more row. Its last column is the sort key. It contains no text of the query.
/// Errors: those of the checks, and of the cursor.
result<sql::selection> select_executions(history_query const& q);
result<sql::selection> select_states(history_query const& q);

/// The statement that counts the rows of all pages.
sql::selection counted(sql::selection const& page);

/// Errors: malformed_data for a value that the tables should not contain.
result<execution_row> read_execution(std::vector<std::optional<std::string>> const& columns);
result<state_row> read_state(std::vector<std::optional<std::string>> const& columns);

template <class Row, readable_event_database Database, class Read>
result<history_page<Row>> read_page(Database& d, history_query const& q, sql::selection const& s, Read read) {
    ELASTICJOB_TRY(auto const found, d.select(s));
    history_page<Row> page;
    for (auto const& columns : found) {
        if (page.rows.size() == q.rows_max) {
            auto const& last = found[q.rows_max - 1];
            page.next = to_text(history_place{page.rows.back().id, last.back().value_or("")}, q);
            break;
        }
        ELASTICJOB_TRY(auto row, read(columns));
        page.rows.push_back(std::move(row));
    }
    if (!q.is_counted) return page;
    ELASTICJOB_TRY(auto const count, d.select(counted(s)));
    std::uint64_t total = 0;
    bool const is_number = count.size() == 1 && count[0].size() == 1 && read_number(count[0][0].value_or(""), total);
    if (!is_number) return error{errc::malformed_data, "the database returned no number of rows"};
    page.total = total;
    return page;
}

} // namespace detail

/// A page of runs. Takes one prepared statement, and another one if the rows are counted. Blocks the calling thread.
/// Errors: invalid_argument for a query that executions cannot answer; malformed_data for a row that cannot be read;
/// unreachable if the database is unavailable. Threads: one at a time for a database.
template <readable_event_database Database>
result<history_page<execution_row>> list_executions(Database& d, history_query const& q) {
    ELASTICJOB_TRY(auto const s, detail::select_executions(q));
    return detail::read_page<execution_row>(d, q, s, detail::read_execution);
}

/// A page of states. Otherwise as `list_executions`.
template <readable_event_database Database>
result<history_page<state_row>> list_states(Database& d, history_query const& q) {
    ELASTICJOB_TRY(auto const s, detail::select_states(q));
    return detail::read_page<state_row>(d, q, s, detail::read_state);
}

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/events/event_history.ipp>
#endif
#endif // ELASTICJOB_EVENTS_EVENT_HISTORY_HPP
