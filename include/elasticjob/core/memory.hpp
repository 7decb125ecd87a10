// SPDX-License-Identifier: Apache-2.0
/// \file \brief The smart pointers of <memory>, without the algorithms for uninitialized storage.
#ifndef ELASTICJOB_CORE_MEMORY_HPP
#define ELASTICJOB_CORE_MEMORY_HPP

#include <version>

// libstdc++ keeps std::shared_ptr and std::unique_ptr in a header of their own, which <condition_variable> uses.
#if defined(__GLIBCXX__) && __has_include(<bits/shared_ptr.h>)
#include <bits/shared_ptr.h>
#else
#include <memory>
#endif

#endif // ELASTICJOB_CORE_MEMORY_HPP
