// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CRON_TZIF_ZONE_IPP
#define ELASTICJOB_IMPL_CRON_TZIF_ZONE_IPP

#include <elasticjob/cron/tzif_zone.hpp>

namespace elasticjob {

ELASTICJOB_DECL result<TzifZone> TzifZone::load(std::string_view name) {
    if (!is_name(name))
        return error{errc::invalid_argument, "a time zone is named like Europe/Berlin", std::string{name}};
    char const* const directory = std::getenv("TZDIR");
    return load_file(std::string{directory && *directory ? directory : "/usr/share/zoneinfo"} + "/" +
                     std::string{name});
}

ELASTICJOB_DECL result<TzifZone> TzifZone::load_file(std::string const& path) {
    ELASTICJOB_TRY(auto const data, detail::load_tzif(path));
    return TzifZone{data};
}

ELASTICJOB_DECL result<TzifZone> TzifZone::parse(std::string_view bytes) {
    ELASTICJOB_TRY(auto const data, detail::parse_tzif(bytes));
    return TzifZone{data};
}

ELASTICJOB_DECL result<TzifZone> TzifZone::parse_rule(std::string_view text) {
    auto const rule = detail::posix_zone_parser{text}.parse();
    if (!rule) return error{errc::invalid_argument, "this is no time zone in POSIX form", std::string{text}};
    TzifZone zone{rule->offset};
    zone.append(*rule, since_ever);
    return zone;
}

ELASTICJOB_DECL zone_segment TzifZone::at(std::chrono::sys_seconds t) const noexcept {
    auto const after = std::upper_bound(begins_.begin(), begins_.end(), t);
    auto const index = static_cast<std::size_t>(after - begins_.begin()) - 1;
    return {begins_[index], after == begins_.end() ? std::chrono::sys_seconds::max() : *after,
            std::chrono::seconds{offsets_[index]}};
}

ELASTICJOB_DECL TzifZone::TzifZone(std::int32_t first_offset)
    : begins_{std::chrono::sys_seconds::min()},
      offsets_{first_offset} {}

ELASTICJOB_DECL TzifZone::TzifZone(detail::tzif_data const& data) : TzifZone{data.first_offset} {
    for (auto const& turn : data.turns) append(turn);
    if (data.rule) append(*data.rule, data.turns.empty() ? since_ever : data.turns.back().time);
}

ELASTICJOB_DECL void TzifZone::append(detail::tzif_turn const& turn) {
    if (turn.offset == offsets_.back()) return;
    begins_.push_back(std::chrono::sys_seconds{std::chrono::seconds{turn.time}});
    offsets_.push_back(turn.offset);
}

ELASTICJOB_DECL void TzifZone::append(typename detail::tzif_data::rule_type const& rule, std::int64_t known) {
    if (!rule.saving || known >= detail::schedule_end) return; // the last known offset stays
    auto const year = known < 0 ? detail::cron_year_first
                                : detail::date_of(static_cast<std::int32_t>(known / detail::seconds_per_day)).year;
    decltype(detail::tzif_data::turns) turns;
    for (auto y = year; y <= detail::cron_year_last + 1; ++y) {
        turns.push_back({rule.saving->end.in_year(y) - rule.saving->offset, rule.offset});
        turns.push_back({rule.saving->begin.in_year(y) - rule.offset, rule.saving->offset});
    }
    // If summer time ends when the next one begins, it lasts all year, and its begin must come last. This does not use
    // a stable sort, because clang 18 and later warn about that of libstdc++ 12.
    std::sort(turns.begin(), turns.end(), [&](auto const& a, auto const& b) {
        return a.time != b.time ? a.time < b.time : a.offset == rule.offset && b.offset != rule.offset;
    });
    for (std::size_t i = 0; i < turns.size(); ++i) {
        bool const undone_at_once = i + 1 < turns.size() && turns[i].time == turns[i + 1].time;
        if (turns[i].time > known && !undone_at_once) append(turns[i]);
    }
}

ELASTICJOB_DECL bool TzifZone::is_name(std::string_view name) noexcept {
    if (name.empty() || name.front() == '/' || name.find("..") != name.npos) return false;
    return std::all_of(name.begin(), name.end(), [](char c) {
        return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '/' || c == '_' ||
               c == '+' || c == '-' || c == '.';
    });
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_CRON_TZIF_ZONE_IPP
