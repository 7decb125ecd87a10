// SPDX-License-Identifier: Apache-2.0
/// \file \brief Selects where definitions are compiled: in every file that includes a header, or once for the whole
/// program.
#ifndef ELASTICJOB_CORE_DECL_HPP
#define ELASTICJOB_CORE_DECL_HPP

#if __cplusplus < 202002L
#error "elasticjob needs C++20: compile with -std=c++20 or later (with CMake: target_compile_features(... cxx_std_20))"
#endif

// Header-only is the default and needs no build step. If the whole program defines ELASTICJOB_COMPILED, the headers
// only declare. The definitions then come from the library of the CMake target elasticjob::compiled, or from the one
// file of the program that includes <elasticjob/src.hpp>. ELASTICJOB_DECL precedes each definition in impl/.
#if defined(ELASTICJOB_COMPILED)
#define ELASTICJOB_DECL
#else
#define ELASTICJOB_HEADER_ONLY
#define ELASTICJOB_DECL inline
#endif

#endif // ELASTICJOB_CORE_DECL_HPP
