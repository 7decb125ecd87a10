// SPDX-License-Identifier: Apache-2.0
/// \file \brief The algorithms of <algorithm> that take two iterators, without those that take ranges or a policy.
#ifndef ELASTICJOB_CORE_ALGORITHM_HPP
#define ELASTICJOB_CORE_ALGORITHM_HPP

#include <version>

// The rest is most of what <algorithm> costs. libstdc++ has the classic ones in a header of their own, which several of
#if defined(__GLIBCXX__) && __has_include(<bits/stl_algo.h>)
#include <bits/stl_algo.h>
#else
#include <algorithm>
#endif

#endif // ELASTICJOB_CORE_ALGORITHM_HPP
