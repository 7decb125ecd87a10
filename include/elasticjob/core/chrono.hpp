// SPDX-License-Identifier: Apache-2.0
/// \file \brief The durations, clocks and points in time of <chrono>, without its calendars and streams.
#ifndef ELASTICJOB_CORE_CHRONO_HPP
#define ELASTICJOB_CORE_CHRONO_HPP

#include <version>

// The whole of <chrono> takes as long to compile as <string>. libstdc++ keeps the parts that we need in a header of
// their own.
#if defined(__GLIBCXX__) && __has_include(<bits/chrono.h>)
#include <bits/chrono.h>
#else
#include <chrono>
#endif

#endif // ELASTICJOB_CORE_CHRONO_HPP
