// SPDX-License-Identifier: Apache-2.0
/// \file \brief Replaces the global operator new of the whole test program, to count its calls or to make one of them
/// fail. It is empty under a sanitizer, which has its own allocator.
#ifndef ELASTICJOB_TEST_SUPPORT_COUNTED_NEW_HPP
#define ELASTICJOB_TEST_SUPPORT_COUNTED_NEW_HPP

#include "sanitized.hpp"

#ifndef ELASTICJOB_TEST_SANITIZED

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>

namespace counted_new {

inline thread_local std::size_t calls = 0;        ///< of this thread
inline thread_local bool does_next_fail = false; ///< the next call of this thread throws, and clears this

/// Counts down with each call of any thread. The call that finds 1 throws. At 0 no call throws.
inline std::atomic<long> calls_until_failure = 0;
inline std::atomic<bool> fails_from_then_on = false; ///< all later calls throw too, until the counter is set again

inline bool is_to_fail() noexcept {
    auto left = calls_until_failure.load(std::memory_order_relaxed);
    while (left != 0) {
        if (left == 1 && fails_from_then_on) return true;
        if (calls_until_failure.compare_exchange_weak(left, left - 1)) return left == 1;
    }
    return false;
}

template <class Function>
std::size_t calls_of(Function function) {
    auto const before = calls;
    function();
    return calls - before;
}

} // namespace counted_new

// Weak, so that several files of a program may include this: a replacement must not be inline. If only one of a pair
// is inlined, g++ sees a `free` of memory from `new`, and warns.
[[gnu::noinline, gnu::weak]] void* operator new(std::size_t size) {
    ++counted_new::calls;
    if (std::exchange(counted_new::does_next_fail, false)) throw std::bad_alloc{};
    if (counted_new::is_to_fail()) throw std::bad_alloc{};
    if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
    throw std::bad_alloc{};
}
[[gnu::noinline, gnu::weak]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline, gnu::weak]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

#endif // ELASTICJOB_TEST_SANITIZED
#endif // ELASTICJOB_TEST_SUPPORT_COUNTED_NEW_HPP
