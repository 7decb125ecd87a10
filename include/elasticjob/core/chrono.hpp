// SPDX-License-Identifier: Apache-2.0
/// \file \brief The durations, clocks and points in time of <chrono>, without its calendars and streams.
#ifndef ELASTICJOB_CORE_CHRONO_HPP
#define ELASTICJOB_CORE_CHRONO_HPP

#include <version>

// All of <chrono> takes a compiler as long as <string> does. libstdc++ keeps what we need of it in a header of its own,
#if defined(__GLIBCXX__) && __has_include(<bits/chrono.h>)
#include <bits/chrono.h>
#else
#include <chrono>
#endif

#endif // ELASTICJOB_CORE_CHRONO_HPP
