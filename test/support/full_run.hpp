// SPDX-License-Identifier: Apache-2.0
/// \file \brief How much a test tries in each kind of run.
#ifndef ELASTICJOB_TEST_SUPPORT_FULL_RUN_HPP
#define ELASTICJOB_TEST_SUPPORT_FULL_RUN_HPP

#include <support/sanitized.hpp>

#include <cstddef>
#include <cstdlib>

namespace elasticjob::test {

/// Whether this is a full run (`test/run --full`), which tries everything.
inline bool is_full_run() { return std::getenv("ELASTICJOB_FULL_RUN") != nullptr; }

/// How much a test tries: all in a full run, less in `test/run`, for which a developer waits, and under a sanitizer as
/// much as takes a bearable time there, where most tests take 25 to 50 times as long.
struct amounts {
    std::size_t full, usual, sanitized;
};
inline std::size_t amount_for_this_run([[maybe_unused]] amounts a) {
#ifdef ELASTICJOB_TEST_SANITIZED
    return a.sanitized;
#else
    return is_full_run() ? a.full : a.usual;
#endif
}

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SUPPORT_FULL_RUN_HPP
