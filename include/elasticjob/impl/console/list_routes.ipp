// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONSOLE_LIST_ROUTES_IPP
#define ELASTICJOB_IMPL_CONSOLE_LIST_ROUTES_IPP

#include <elasticjob/config/instant_text.hpp>
#include <elasticjob/console/list_routes.hpp>
#include <elasticjob/core/algorithm.hpp>

#include <array>
#include <functional>
#include <map>

namespace elasticjob::detail {

ELASTICJOB_DECL result<due_selection> read_due_selection(console_call const& c, wall_time now) {
    ELASTICJOB_TRY(auto const hours, c.request.number("hours", 1, 24 * 366));
    ELASTICJOB_TRY(auto const limit, c.limit());
    due_selection q{now, {}, now + std::chrono::hours{hours.value_or(24)}, limit};
    auto const after = c.request.parameter("after");
    if (after.empty()) return q;
    auto const slash = after.find('/');
    if (slash == after.npos || !read_milliseconds(after.substr(0, slash), q.from))
        return error{errc::invalid_argument, "is not the cursor of a list of due instants", "after"};
    q.after_job = after.substr(slash + 1);
    return q;
}

ELASTICJOB_DECL console_reply reply_with_dues(job_rows const& rows, due_selection const& q, zone_ref zone) {
    std::multimap<std::pair<wall_time, std::string_view>, job_row const*> next;
    auto const add = [&](job_row const& row, wall_time after) {
        if (auto const due = next_due_of(row, after, zone); due && *due <= q.until)
            next.emplace(std::pair{*due, std::string_view{row.overview.name}}, &row);
    };
    using std::chrono::milliseconds;
    auto const begin = q.after_job.empty() ? q.from : q.from - milliseconds{1};
    for (auto const& row : rows) add(*row, begin);
    std::vector<job_due> dues;
    std::string cursor;
    while (!next.empty()) {
        auto const [place, row] = *next.begin();
        next.erase(next.begin());
        auto const due = place.first;
        bool const was_shown = !q.after_job.empty() && due == q.from && row->overview.name <= q.after_job;
        if (!was_shown && dues.size() == q.rows_max) {
            cursor = milliseconds_text(dues.back().due) + "/" + dues.back().job;
            break;
        }
        if (!was_shown) dues.push_back({due, row->overview.name, row->config.time_zone});
        add(*row, due);
    }
    return json_reply(begin_list(dues, cursor, std::nullopt).finish());
}

ELASTICJOB_DECL result<dead_letter_query> read_letter_query(console_call const& c) {
    auto const& r = c.request;
    dead_letter_query q;
    q.job_contains = r.parameter("job");
    q.note_contains = r.parameter("note");
    q.after = r.parameter("after");
    ELASTICJOB_TRY(auto const item, r.number("item", 0, 0xffff'ffff));
    q.item = item;
    ELASTICJOB_TRY(auto const limit, c.limit());
    q.letters_max = limit;
    return q;
}

ELASTICJOB_DECL result<audit_query> read_audit_query(console_call const& c) {
    auto const& r = c.request;
    audit_query q;
    q.job_contains = r.parameter("job");
    q.operator_contains = r.parameter("operator");
    q.verb = r.parameter("verb");
    q.after = r.parameter("after");
    ELASTICJOB_TRY(auto const limit, c.limit());
    q.rows_max = limit;
    if (auto const name = r.parameter("outcome"); !name.empty()) {
        for (auto const o : {command_outcome::done, command_outcome::unchanged, command_outcome::refused})
            if (name_of(o) == name) q.outcome = o;
        if (!q.outcome) return error{errc::invalid_argument, "must be done, unchanged or refused", "outcome"};
    }
    return q;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CONSOLE_LIST_ROUTES_IPP
