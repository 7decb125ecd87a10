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

/// `std::chrono::time_zone` as a zone of a schedule. Not included by <elasticjob/elasticjob.hpp>, because libstdc++ has
/// it from g++ 14 on. So far it was compiled with a stand-in for the standard's names only: neither g++ 12 nor clang 16,
/// on which this library is tested, has them.
using StdZone = chrono_zone<detail::std_library>;

static_assert(time_zone<StdZone>);

} // namespace elasticjob
#endif
#endif // ELASTICJOB_CRON_STD_ZONE_HPP
