// SPDX-License-Identifier: Apache-2.0
/// \file \brief The two smart pointers of <memory>, without what works on storage that holds no objects yet.
#ifndef ELASTICJOB_CORE_MEMORY_HPP
#define ELASTICJOB_CORE_MEMORY_HPP

#include <version>

// libstdc++ has std::shared_ptr, and std::unique_ptr with it, in a header of its own, for <condition_variable>:
#if defined(__GLIBCXX__) && __has_include(<bits/shared_ptr.h>)
#include <bits/shared_ptr.h>
#else
#include <memory>
#endif

#endif // ELASTICJOB_CORE_MEMORY_HPP
