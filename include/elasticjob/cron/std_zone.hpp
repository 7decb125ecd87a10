// SPDX-License-Identifier: Apache-2.0
/// \file \brief A zone of std::chrono, where the standard library has them: `StdZone::load("Asia/Tokyo")`.
#ifndef ELASTICJOB_CRON_STD_ZONE_HPP
#define ELASTICJOB_CRON_STD_ZONE_HPP

#include <chrono>
#include <version>

#if !defined(__cpp_lib_chrono) || __cpp_lib_chrono < 201907L
#error "StdZone needs std::chrono::time_zone, which this standard library does not have; use TzifZone or DateZone"
#else

#include <elasticjob/cron/chrono_zone.hpp>

#include <string_view>

namespace elasticjob {

namespace detail {

struct std_library {
    static std::chrono::time_zone const* locate_zone(std::string_view name) { return std::chrono::locate_zone(name); }
};

} // namespace detail

/// `std::chrono::time_zone` as a zone of a schedule. Not included by <elasticjob/elasticjob.hpp>, because many standard
/// libraries do not have it yet. So far it was compiled and run with date's names in the place of the standard's only:
/// neither g++ 12 nor clang 16, on which this library is tested, has those.
using StdZone = chrono_zone<detail::std_library>;

static_assert(time_zone<StdZone>);

} // namespace elasticjob
#endif
#endif // ELASTICJOB_CRON_STD_ZONE_HPP
