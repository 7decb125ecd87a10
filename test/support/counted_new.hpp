// SPDX-License-Identifier: Apache-2.0
/// \file \brief Replaces the global operator new of the whole test program in order to count its calls, or to let one of
/// them fail. At most one file of a program may include it. Under a sanitizer, which has an allocator of its own, nothing
/// is there.
#ifndef ELASTICJOB_TEST_SUPPORT_COUNTED_NEW_HPP
#define ELASTICJOB_TEST_SUPPORT_COUNTED_NEW_HPP

#include "sanitized.hpp"

#ifndef ELASTICJOB_TEST_SANITIZED

#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>

namespace counted_new {

inline thread_local std::size_t calls = 0;        ///< of this thread
inline thread_local bool does_next_fail = false; ///< the next call of this thread throws, and clears this

template <class Function>
std::size_t calls_of(Function function) {
    auto const before = calls;
    function();
    return calls - before;
}

} // namespace counted_new

// If only one of a pair is inlined, g++ sees a `free` of something that came from `new`, and warns.
[[gnu::noinline]] void* operator new(std::size_t size) {
    ++counted_new::calls;
    if (std::exchange(counted_new::does_next_fail, false)) throw std::bad_alloc{};
    if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
    throw std::bad_alloc{};
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

#endif // ELASTICJOB_TEST_SANITIZED
#endif // ELASTICJOB_TEST_SUPPORT_COUNTED_NEW_HPP
