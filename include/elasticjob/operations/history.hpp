// SPDX-License-Identifier: Apache-2.0
/// \file \brief Lists past runs, from the run records of a registry or from a database of events.
#ifndef ELASTICJOB_OPERATIONS_HISTORY_HPP
#define ELASTICJOB_OPERATIONS_HISTORY_HPP

#include <elasticjob/config/text.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/wait_within.hpp>
#include <elasticjob/events/event_history.hpp>
#include <elasticjob/execution/run_record.hpp>
#include <elasticjob/operations/dead_letters.hpp>
#include <elasticjob/operations/job_overview.hpp>
#include <elasticjob/registry/read_paced.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

namespace detail {

/// The maximum number of run records that one query reads.
inline constexpr std::size_t history_records_max = 20'000;

/// Adds the runs of a record, including the live one, but not instants that never ran.
void add_executions(std::vector<execution_row>& rows, std::string const& job, item_index item,
                    run_record const& record);

/// The page of these rows that the query wants. Errors: invalid_argument.
result<history_page<execution_row>> page_of(std::vector<execution_row> rows, history_query const& q);

} // namespace detail

/// A page of runs from the run records, for jobs without a database of events: the last twelve due instants and orders
/// of each item, if they were run, and the live run. Java members and jobs that are not monitored have no records. The
/// rows have no host name and no task id. Records that cannot be read are left out; `check_job` finds them. One request
/// for each job, one for each of its items, and one more for the names of the jobs if none is given. Each page reads
/// all of them. Errors: invalid_argument for a query that executions cannot answer; no_node if the job does not exist
/// or keeps no records; too_large if there are more than 20,000 items: name a job; those of the registry.
template <registry Registry>
task<result<history_page<execution_row>>> find_executions(Registry& r, history_query query) {
    ELASTICJOB_CO_CHECK(detail::check_execution_query(query));
    std::vector<std::string> names{query.job};
    if (query.job.empty()) {
        ELASTICJOB_CO_TRY(names, co_await find_job_names(r));
    } else {
        ELASTICJOB_CO_CHECK(job_name::parse(query.job));
    }
    std::vector<node_path> lists, paths;
    for (auto const& name : names) lists.push_back(job_layout{*job_name::parse(name)}.run_records());
    ELASTICJOB_CO_TRY(auto const items, co_await list_paced(r, lists, paced_requests_max));
    if (!query.job.empty() && items[0].empty()) co_return detail::no_records(job_layout{*job_name::parse(query.job)});
    std::vector<std::pair<std::size_t, item_index>> places; // the index of the job, and the item
    for (std::size_t n = 0; n < names.size(); ++n)
        for (auto const& name : items[n])
            if (item_index i = 0; detail::read_number(std::string_view{name}, i)) {
                places.emplace_back(n, i);
                paths.push_back(lists[n] / name);
            }
    if (paths.size() > detail::history_records_max)
        co_return error{errc::too_large, "there are too many items to sort their runs: name a job", query.job};
    ELASTICJOB_CO_TRY(auto const nodes, co_await read_paced(r, std::move(paths), paced_requests_max));
    std::vector<execution_row> rows;
    for (std::size_t n = 0; n < nodes.size(); ++n) {
        if (!nodes[n]) continue;
        auto const record = run_record::parse(nodes[n]->data);
        if (record) detail::add_executions(rows, names[places[n].first], places[n].second, *record);
    }
    co_return detail::page_of(std::move(rows), query);
}

/// As a blocking call. Waits up to `timeout`. Errors: as above, and timed_out. Threads: any but the loop's.
template <registry Registry>
result<history_page<execution_row>> list_executions(Registry& r, history_query const& query,
                                                    std::chrono::milliseconds timeout = std::chrono::seconds{60}) {
    return detail::wait_within(r.loop(), timeout, find_executions(r, query));
}

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/operations/history.ipp>
#endif
#endif // ELASTICJOB_OPERATIONS_HISTORY_HPP
