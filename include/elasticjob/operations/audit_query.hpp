// SPDX-License-Identifier: Apache-2.0
/// \file \brief Lists the commands that operators have given for all jobs, the newest first, page by page.
#ifndef ELASTICJOB_OPERATIONS_AUDIT_QUERY_HPP
#define ELASTICJOB_OPERATIONS_AUDIT_QUERY_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/wait_within.hpp>
#include <elasticjob/operations/audit_trail.hpp>
#include <elasticjob/operations/job_overview.hpp>
#include <elasticjob/registry/read_paced.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob {

/// The wanted commands, and the size of a page. Empty texts mean any.
struct audit_query {
    std::string job_contains{};
    std::string operator_contains{};
    std::string verb{}; ///< the whole verb
    std::optional<command_outcome> outcome{};
    std::string after{};        ///< the cursor of the previous page; empty: from the beginning
    std::size_t rows_max = 100; ///< at least 1
};

struct audit_row {
    std::string job;
    audit_entry entry;
};

struct audit_page {
    std::vector<audit_row> rows;
    std::vector<error> faults{}; ///< trails that cannot be read
    std::string next{};          ///< the cursor of the next page; empty: this is the last page
};

namespace detail {

/// A page of the entries of those jobs. Errors: invalid_argument for an invalid cursor.
result<audit_page> audit_page_of(std::vector<std::pair<std::string, audit_trail>> const& trails, audit_query const& q);

} // namespace detail

/// A page of the commands in all accepted jobs, including removed jobs. One request for the names of the jobs, and one
/// for each accepted job. If a trail cannot be read, the others are listed nevertheless. Errors: invalid_argument for
/// an invalid cursor; those of the registry.
template <registry Registry, class Accepts = any_job>
task<result<audit_page>> find_commands(Registry& r, audit_query query, Accepts accepts = {}) {
    ELASTICJOB_CO_TRY(auto names, co_await find_job_names(r));
    std::erase_if(names, [&](auto const& n) { return n.find(query.job_contains) == std::string::npos || !accepts(n); });
    std::vector<node_path> paths;
    for (auto const& name : names) paths.push_back(job_layout{*job_name::parse(name)}.audit());
    ELASTICJOB_CO_TRY(auto const nodes, co_await read_paced(r, std::move(paths), paced_requests_max));
    std::vector<std::pair<std::string, audit_trail>> trails;
    std::vector<error> faults;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (!nodes[i]) continue;
        if (auto read = read_audit_node(job_layout{*job_name::parse(names[i])}, &*nodes[i]))
            trails.emplace_back(names[i], *std::move(read));
        else
            faults.push_back(read.error());
    }
    ELASTICJOB_CO_TRY(auto page, detail::audit_page_of(trails, query));
    page.faults = std::move(faults);
    co_return page;
}

/// As a blocking call. Waits up to `timeout`. Errors: as above, and timed_out. Threads: any but the loop's.
template <registry Registry, class Accepts = any_job>
result<audit_page> list_commands(Registry& r, audit_query query,
                                 std::chrono::milliseconds timeout = std::chrono::seconds{60}, Accepts accepts = {}) {
    return detail::wait_within(r.loop(), timeout, find_commands(r, std::move(query), std::move(accepts)));
}

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/operations/audit_query.ipp>
#endif
#endif // ELASTICJOB_OPERATIONS_AUDIT_QUERY_HPP
