// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONSOLE_DATABASE_ROUTES_IPP
#define ELASTICJOB_IMPL_CONSOLE_DATABASE_ROUTES_IPP

#include <elasticjob/console/database_routes.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL result<history_query> read_history_query(console_call const& c) {
    auto const& r = c.request;
    history_query q;
    q.job = r.parameter("job");
    q.ip = r.parameter("ip");
    q.source = r.parameter("source");
    q.state = r.parameter("state");
    q.after = r.parameter("after");
    if (!c.may_see_runs_of(q.job)) return error{errc::no_auth, "name a job that you may see", "job"};
    if (auto const text = r.parameter("success"); !text.empty()) {
        if (text != "true" && text != "false") return error{errc::invalid_argument, "must be true or false", "success"};
        q.is_success = text == "true";
    }
    for (auto const& [name, into] : {std::pair{"from", &q.from}, std::pair{"until", &q.until}})
        if (auto const text = r.parameter(name); !text.empty()) {
            ELASTICJOB_TRY(*into, c.instant(text, name));
        }
    if (auto sort = r.parameter("sort"); !sort.empty()) {
        q.is_descending = sort.starts_with('-');
        sort.remove_prefix(q.is_descending);
        ELASTICJOB_TRY(q.sort, parse_history_sort(sort));
    }
    ELASTICJOB_TRY(auto const limit, c.limit());
    q.rows_max = limit;
    return q;
}

ELASTICJOB_DECL std::vector<database_route> const& database_routes() {
    static std::vector<database_route> const all{
        {{"GET", "executions", console_role::viewer},
         +[](console_database const& d, console_call const& c) {
             return reply_with_history(read_history_query(c), [&](auto const& q) { return d.executions(q); });
         }},
        {{"GET", "states", console_role::viewer},
         +[](console_database const& d, console_call const& c) {
             return reply_with_history(read_history_query(c), [&](auto const& q) { return d.states(q); });
         }},
    };
    return all;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CONSOLE_DATABASE_ROUTES_IPP
