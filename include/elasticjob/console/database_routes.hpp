// SPDX-License-Identifier: Apache-2.0
/// \file \brief The record of runs in databases of events.
#ifndef ELASTICJOB_CONSOLE_DATABASE_ROUTES_HPP
#define ELASTICJOB_CONSOLE_DATABASE_ROUTES_HPP

#include <elasticjob/console/call.hpp>
#include <elasticjob/console/options.hpp>
#include <elasticjob/core/decl.hpp>

#include <vector>

namespace elasticjob::detail {

/// A route below `databases/{database}/`.
struct database_route : console_route_shape {
    console_reply (*answer)(console_database const&, console_call const&);
};

std::vector<database_route> const& database_routes();

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/database_routes.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_DATABASE_ROUTES_HPP
