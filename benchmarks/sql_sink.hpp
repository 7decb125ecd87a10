// SPDX-License-Identifier: Apache-2.0
/// \file \brief What SqlEvents costs with a database, and the same rows written the plain way. At most one file of a
/// program may include it: see test/support/counted_new.hpp.
#ifndef ELASTICJOB_BENCHMARKS_SQL_SINK_HPP
#define ELASTICJOB_BENCHMARKS_SQL_SINK_HPP

#include "../test/support/counted_new.hpp"
#include "one_run.hpp"

#include <elasticjob/events/sql_events.hpp>

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace elasticjob::bench {

/// A batch is what the queue hands over at a time.
inline constexpr std::size_t events_of_batch = queue_options{}.batch_max;
inline constexpr std::size_t runs_of_batch = events_of_batch / 2;

/// The rows of a batch, of runs that have not been before.
inline std::vector<trace::entry> next_rows(one_run& what, trace::tracer const& trace) {
    std::vector<trace::entry> rows;
    auto const add = [&](auto&& row) { rows.emplace_back(std::move(row)); };
    auto const tell = [&](auto const& e) { trace(e, add); };
    for (std::size_t n = 0; n < runs_of_batch; ++n, ++what.number) what.tell(tell);
    return rows;
}

/// For the caller, who tells of one run after the other, faster than they are written: the oldest are dropped.
template <class Database>
void told(benchmark::State& state, Database db) {
    one_run what;
    SqlEvents sink{std::move(db)};
    auto const account = sink.account();
    for (auto n = queue_options{}.depth_max; n > 0; --n, ++what.number) what.tell(sink); // no place of the queue is new
    auto const before = counted_new::calls;
    for (auto _ : state) {
        what.tell(sink);
        ++what.number;
    }
    state.counters["allocations"] =
        static_cast<double>(counted_new::calls - before) / static_cast<double>(state.iterations());
    if (account->done == 0 && account->dropped == 0) state.SkipWithError("nothing was written");
}

/// From telling a full queue of events until the last of them has been written.
template <class Database>
void drained(benchmark::State& state, Database db) {
    using namespace std::chrono_literals;
    one_run what;
    SqlEvents sink{std::move(db)};
    auto const account = sink.account();
    std::uint64_t events = 0;
    auto const tell_and_wait = [&] {
        for (auto n = queue_options{}.depth_max / 2; n > 0; --n, ++what.number) what.tell(sink);
        events += queue_options{}.depth_max / 2 * 2;
        while (account->done + account->dropped < events) std::this_thread::sleep_for(1ms);
    };
    tell_and_wait(); // and connects
    for (auto _ : state) tell_and_wait();
    if (account->dropped != 0) state.SkipWithError("events were dropped");
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(queue_options{}.depth_max / 2 * 2));
}

/// `write(rows)` for a batch of rows that `convert` has made of ours; says whether they have been written.
template <class Convert, class Write>
void repeat_batches(benchmark::State& state, Convert convert, Write write) {
    one_run what;
    trace::tracer const trace;
    if (!write(convert(next_rows(what, trace)))) return state.SkipWithError("the rows were not written");
    std::size_t allocations = 0;
    for (auto _ : state) {
        state.PauseTiming();
        auto const rows = convert(next_rows(what, trace));
        state.ResumeTiming();
        auto const before = counted_new::calls;
        if (!write(rows)) return state.SkipWithError("the rows were not written");
        allocations += counted_new::calls - before;
    }
    auto const events = state.iterations() * static_cast<std::int64_t>(events_of_batch);
    state.SetItemsProcessed(events);
    state.counters["allocations"] = static_cast<double>(allocations) / static_cast<double>(events);
}

/// The database without a queue.
template <class Database>
void written(benchmark::State& state, Database db) {
    repeat_batches(state, [](std::vector<trace::entry> rows) { return rows; },
                   [&](std::vector<trace::entry> const& rows) { return db.write(rows).has_value(); });
}

/// The floor: prepared statements that take the values in their order, as text.
enum class plain_statement { begin, end, status };
inline constexpr plain_statement plain_statements[] = {plain_statement::begin, plain_statement::end,
                                                       plain_statement::status};
inline constexpr std::size_t plain_values = 11; ///< of each

/// With `mark` before the numbers of the values.
inline std::string plain_text(plain_statement s, char mark) {
    std::string text;
    switch (s) {
    case plain_statement::begin:
        text = "INSERT INTO JOB_EXECUTION_LOG (id, job_name, task_id, hostname, ip, sharding_item, execution_source, "
               "failure_cause, is_success, start_time, complete_time) "
               "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
        break;
    case plain_statement::end:
        text = "UPDATE JOB_EXECUTION_LOG SET failure_cause = ?8, is_success = ?9, complete_time = ?11 WHERE id = ?1";
        break;
    case plain_statement::status:
        text = "INSERT INTO JOB_STATUS_TRACE_LOG (id, job_name, original_task_id, task_id, slave_id, source, "
               "execution_type, sharding_item, state, message, creation_time) "
               "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
        break;
    }
    for (auto& c : text)
        if (c == '?') c = mark;
    return text;
}

struct plain_row {
    plain_statement statement{};
    std::vector<std::optional<std::string>> values{};
};

inline std::vector<plain_row> plain_rows(std::vector<trace::entry> const& rows) {
    std::vector<plain_row> plain;
    for (auto const& entry : rows) {
        auto& one = plain.emplace_back();
        one.statement = plain_statement::status;
        if (auto const* x = std::get_if<trace::execution_event>(&entry))
            one.statement = x->complete_time ? plain_statement::end : plain_statement::begin;
        auto const add = [&](std::string_view name, auto const& value) {
            if (name == "same_start" || name == "staged_task_id") return; // which only our statement has
            if constexpr (std::is_same_v<decltype(value), int const&>)
                one.values.emplace_back(std::to_string(value));
            else
                one.values.emplace_back(value);
        };
        std::visit([&](auto const& row) { detail::sql::bind(row, add); }, entry);
    }
    return plain;
}

} // namespace elasticjob::bench
#endif // ELASTICJOB_BENCHMARKS_SQL_SINK_HPP
