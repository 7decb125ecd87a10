// SPDX-License-Identifier: Apache-2.0
/// \file \brief Replaces pthread_create of the whole test program, so that a test limits the number of new threads. At
/// most one file of a program may include it. It is empty under a sanitizer, which replaces that function itself.
#ifndef ELASTICJOB_TEST_SUPPORT_LIMITED_THREADS_HPP
#define ELASTICJOB_TEST_SUPPORT_LIMITED_THREADS_HPP

#include "sanitized.hpp"

#ifndef ELASTICJOB_TEST_SANITIZED

#include <atomic>
#include <cerrno>

#include <dlfcn.h>
#include <pthread.h>

namespace limited_threads {

inline std::atomic<bool> is_limited = false;
inline std::atomic<int> left = 0;

/// During its lifetime, `count` more threads can be started.
struct limit {
    explicit limit(int count) {
        left = count;
        is_limited = true;
    }
    limit(limit const&) = delete;
    limit& operator=(limit const&) = delete;
    ~limit() { is_limited = false; }
};

} // namespace limited_threads

extern "C" int pthread_create(pthread_t* thread, pthread_attr_t const* attributes, void* (*run)(void*),
                              void* argument) noexcept {
    using function = int (*)(pthread_t*, pthread_attr_t const*, void* (*)(void*), void*);
    static auto const system_call = reinterpret_cast<function>(::dlsym(RTLD_NEXT, "pthread_create"));
    if (limited_threads::is_limited && limited_threads::left.fetch_sub(1) <= 0) return EAGAIN;
    return system_call(thread, attributes, run, argument);
}

#endif // ELASTICJOB_TEST_SANITIZED
#endif // ELASTICJOB_TEST_SUPPORT_LIMITED_THREADS_HPP
