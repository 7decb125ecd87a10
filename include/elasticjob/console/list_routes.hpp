// SPDX-License-Identifier: Apache-2.0
/// \file \brief The routes for lists over all jobs: due instants, runs, dead letters, and commands.
#ifndef ELASTICJOB_CONSOLE_LIST_ROUTES_HPP
#define ELASTICJOB_CONSOLE_LIST_ROUTES_HPP

#include <elasticjob/console/database_routes.hpp>
#include <elasticjob/console/job_routes.hpp>
#include <elasticjob/console/rows.hpp>
#include <elasticjob/console/site.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/operations/audit_query.hpp>
#include <elasticjob/operations/dead_letter_query.hpp>
#include <elasticjob/operations/history.hpp>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob::detail {

/// The range of due instants for a page.
struct due_selection {
    wall_time from{};
    std::string after_job{}; ///< of the instants at `from`: only those of jobs after this one; empty: none of them
    wall_time until{};
    std::size_t rows_max = 100;
};

/// Errors: invalid_argument.
result<due_selection> read_due_selection(console_call const& c, wall_time now);

/// The due instants of those jobs, the earliest first, from a heap with the next instant of each job. O((jobs + rows)
/// log jobs) searches.
console_reply reply_with_dues(job_rows const& rows, due_selection const& q, zone_ref zone);

/// Errors: invalid_argument.
result<dead_letter_query> read_letter_query(console_call const& c);
result<audit_query> read_audit_query(console_call const& c);

template <loop Loop>
console_reply show_upcoming(console_site<Loop>& s, console_call const& c) {
    auto const selection = read_due_selection(c, s.registry.loop().wall_now());
    if (!selection) return problem(selection.error());
    auto rows = visible_rows(s, c);
    if (!rows) return problem(rows.error());
    auto const name = c.request.parameter("name");
    std::erase_if(*rows, [&](auto const& row) { return row->overview.name.find(name) == std::string::npos; });
    return reply_with_dues(*rows, *selection, s.zone);
}

/// Accepts the jobs that the operator may see.
struct visible_to {
    console_call const* call;
    bool operator()(std::string_view job) const { return call->may_see(job); }
};

inline constexpr std::chrono::seconds list_timeout{60};

template <loop Loop>
console_reply show_dead_letters(console_site<Loop>& s, console_call const& c) {
    auto query = read_letter_query(c);
    if (!query) return problem(query.error());
    auto page = list_dead_letters(s.registry, *std::move(query), list_timeout, visible_to{&c});
    if (!page) return problem(page.error());
    return json_reply(begin_list(page->letters, page->next, std::nullopt).finish());
}

template <loop Loop>
console_reply show_audit(console_site<Loop>& s, console_call const& c) {
    auto query = read_audit_query(c);
    if (!query) return problem(query.error());
    auto page = list_commands(s.registry, *std::move(query), list_timeout, visible_to{&c});
    if (!page) return problem(page.error());
    return json_reply(begin_list(page->rows, page->next, std::nullopt).finish());
}

/// The runs in the records of a registry, without a database.
template <loop Loop>
console_reply show_recorded_runs(console_site<Loop>& s, console_call const& c) {
    return reply_with_history(read_history_query(c), [&](auto const& q) { return list_executions(s.registry, q); });
}

template <loop Loop>
std::vector<site_route<Loop>> list_routes() {
    return {
        {{"GET", "upcoming", console_role::viewer}, &show_upcoming<Loop>},
        {{"GET", "dead-letters", console_role::viewer}, &show_dead_letters<Loop>},
        {{"GET", "audit", console_role::viewer}, &show_audit<Loop>},
        {{"GET", "executions", console_role::viewer}, &show_recorded_runs<Loop>},
    };
}

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/list_routes.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_LIST_ROUTES_HPP
