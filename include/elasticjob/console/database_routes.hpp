// SPDX-License-Identifier: Apache-2.0
/// \file \brief The routes for runs recorded in databases of events.
#ifndef ELASTICJOB_CONSOLE_DATABASE_ROUTES_HPP
#define ELASTICJOB_CONSOLE_DATABASE_ROUTES_HPP

#include <elasticjob/console/call.hpp>
#include <elasticjob/console/options.hpp>
#include <elasticjob/console/rows.hpp>
#include <elasticjob/core/decl.hpp>

#include <vector>

namespace elasticjob::detail {

/// A route below `databases/{database}/`.
struct database_route : console_route_shape {
    console_reply (*answer)(console_database const&, console_call const&);
};

std::vector<database_route> const& database_routes();

/// The query in the parameters of a request. Errors: invalid_argument; no_auth if the operator may not see all jobs and
/// the request names no job that the operator may see.
result<history_query> read_history_query(console_call const& c);

/// The answer with the page that `page_of(query)` returns.
template <class Page>
console_reply reply_with_history(result<history_query> const& q, Page page_of) {
    if (!q) return problem(q.error(), q.error() == errc::no_auth ? 403 : 0);
    auto const page = page_of(*q);
    return page ? json_reply(begin_list(page->rows, page->next, page->total).finish()) : problem(page.error());
}

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/database_routes.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_DATABASE_ROUTES_HPP
