// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EVENTS_EVENT_HISTORY_IPP
#define ELASTICJOB_IMPL_EVENTS_EVENT_HISTORY_IPP

#include <elasticjob/config/text.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/events/event_history.hpp>
#include <elasticjob/events/text_forms.hpp>

#include <array>

namespace elasticjob {

ELASTICJOB_DECL result<history_sort> parse_history_sort(std::string_view name) {
    using sort = history_sort;
    constexpr std::array<std::pair<std::string_view, sort>, 13> all{{{"startTime", sort::time},
                                                                     {"creationTime", sort::time},
                                                                     {"completeTime", sort::ended},
                                                                     {"jobName", sort::job},
                                                                     {"shardingItem", sort::item},
                                                                     {"shardingItems", sort::item},
                                                                     {"ip", sort::ip},
                                                                     {"slaveId", sort::ip},
                                                                     {"isSuccess", sort::success},
                                                                     {"success", sort::success},
                                                                     {"source", sort::source},
                                                                     {"executionType", sort::execution_type},
                                                                     {"state", sort::state}}};
    for (auto const& [known, order] : all)
        if (known == name) return order;
    return error{errc::invalid_argument, "rows cannot be sorted by that: see parse_history_sort for the names",
                 std::string{name}};
}

namespace detail {

namespace sql {

/// The column of a table for each order; empty: the table has no such column.
using sort_columns = std::array<std::string_view, 9>;

inline constexpr sort_columns execution_order{"start_time",
                                              "COALESCE(complete_time, '9999-12-31 00:00:00')",
                                              "job_name",
                                              "sharding_item",
                                              "ip",
                                              "is_success",
                                              "execution_source",
                                              "",
                                              ""};
inline constexpr sort_columns state_order{
    "creation_time", "", "job_name", "sharding_item", "slave_id", "", "source", "execution_type", "state"};

/// Collects the conditions of a statement and their values.
class conditions {
public:
    void add(std::string const& condition, std::string const& name, std::string value) {
        text_ += " AND " + condition + " :" + name;
        values_.emplace_back(name, std::move(value));
    }
    void add_if(std::string const& column, std::string const& value) {
        if (!value.empty()) add(column + " =", column, value);
    }
    void add_times(std::string const& column, history_query const& q) {
        text_ += " WHERE " + column + " IS NOT NULL";
        if (q.from) add(column + " >=", "first_time", format_instant(*q.from, ' ', ""));
        if (q.until) add(column + " <=", "last_time", format_instant(*q.until, ' ', ""));
    }
    std::string const& text() const { return text_; }
    std::vector<std::pair<std::string, std::string>> const& values() const { return values_; }

private:
    std::string text_;
    std::vector<std::pair<std::string, std::string>> values_;
};

/// Adds the order and the limits of the page.
inline selection page_of(std::string_view name, std::string const& columns, std::size_t count, conditions const& filter,
                         std::string_view order, std::optional<history_place> const& after, history_query const& q) {
    selection s;
    s.columns = count + 1;
    s.filter = " FROM " + std::string{name} + filter.text();
    s.values = filter.values();
    s.filter_values = s.values.size();
    std::string const key{order};
    std::string const way = q.is_descending ? " DESC" : "";
    s.text = "SELECT " + columns + ", " + key + s.filter;
    if (after) {
        s.text += " AND (" + key + ", id) " + (q.is_descending ? "<" : ">") + " (:after_key, :after_id)";
        s.values.emplace_back("after_key", after->key);
        s.values.emplace_back("after_id", after->id);
    }
    s.text += " ORDER BY " + key + way + ", id" + way + " LIMIT " + std::to_string(q.rows_max + 1) + " OFFSET " +
              std::to_string(q.skipped);
    return s;
}

} // namespace sql

inline error no_such_filter(std::string_view what, std::string_view rows) {
    return error{errc::invalid_argument,
                 std::string{rows} + " have no " + std::string{what} + ", so they cannot be selected by it",
                 std::string{what}};
}

inline result<void> check_rows_max(history_query const& q) {
    if (q.rows_max >= 1 && q.rows_max <= history_rows_max) return success();
    return error{errc::invalid_argument, "a page has 1 to 1,000 rows", "rows_max"};
}

ELASTICJOB_DECL result<void> check_execution_query(history_query const& q) {
    auto const order = sql::execution_order[static_cast<std::size_t>(q.sort)];
    if (!q.state.empty() || q.sort == history_sort::state) return no_such_filter("state", "executions");
    if (!q.execution_type.empty() || order.empty()) return no_such_filter("execution_type", "executions");
    return check_rows_max(q);
}

ELASTICJOB_DECL result<void> check_state_query(history_query const& q) {
    if (q.is_success || q.sort == history_sort::success) return no_such_filter("success", "states");
    if (q.sort == history_sort::ended) return no_such_filter("end", "states");
    return check_rows_max(q);
}

inline std::string order_text(history_query const& q) {
    return std::to_string(static_cast<int>(q.sort)) + (q.is_descending ? "-" : "+");
}

ELASTICJOB_DECL std::string to_text(history_place const& place, history_query const& q) {
    return order_text(q) + std::to_string(place.id.size()) + "|" + place.id + place.key;
}

ELASTICJOB_DECL result<std::optional<history_place>> parse_history_place(history_query const& q) {
    if (q.after.empty()) return std::optional<history_place>{};
    auto const order = order_text(q);
    auto const bar = q.after.find('|'); // ids and keys may contain bars, so the length of the id comes first
    std::optional<std::size_t> size;
    if (q.after.starts_with(order) && bar != q.after.npos && bar >= order.size())
        size = parse_number<std::size_t>(std::string_view{q.after}.substr(order.size(), bar - order.size()));
    if (!size || *size > q.after.size() - bar - 1)
        return error{errc::invalid_argument, "this is not the cursor of a page in this order", q.after};
    return std::optional{history_place{q.after.substr(bar + 1, *size), q.after.substr(bar + 1 + *size)}};
}

ELASTICJOB_DECL result<sql::selection> select_executions(history_query const& q) {
    ELASTICJOB_CHECK(check_execution_query(q));
    ELASTICJOB_TRY(auto const after, parse_history_place(q));
    sql::conditions filter;
    filter.add_times("start_time", q);
    filter.add_if("job_name", q.job);
    filter.add_if("ip", q.ip);
    filter.add_if("execution_source", q.source);
    if (q.is_success) filter.add("is_success =", "is_success", *q.is_success ? "1" : "0");
    return sql::page_of("JOB_EXECUTION_LOG",
                        "id, job_name, task_id, hostname, ip, sharding_item, execution_source, failure_cause, "
                        "is_success, start_time, complete_time",
                        11, filter, sql::execution_order[static_cast<std::size_t>(q.sort)], after, q);
}

ELASTICJOB_DECL result<sql::selection> select_states(history_query const& q) {
    ELASTICJOB_CHECK(check_state_query(q));
    ELASTICJOB_TRY(auto const after, parse_history_place(q));
    sql::conditions filter;
    filter.add_times("creation_time", q);
    filter.add_if("job_name", q.job);
    filter.add_if("slave_id", q.ip);
    filter.add_if("source", q.source);
    filter.add_if("execution_type", q.execution_type);
    filter.add_if("state", q.state);
    return sql::page_of("JOB_STATUS_TRACE_LOG",
                        "id, job_name, original_task_id, task_id, slave_id, source, execution_type, sharding_item, "
                        "state, message, creation_time",
                        11, filter, sql::state_order[static_cast<std::size_t>(q.sort)], after, q);
}

ELASTICJOB_DECL sql::selection counted(sql::selection const& page) {
    sql::selection s{"SELECT count(*)" + page.filter, page.values, 1};
    s.values.resize(page.filter_values);
    return s;
}

/// Reads `2026-01-01 00:00:00`, with up to nine decimal places.
inline bool read_sql_instant(std::string_view text, wall_time& into) {
    using namespace std::chrono;
    constexpr std::string_view shape = "dddd-dd-dd dd:dd:dd";
    if (text.size() < shape.size()) return false;
    for (std::size_t n = 0; n < shape.size(); ++n)
        if (shape[n] == 'd' ? !is_digit(text[n]) : text[n] != shape[n] && !(n == 10 && text[n] == 'T')) return false;
    auto const number = [&](std::size_t begin, std::size_t size) {
        int value = 0;
        for (auto n = begin; n < begin + size; ++n) value = value * 10 + (text[n] - '0');
        return value;
    };
    auto const digits = [](int value) { return static_cast<unsigned>(value); };
    year_month_day const date{year{number(0, 4)}, month{digits(number(5, 2))}, day{digits(number(8, 2))}};
    if (!date.ok() || number(0, 4) < 1700 || number(0, 4) > 2200) return false;
    nanoseconds fraction{0};
    auto rest = text.substr(shape.size());
    if (rest.starts_with('.')) {
        rest.remove_prefix(1);
        nanoseconds unit{100'000'000};
        for (; !rest.empty() && is_digit(rest.front()); rest.remove_prefix(1), unit /= 10)
            fraction += unit * (rest.front() - '0');
    }
    if (!rest.empty()) return false;
    auto const of_day = hours{number(11, 2)} + minutes{number(14, 2)} + seconds{number(17, 2)};
    into = time_point_cast<wall_time::duration>(sys_days{date} + of_day + fraction);
    return true;
}

ELASTICJOB_DECL result<execution_row> read_execution(std::vector<std::optional<std::string>> const& c) {
    auto const text = [&](std::size_t n) { return c[n].value_or(""); };
    execution_row row{text(0), text(1), text(2), text(3), text(4), 0, text(6), text(7), text(8) == "1", {}, {}};
    wall_time ended{};
    bool const is_read = read_number(text(5), row.item) && read_sql_instant(text(9), row.started) &&
                         (!c[10] || read_sql_instant(*c[10], ended));
    if (!is_read) return error{errc::malformed_data, "an item or a time of a run cannot be read", row.id};
    if (c[10]) row.ended = ended;
    return row;
}

ELASTICJOB_DECL result<state_row> read_state(std::vector<std::optional<std::string>> const& c) {
    auto const text = [&](std::size_t n) { return c[n].value_or(""); };
    state_row row{text(0), text(1), text(2), text(3), text(4), text(5), text(6), text(7), text(8), text(9), {}};
    if (!read_sql_instant(text(10), row.at))
        return error{errc::malformed_data, "the time of a state cannot be read", row.id};
    return row;
}

} // namespace detail
} // namespace elasticjob
#endif // ELASTICJOB_IMPL_EVENTS_EVENT_HISTORY_IPP
