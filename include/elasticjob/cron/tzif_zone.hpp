// SPDX-License-Identifier: Apache-2.0
/// \file \brief A zone of the machine's time zone database: `TzifZone::load("Europe/Berlin")`.
#ifndef ELASTICJOB_CRON_TZIF_ZONE_HPP
#define ELASTICJOB_CRON_TZIF_ZONE_HPP

#include <elasticjob/core/algorithm.hpp> // all_of, sort, upper_bound
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/deferred.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/cron/civil.hpp>
#include <elasticjob/cron/fields.hpp> // cron_year_last
#include <elasticjob/cron/posix_zone.hpp>
#include <elasticjob/cron/search.hpp> // schedule_end
#include <elasticjob/cron/time_zone.hpp>
#include <elasticjob/cron/tzif.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib> // getenv
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace elasticjob {

/// A zone from a TZif file (RFC 8536), or from a rule in POSIX form. The rule at the end of the file is written out up
/// to the last year of a schedule, so that a look-up is one binary search. A value of a few kilobytes; a default one is
/// UTC. Threads: immutable.
template <class Data = detail::tzif_data>
class basic_tzif_zone {
public:
    basic_tzif_zone() : basic_tzif_zone{0} {}

    /// A name of the IANA database, looked up in the directory that TZDIR names, or /usr/share/zoneinfo.
    /// Errors: invalid_argument when there is no such zone; malformed_data as for `parse`.
    static result<basic_tzif_zone> load(std::string_view name) {
        if (!is_name(name))
            return error{errc::invalid_argument, "a time zone is named like Europe/Berlin", std::string{name}};
        char const* const directory = std::getenv("TZDIR");
        return load_file(std::string{directory && *directory ? directory : "/usr/share/zoneinfo"} + "/" +
                         std::string{name});
    }

    /// Errors: invalid_argument when the file cannot be read; malformed_data as for `parse`.
    static result<basic_tzif_zone> load_file(std::string const& path) {
        ELASTICJOB_TRY(auto const data, detail::load_tzif<Data>(path));
        return basic_tzif_zone{data};
    }

    /// The content of a TZif file. Errors: malformed_data, also for zones that count leap seconds ("right/...").
    static result<basic_tzif_zone> parse(std::string_view bytes) {
        ELASTICJOB_TRY(auto const data, detail::parse_tzif<Data>(bytes));
        return basic_tzif_zone{data};
    }

    /// A rule as in TZ, `EST5EDT,M3.2.0,M11.1.0`. Errors: invalid_argument.
    static result<basic_tzif_zone> parse_rule(std::string_view text) {
        auto const rule = detail::posix_zone_parser{text}.parse<typename Data::rule_type>();
        if (!rule) return error{errc::invalid_argument, "this is no time zone in POSIX form", std::string{text}};
        basic_tzif_zone zone{rule->offset};
        zone.append(*rule, since_ever);
        return zone;
    }

    /// Time: a binary search in some hundred segments, about 15 ns.
    zone_segment at(std::chrono::sys_seconds t) const noexcept {
        auto const after = std::upper_bound(begins_.begin(), begins_.end(), t);
        auto const index = static_cast<std::size_t>(after - begins_.begin()) - 1;
        return {begins_[index], after == begins_.end() ? std::chrono::sys_seconds::max() : *after,
                std::chrono::seconds{offsets_[index]}};
    }

    friend bool operator==(basic_tzif_zone const&, basic_tzif_zone const&) = default;

private:
    static constexpr auto since_ever = std::numeric_limits<std::int64_t>::min();

    explicit basic_tzif_zone(std::int32_t first_offset)
        : begins_{std::chrono::sys_seconds::min()}, offsets_{first_offset} {}

    explicit basic_tzif_zone(Data const& data) : basic_tzif_zone{data.first_offset} {
        for (auto const& turn : data.turns) append(turn);
        if (data.rule) append(*data.rule, data.turns.empty() ? since_ever : data.turns.back().time);
    }

    /// Precondition: turns come in order. What changes no offset is left out, so that a segment is as long as can be.
    void append(detail::tzif_turn const& turn) {
        if (turn.offset == offsets_.back()) return;
        begins_.push_back(std::chrono::sys_seconds{std::chrono::seconds{turn.time}});
        offsets_.push_back(turn.offset);
    }

    /// The turns of the clock that the rule makes after the last one that is known.
    void append(typename Data::rule_type const& rule, std::int64_t known) {
        if (!rule.saving || known >= detail::schedule_end) return; // the last known offset stays
        auto const year = known < 0 ? detail::cron_year_first
                                    : detail::date_of(static_cast<std::int32_t>(known / detail::seconds_per_day)).year;
        decltype(Data::turns) turns;
        for (auto y = year; y <= detail::cron_year_last + 1; ++y) {
            turns.push_back({rule.saving->end.in_year(y) - rule.saving->offset, rule.offset});
            turns.push_back({rule.saving->begin.in_year(y) - rule.offset, rule.saving->offset});
        }
        // Summer that ends as the next one begins is summer all year: the begin must come last. Not by a stable sort, for
        // clang warns, from 18 on, of that of libstdc++ 12.
        std::sort(turns.begin(), turns.end(), [&](auto const& a, auto const& b) {
            return a.time != b.time ? a.time < b.time : a.offset == rule.offset && b.offset != rule.offset;
        });
        for (std::size_t i = 0; i < turns.size(); ++i) {
            bool const undone_at_once = i + 1 < turns.size() && turns[i].time == turns[i + 1].time;
            if (turns[i].time > known && !undone_at_once) append(turns[i]);
        }
    }

    static bool is_name(std::string_view name) noexcept {
        if (name.empty() || name.front() == '/' || name.find("..") != name.npos) return false;
        return std::all_of(name.begin(), name.end(), [](char c) {
            return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '/' || c == '_' ||
                   c == '+' || c == '-' || c == '.';
        });
    }

    // Apart, because a search reads one of them only.
    deferred<std::vector<std::chrono::sys_seconds>, Data> begins_;
    deferred<std::vector<std::int32_t>, Data> offsets_;
};

/// A template only so that including it costs nothing: see docs/decisions/0006.
using TzifZone = basic_tzif_zone<>;

} // namespace elasticjob
#endif // ELASTICJOB_CRON_TZIF_ZONE_HPP
