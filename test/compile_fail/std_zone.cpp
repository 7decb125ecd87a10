// expect: StdZone needs std::chrono::time_zone, which this standard library does not have; use TzifZone or DateZone
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <version>

#ifdef BAD
#undef __cpp_lib_chrono // as it is in an old library, which is none of these
#undef _GLIBCXX_RELEASE
#undef _LIBCPP_VERSION
#include <elasticjob/cron/std_zone.hpp>
#elif defined(__cpp_lib_chrono) && __cpp_lib_chrono >= 201907L
#include <elasticjob/cron/std_zone.hpp>
#endif

