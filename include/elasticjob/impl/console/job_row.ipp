// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONSOLE_JOB_ROW_IPP
#define ELASTICJOB_IMPL_CONSOLE_JOB_ROW_IPP

#include <elasticjob/config/instant_text.hpp>
#include <elasticjob/config/text.hpp>
#include <elasticjob/console/encodings.hpp>
#include <elasticjob/console/job_row.hpp>
#include <elasticjob/core/algorithm.hpp>

#include <array>
#include <utility>

namespace elasticjob::detail {

ELASTICJOB_DECL std::optional<wall_time> next_due_of(job_row const& row, wall_time now, zone_ref zone) {
    if (row.overview.fault) return std::nullopt;
    auto const due = preview(row.config, now, 1, zone);
    return due && !due->empty() ? std::optional{due->front()} : std::nullopt;
}

ELASTICJOB_DECL std::string lower_name_of(console_status s) { return in_lower_case(name_of(s)); }

inline constexpr std::array<std::string_view, 8> job_column_names{"name",       "health", "cron",      "next_due",
                                                                  "last_round", "items",  "instances", "description"};

ELASTICJOB_DECL result<number_range> read_range(std::string_view text, std::string_view where) {
    number_range range;
    auto const dash = text.find('-');
    auto const first = text.substr(0, dash);
    auto const last = dash == text.npos ? first : text.substr(dash + 1);
    bool const is_good = (first.empty() || read_number(first, range.min)) &&
                         (last.empty() || read_number(last, range.max)) && text != "-" && range.min <= range.max;
    if (!is_good)
        return error{errc::invalid_argument, "must be a number or a range of them, as 5, 2-10, 2- or -10",
                     std::string{where}};
    return range;
}

ELASTICJOB_DECL result<job_selection> read_selection(console_request const& r, wall_time now) {
    job_selection s;
    auto const text = [&](std::string_view name) { return std::string{r.parameter(name)}; };
    s.name = text("name");
    s.cron = text("cron");
    s.description = text("description");
    s.server = text("server");
    auto statuses = names_up_to(console_status::ok);
    for (auto& one : statuses) one = in_lower_case(one);
    ELASTICJOB_TRY(s.last_round, r.one_of(names_up_to(round_outcome::skipped), "last_round"));
    ELASTICJOB_TRY(s.status, r.one_of(statuses, "status"));
    ELASTICJOB_TRY(s.health, r.one_of(names_up_to(job_health::ok), "health"));
    s.after = text("after");
    if (!s.after.empty()) {
        auto const place = from_base64_url(s.after);
        if (!place || place->find('/') == place->npos)
            return error{errc::invalid_argument, "is not the cursor of a list of jobs: take it from the previous page",
                         "after"};
        s.after = *place;
    }
    if (auto sort = r.parameter("sort"); !sort.empty()) {
        s.is_descending = sort.starts_with('-');
        sort.remove_prefix(s.is_descending);
        auto const at = std::find(job_column_names.begin(), job_column_names.end(), sort);
        if (at == job_column_names.end())
            return error{errc::invalid_argument, "is no column to sort jobs by: " + std::string{sort}, "sort"};
        s.sort = static_cast<job_column>(at - job_column_names.begin());
    }
    ELASTICJOB_TRY(s.items, read_range(r.parameter("items"), "items"));
    ELASTICJOB_TRY(s.instances, read_range(r.parameter("instances"), "instances"));
    constexpr std::uint32_t seconds_max = 366 * 86'400;
    ELASTICJOB_TRY(auto const due_within, r.number("due_within", 1, seconds_max));
    if (due_within) s.due_until = now + std::chrono::seconds{*due_within};
    if (auto const paused = r.parameter("paused"); !paused.empty()) {
        if (paused != "true" && paused != "false")
            return error{errc::invalid_argument, "must be true or false", "paused"};
        s.is_paused = paused == "true";
    }
    ELASTICJOB_TRY(auto const limit, r.number("limit", 1, 1'000));
    if (limit) s.rows_max = *limit;
    return s;
}

ELASTICJOB_DECL bool is_wanted(job_row const& row, job_selection const& s) {
    auto const& o = row.overview;
    auto const has = [](std::string const& text, std::string const& part) { return text.find(part) != text.npos; };
    return has(o.name, s.name) && has(o.cron, s.cron) && has(o.description, s.description) &&
           (s.status.empty() || s.status == lower_name_of(o.status)) &&
           (s.server.empty() || std::binary_search(row.servers.begin(), row.servers.end(), s.server)) &&
           s.items.has(o.item_count) && s.instances.has(o.instance_count) &&
           (!s.due_until || (row.next_due && *row.next_due <= *s.due_until)) &&
           (s.last_round.empty() || (row.last && name_of(row.last->outcome) == s.last_round));
}

/// The sort key of a row: a text that sorts like the column's value. Rows without a value come last. Of a long text
/// only the beginning counts, because the key is a part of the cursor.
inline std::string sort_key(job_row const& row, job_column column) {
    auto const number = [](auto n) {
        auto const digits = std::to_string(n);
        return std::string(20 - digits.size(), '0') + digits;
    };
    auto const instant = [&](std::optional<wall_time> t) {
        return t ? number(std::chrono::floor<std::chrono::milliseconds>(t->time_since_epoch()).count()) : "~";
    };
    constexpr std::size_t key_bytes_max = 100;
    auto const& o = row.overview;
    switch (column) {
    case job_column::name:
        return {};
    case job_column::health:
        return number(static_cast<int>(o.health));
    case job_column::cron:
        return o.cron.substr(0, key_bytes_max);
    case job_column::next_due:
        return instant(row.next_due);
    case job_column::last_round:
        return row.last ? number(static_cast<int>(row.last->outcome)) : "~";
    case job_column::items:
        return number(o.item_count);
    case job_column::instances:
        return number(o.instance_count);
    case job_column::description:
        return o.description.substr(0, key_bytes_max);
    }
    return {};
}

ELASTICJOB_DECL job_row_page page_of(job_rows rows, job_selection const& s) {
    std::erase_if(rows, [&](auto const& row) {
        return !is_wanted(*row, s) || (!s.health.empty() && s.health != name_of(row->overview.health)) ||
               (s.is_paused && *s.is_paused != row->overview.is_paused);
    });
    using place = std::pair<std::string, std::string>; // the key, and the name, which is unique
    std::vector<std::pair<place, std::size_t>> order;
    for (std::size_t i = 0; i < rows.size(); ++i)
        order.push_back({{sort_key(*rows[i], s.sort), rows[i]->overview.name}, i});
    auto const is_before = [&](place const& a, place const& b) { return s.is_descending ? b < a : a < b; };
    std::sort(order.begin(), order.end(), [&](auto const& a, auto const& b) { return is_before(a.first, b.first); });

    job_row_page page{{}, {}, rows.size()};
    auto from = order.begin();
    if (!s.after.empty()) { // after the last slash, because a name has none
        auto const slash = s.after.rfind('/');
        place const last{s.after.substr(0, slash), s.after.substr(slash + 1)};
        from = std::find_if(from, order.end(), [&](auto const& one) { return is_before(last, one.first); });
    }
    for (; from != order.end() && page.rows.size() < s.rows_max; ++from) page.rows.push_back(rows[from->second]);
    if (from != order.end()) {
        auto const& last = std::prev(from)->first;
        page.next = base64_url(last.first + "/" + last.second);
    }
    return page;
}

ELASTICJOB_DECL std::map<std::string, std::size_t> count_by_health(job_rows const& rows, job_selection const& s) {
    std::map<std::string, std::size_t> counts;
    for (auto const& row : rows) {
        if (!is_wanted(*row, s)) continue;
        ++counts[std::string{name_of(row->overview.health)}];
        if (row->overview.is_paused) ++counts["paused"];
    }
    return counts;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CONSOLE_JOB_ROW_IPP
