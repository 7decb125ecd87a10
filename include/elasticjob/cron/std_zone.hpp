// SPDX-License-Identifier: Apache-2.0
/// \file \brief A zone of std::chrono, if the standard library has zones: `StdZone::load("Asia/Tokyo")`.
#ifndef ELASTICJOB_CRON_STD_ZONE_HPP
#define ELASTICJOB_CRON_STD_ZONE_HPP

#include <chrono>
#include <version>

// Two libraries have zones although __cpp_lib_chrono does not announce them: libstdc++ (except with its old strings),
// and libc++, in which they are experimental.
#if (!defined(__cpp_lib_chrono) || __cpp_lib_chrono < 201907L) &&                                                      \
    (!defined(_GLIBCXX_RELEASE) || _GLIBCXX_RELEASE < 13 || !_GLIBCXX_USE_CXX11_ABI) &&                                \
    (!defined(_LIBCPP_VERSION) || _LIBCPP_VERSION < 190000 || !defined(_LIBCPP_ENABLE_EXPERIMENTAL))
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

/// `std::chrono::time_zone` as a zone of a schedule. <elasticjob/elasticjob.hpp> does not include it, because many
/// standard libraries do not have it yet. These have it: libstdc++ since 13, libc++ since 19 with
/// -fexperimental-library, and all libraries that announce it in `__cpp_lib_chrono`. They read the text of the
/// database, tzdata.zi, in /usr/share/zoneinfo.
///
/// With libc++ 19 it agrees with `TzifZone` at every clock change of every zone from 1970 to 2037. Complexity: the
/// library's. libc++ searches from the zone's first clock change, so `at` takes up to a millisecond; `TzifZone` takes
/// nanoseconds.
using StdZone = chrono_zone<detail::std_library>;

static_assert(time_zone<StdZone>);

} // namespace elasticjob
#endif
#endif // ELASTICJOB_CRON_STD_ZONE_HPP
