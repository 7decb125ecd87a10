// SPDX-License-Identifier: Apache-2.0
/// \file \brief A cron expression that does not fire during a test.
#ifndef ELASTICJOB_TEST_SUPPORT_NEVER_HPP
#define ELASTICJOB_TEST_SUPPORT_NEVER_HPP

namespace elasticjob::test {

inline constexpr char const* never = "0 0 0 1 1 ? 2099";

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SUPPORT_NEVER_HPP
