// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_OPERATIONS_AUDIT_QUERY_IPP
#define ELASTICJOB_IMPL_OPERATIONS_AUDIT_QUERY_IPP

#include <elasticjob/config/instant_text.hpp>
#include <elasticjob/config/text.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/operations/audit_query.hpp>

#include <tuple>

namespace elasticjob::detail {

namespace audit_order {

/// The sort key: the newest first; commands of the same instant by job, and the last command of a job first.
using place = std::tuple<std::int64_t, std::string, std::uint64_t>;

inline place place_of(std::string const& job, audit_entry const& e) {
    return {-std::chrono::floor<std::chrono::milliseconds>(e.at.time_since_epoch()).count(), job,
            ~std::uint64_t{0} - e.number};
}

/// Such as `1767225600000/12/settle`.
inline std::string to_text(audit_row const& row) {
    return milliseconds_text(row.entry.at) + "/" + std::to_string(row.entry.number) + "/" + row.job;
}

inline std::optional<place> parse(std::string_view cursor) {
    auto const first = cursor.find('/');
    if (first == cursor.npos) return std::nullopt;
    auto const second = cursor.find('/', first + 1);
    audit_entry e;
    if (second == cursor.npos || !read_milliseconds(cursor.substr(0, first), e.at) ||
        !read_number(cursor.substr(first + 1, second - first - 1), e.number))
        return std::nullopt;
    return place_of(std::string{cursor.substr(second + 1)}, e);
}

} // namespace audit_order

ELASTICJOB_DECL result<audit_page> audit_page_of(std::vector<std::pair<std::string, audit_trail>> const& trails,
                                                 audit_query const& q) {
    std::optional<audit_order::place> after;
    if (!q.after.empty()) {
        after = audit_order::parse(q.after);
        if (!after) return error{errc::invalid_argument, "is not the cursor of a list of commands", "after"};
    }
    std::vector<std::pair<audit_order::place, audit_row>> found;
    for (auto const& [job, trail] : trails)
        for (auto const& e : trail.entries()) {
            if ((!q.verb.empty() && e.verb != q.verb) || (q.outcome && e.outcome != *q.outcome) ||
                e.operator_name.find(q.operator_contains) == std::string::npos)
                continue;
            auto const place = audit_order::place_of(job, e);
            if (!after || *after < place) found.push_back({place, {job, e}});
        }
    std::sort(found.begin(), found.end(), [](auto const& a, auto const& b) { return a.first < b.first; });
    audit_page page;
    auto const rows_max = std::max(q.rows_max, std::size_t{1});
    for (auto& [place, row] : found) {
        if (page.rows.size() == rows_max) {
            page.next = audit_order::to_text(page.rows.back());
            break;
        }
        page.rows.push_back(std::move(row));
    }
    return page;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_OPERATIONS_AUDIT_QUERY_IPP
