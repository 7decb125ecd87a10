// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_TEST_SUPPORT_FULL_RUN_HPP
#define ELASTICJOB_TEST_SUPPORT_FULL_RUN_HPP

#include <cstdlib>

namespace elasticjob::test {

/// Whether this is a full run (`test/run --full`), which tries everything.
inline bool is_full_run() { return std::getenv("ELASTICJOB_FULL_RUN") != nullptr; }

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SUPPORT_FULL_RUN_HPP
