// SPDX-License-Identifier: Apache-2.0
/// \file \brief A zone of the machine's time zone database: `TzifZone::load("Europe/Berlin")`.
#ifndef ELASTICJOB_CRON_TZIF_ZONE_HPP
#define ELASTICJOB_CRON_TZIF_ZONE_HPP

#include <elasticjob/core/algorithm.hpp> // all_of, sort, upper_bound
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/decl.hpp>
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

/// A zone from a TZif file (RFC 8536), or from a rule in POSIX form. The rule at the end of the file is expanded up to
/// the last year of a schedule, so that a look-up is one binary search. A value of a few kilobytes; a
/// default-constructed one is UTC. Threads: immutable.
class TzifZone {
public:
    TzifZone() : TzifZone{0} {}

    /// Loads a zone of the IANA database by name, from the directory in TZDIR, or from /usr/share/zoneinfo.
    /// Errors: invalid_argument when there is no such zone; malformed_data as for `parse`.
    static result<TzifZone> load(std::string_view name);

    /// Errors: invalid_argument when the file cannot be read; malformed_data as for `parse`.
    static result<TzifZone> load_file(std::string const& path);

    /// The content of a TZif file. Errors: malformed_data, also for zones that count leap seconds ("right/...").
    static result<TzifZone> parse(std::string_view bytes);

    /// A rule as in TZ, `EST5EDT,M3.2.0,M11.1.0`. Errors: invalid_argument.
    static result<TzifZone> parse_rule(std::string_view text);

    /// Time: a binary search in some hundred segments, about 15 ns.
    zone_segment at(std::chrono::sys_seconds t) const noexcept;

    friend bool operator==(TzifZone const&, TzifZone const&) = default;

private:
    static constexpr auto since_ever = std::numeric_limits<std::int64_t>::min();

    explicit TzifZone(std::int32_t first_offset);

    explicit TzifZone(detail::tzif_data const& data);

    /// Precondition: clock changes come in order. Leaves out a change to the same offset, so that segments are as long
    /// as possible.
    void append(detail::tzif_turn const& turn);

    /// Adds the clock changes of the rule after the last listed one.
    void append(typename detail::tzif_data::rule_type const& rule, std::int64_t known);

    static bool is_name(std::string_view name) noexcept;

    // In separate vectors, because a search reads only the first.
    std::vector<std::chrono::sys_seconds> begins_;
    std::vector<std::int32_t> offsets_;
};

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/cron/tzif_zone.ipp>
#endif
#endif // ELASTICJOB_CRON_TZIF_ZONE_HPP
