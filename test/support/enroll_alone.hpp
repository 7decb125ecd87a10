// SPDX-License-Identifier: Apache-2.0
/// \file \brief Joins a job without a scheduler.
#ifndef ELASTICJOB_TEST_SUPPORT_ENROLL_ALONE_HPP
#define ELASTICJOB_TEST_SUPPORT_ENROLL_ALONE_HPP

#include <elasticjob/membership/enroll.hpp>

#include <utility>

namespace elasticjob::test {

/// As `enroll`, in a request of its own.
template <registry Registry, class Accept, class Begin = adds_nothing>
task<result<enrollment>> enroll_alone(Registry& r, job_layout at, enroll_request what, Accept accept,
                                      Begin begin = {}) {
    joint_commits<Registry> commits{r};
    co_return co_await enroll(commits, std::move(at), std::move(what), std::move(accept), std::move(begin));
}

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SUPPORT_ENROLL_ALONE_HPP
