// SPDX-License-Identifier: Apache-2.0
/// \file \brief All routes of the console's interface.
#ifndef ELASTICJOB_TEST_CONSOLE_ROUTES_HPP
#define ELASTICJOB_TEST_CONSOLE_ROUTES_HPP

#include <elasticjob/console/access.hpp>
#include <elasticjob/console/database_routes.hpp>

#include <string>
#include <vector>

namespace elasticjob::test {

struct route {
    std::string method;
    std::string pattern; ///< below `/api/v1/`: `registries/{registry}/jobs/{job}`
    console_role least;
};

/// `Api`: a `console_api`, which the caller includes.
template <class Api>
std::vector<route> routes_of(Api const& api) {
    std::vector<route> all;
    auto const add = [&](std::string const& begin, auto const& part) {
        for (auto const& one : part)
            all.push_back({std::string{one.method}, begin + std::string{one.pattern}, one.least});
    };
    add("", Api::own_routes());
    add("registries/{registry}/", api.routes());
    add("databases/{database}/", detail::database_routes());
    return all;
}

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_CONSOLE_ROUTES_HPP
