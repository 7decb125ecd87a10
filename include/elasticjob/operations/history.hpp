// SPDX-License-Identifier: Apache-2.0
/// \file \brief Which runs there have been: from the run records of a registry, or from a database of events.
#ifndef ELASTICJOB_OPERATIONS_HISTORY_HPP
#define ELASTICJOB_OPERATIONS_HISTORY_HPP

#include <elasticjob/core/block_on.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/within.hpp>
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

/// How many run records one query reads at most.
inline constexpr std::size_t history_records_max = 20'000;

/// Adds the runs of a record, also the live one; not what was never run.
void add_executions(std::vector<execution_row>& rows, std::string const& job, item_index item,
                    run_record const& record);

/// The page of those rows that the query asks for. Errors: invalid_argument.
result<history_page<execution_row>> page_of(std::vector<execution_row> rows, history_query const& q);

} // namespace detail

/// A page of runs from the run records, for jobs whose events nobody writes into a database: the last twelve due
/// instants and orders of each item, as far as they were run, and the live run. Java members and jobs that are not
/// monitored have none. The rows have no host name and no task id. A record that cannot be read is left out:
/// `check_job` finds it. One request for each job, and one for each of its items; one more for the names of the jobs if
/// none is given. Each page reads them all. Errors: invalid_argument for a query that executions cannot answer; no_node
/// if the job does not exist or keeps no records; too_large if there are more than 20,000 items: name a job; those of
/// the registry.
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
    std::vector<std::pair<std::size_t, item_index>> places; // the number of the job, the item
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

/// The same for programs that have no coroutine at hand. Waits up to `timeout`. Errors: as above, and timed_out.
/// Threads: any but the loop's.
template <registry Registry>
result<history_page<execution_row>> list_executions(Registry& r, history_query const& query,
                                                    std::chrono::milliseconds timeout = std::chrono::seconds{60}) {
    auto& l = r.loop();
    return block_on(l, within(l, l.now() + timeout, find_executions(r, query)));
}

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/operations/history.ipp>
#endif
#endif // ELASTICJOB_OPERATIONS_HISTORY_HPP
