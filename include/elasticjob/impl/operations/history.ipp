// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_OPERATIONS_HISTORY_IPP
#define ELASTICJOB_IMPL_OPERATIONS_HISTORY_IPP

#include <elasticjob/config/instant_text.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/events/text_forms.hpp>
#include <elasticjob/events/trace.hpp>
#include <elasticjob/operations/history.hpp>

namespace elasticjob::detail {

inline execution_row row_of(std::string const& job, item_index item, run_begin const& run) {
    execution_row row;
    row.id = job + "/" + std::to_string(item) + "/" + milliseconds_text(run.due) + "/" + std::to_string(run.attempt);
    row.job = job;
    row.ip = run.instance.substr(0, run.instance.find(identity_delimiter));
    row.item = item;
    row.source = trace::detail::source_name(run.source);
    row.started = run.begun;
    return row;
}

ELASTICJOB_DECL void add_executions(std::vector<execution_row>& rows, std::string const& job, item_index item,
                                    run_record const& record) {
    for (auto const& entry : record.ledger) {
        if (entry.outcome == run_outcome::coalesced || entry.outcome == run_outcome::skipped) continue;
        auto row = row_of(job, item, entry.run);
        row.is_success = entry.outcome == run_outcome::completed;
        if (!row.is_success) row.failure = entry.note.empty() ? std::string{name_of(entry.outcome)} : entry.note;
        row.ended = entry.ended;
        rows.push_back(std::move(row));
    }
    if (record.running) rows.push_back(row_of(job, item, *record.running));
}

/// The sort key of a row: a text that sorts like the value it stands for.
inline std::string key_of(execution_row const& row, history_sort sort) {
    std::string number;
    switch (sort) {
    case history_sort::time:
        return format_instant(row.started);
    case history_sort::ended:
        return row.ended ? format_instant(*row.ended) : "9999";
    case history_sort::job:
        return row.job;
    case history_sort::item:
        append_number(number, row.item, 10);
        return number;
    case history_sort::ip:
        return row.ip;
    case history_sort::success:
        return row.is_success ? "1" : "0";
    case history_sort::source:
        return row.source;
    case history_sort::execution_type:
    case history_sort::state:
        break; // executions have no such column
    }
    return {};
}

inline bool is_wanted(execution_row const& row, history_query const& q) {
    auto const fits = [](std::string const& wanted, std::string const& value) {
        return wanted.empty() || wanted == value;
    };
    if (q.is_success && *q.is_success != row.is_success) return false;
    if ((q.from && row.started < *q.from) || (q.until && row.started > *q.until)) return false;
    return fits(q.job, row.job) && fits(q.ip, row.ip) && fits(q.source, row.source);
}

ELASTICJOB_DECL result<history_page<execution_row>> page_of(std::vector<execution_row> rows, history_query const& q) {
    ELASTICJOB_TRY(auto const after, parse_history_place(q));
    std::erase_if(rows, [&](auto const& row) { return !is_wanted(row, q); });
    history_page<execution_row> page;
    if (q.is_counted) page.total = rows.size();
    using place = std::pair<std::string, std::string>;
    auto const comes_before = [&](place const& a, place const& b) { return q.is_descending ? b < a : a < b; };
    std::vector<std::pair<place, execution_row>> sorted;
    for (auto& row : rows) {
        place at{key_of(row, q.sort), row.id};
        if (!after || comes_before({after->key, after->id}, at)) sorted.emplace_back(std::move(at), std::move(row));
    }
    std::sort(sorted.begin(), sorted.end(),
              [&](auto const& a, auto const& b) { return comes_before(a.first, b.first); });
    for (auto n = q.skipped; n < sorted.size(); ++n) {
        if (page.rows.size() == q.rows_max) {
            auto const& [key, id] = sorted[n - 1].first;
            page.next = to_text(history_place{id, key}, q);
            break;
        }
        page.rows.push_back(std::move(sorted[n].second));
    }
    return page;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_OPERATIONS_HISTORY_IPP
