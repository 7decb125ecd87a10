// SPDX-License-Identifier: Apache-2.0
/// \file \brief The classic iterator algorithms of <algorithm>, without those that take ranges or an execution policy.
#ifndef ELASTICJOB_CORE_ALGORITHM_HPP
#define ELASTICJOB_CORE_ALGORITHM_HPP

#include <version>

// The omitted algorithms cause most of the compile time of <algorithm>. libstdc++ keeps the classic ones in a header of
// their own.
#if defined(__GLIBCXX__) && __has_include(<bits/stl_algo.h>)
#include <bits/stl_algo.h>
#else
#include <algorithm>
#endif

#endif // ELASTICJOB_CORE_ALGORITHM_HPP
