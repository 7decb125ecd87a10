// SPDX-License-Identifier: Apache-2.0
/// \file \brief What the fuzz targets share: a failure that libFuzzer sees, and what must hold for every zone.
#ifndef ELASTICJOB_TEST_FUZZ_PROPERTIES_HPP
#define ELASTICJOB_TEST_FUZZ_PROPERTIES_HPP

#include <elasticjob/cron/literal.hpp>
#include <elasticjob/cron/next.hpp>
#include <elasticjob/cron/tzif_zone.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace fuzz {

using std::chrono::seconds;
using std::chrono::sys_seconds;

inline void require(bool holds, char const* what) {
    if (holds) return;
    std::fprintf(stderr, "does not hold: %s\n", what);
    std::abort();
}

inline std::string_view text_of(std::uint8_t const* data, std::size_t size) {
    return {reinterpret_cast<char const*>(data), size};
}

inline constexpr std::array policies{
    elasticjob::civil_policy{}, elasticjob::quartz_compatible,
    elasticjob::civil_policy{{elasticjob::gap_rule::shift, elasticjob::overlap_rule::both},
                             {elasticjob::gap_rule::shift, elasticjob::overlap_rule::last}}};

/// The search ends, and what it finds is later.
template <class Zone>
std::optional<sys_seconds> next_is_later(elasticjob::cron_expression const& e, sys_seconds after, Zone const& zone,
                                         elasticjob::civil_policy policy) {
    auto const fire = elasticjob::next_fire(e, after, zone, policy);
    require(!fire || *fire > after, "the next fire is later");
    return fire;
}

/// Segments meet from the first to the last instant, neighbours differ, and schedules move on at every turn.
inline void check(elasticjob::TzifZone const& zone) {
    using namespace elasticjob::literals;
    static constexpr std::array expressions{"* * * * * ?"_cron, "0 30 1-3 * * ?"_cron, "0 0 0 29 2 ?"_cron};
    auto segment = zone.at(sys_seconds::min());
    require(segment.begin == sys_seconds::min(), "the first segment begins with time");
    for (int turns = 0;; ++turns) {
        require(segment.begin < segment.end, "a segment has a length");
        require(std::chrono::abs(segment.offset) < std::chrono::hours{26}, "offsets are less than 26 hours");
        require(zone.at(segment.begin) == segment && zone.at(segment.end - seconds{1}) == segment,
                "a segment is the same everywhere in it");
        if (segment.end == sys_seconds::max()) break;
        auto const next = zone.at(segment.end);
        require(next.begin == segment.end, "segments meet");
        require(next.offset != segment.offset, "neighbours differ");
        constexpr auto far = sys_seconds{} + std::chrono::days{100'000};
        if (turns < 8 && segment.end > sys_seconds{} - std::chrono::days{400} && segment.end < far)
            for (auto const& e : expressions)
                for (auto const& policy : policies)
                    for (int const away : {-7200, -1, 0, 1799})
                        next_is_later(e, segment.end + seconds{away}, zone, policy);
        segment = next;
    }
    for (auto const after : {sys_seconds::min(), sys_seconds{}, sys_seconds::max()})
        for (auto const& e : expressions)
            for (auto const& policy : policies) next_is_later(e, after, zone, policy);
}

} // namespace fuzz
#endif // ELASTICJOB_TEST_FUZZ_PROPERTIES_HPP
