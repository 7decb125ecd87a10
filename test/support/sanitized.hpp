// SPDX-License-Identifier: Apache-2.0
/// \file \brief Whether a sanitizer uses an allocator of its own, which keeps no counts and must not be replaced.
#ifndef ELASTICJOB_TEST_SUPPORT_SANITIZED_HPP
#define ELASTICJOB_TEST_SUPPORT_SANITIZED_HPP

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ELASTICJOB_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ELASTICJOB_TEST_SANITIZED 1
#endif
#endif

#endif // ELASTICJOB_TEST_SUPPORT_SANITIZED_HPP
