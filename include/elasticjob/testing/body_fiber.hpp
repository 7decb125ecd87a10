// SPDX-License-Identifier: Apache-2.0
/// \file \brief Bodies that take their time themselves: a stack of its own for each of their runs, and `pass_time`.
#ifndef ELASTICJOB_TESTING_BODY_FIBER_HPP
#define ELASTICJOB_TESTING_BODY_FIBER_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/memory.hpp>

#include <ucontext.h>

#include <cassert>
#include <cstddef>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define ELASTICJOB_TESTING_TELLS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ELASTICJOB_TESTING_TELLS_ASAN 1
#endif
#endif
#ifdef ELASTICJOB_TESTING_TELLS_ASAN // as in <sanitizer/common_interface_defs.h>
extern "C" void __sanitizer_start_switch_fiber(void** fake_stack_save, void const* bottom, std::size_t size);
extern "C" void __sanitizer_finish_switch_fiber(void* fake_stack_save, void const** bottom_old, std::size_t* size_old);
#endif

namespace elasticjob::testing {

/// Marks a body that is called when its run begins, and takes as long as it says by calling `pass_time`; between two calls it
/// sees what has happened meanwhile. Without this mark an ordinary body is called at the end of its run.
template <class Body>
struct takes_time {
    Body body;
};
template <class Body>
takes_time(Body) -> takes_time<Body>;

namespace detail {

/// A function that can stand still in the middle, with all that it has called, while its owner goes on. Costs 512 KiB of
/// address space, and about a microsecond each time. Threads: the owner's.
class body_fiber {
public:
    /// `act(context)` is called when this is resumed for the first time, and must not throw; `on_sleep` is what `pass_time`
    /// does in it.
    body_fiber(void (*act)(void* context), void (*on_sleep)(void* context, std::chrono::nanoseconds), void* context);
    body_fiber(body_fiber const&) = delete;
    body_fiber& operator=(body_fiber const&) = delete;

    /// The one that this is called in, or null.
    static body_fiber* current() noexcept { return current_; }
    void sleep(std::chrono::nanoseconds span) { on_sleep_(context_, span); }

    bool is_over() const noexcept { return is_over_; }

    /// Returns when it pauses, or is over. Precondition: it is not.
    void resume();

    /// In it: stands still until it is resumed. Throws when it has been given up.
    void pause();

    /// It is not to go on where it stands, and what it holds is freed. Without exceptions it is not. Precondition: what it
    /// uses is still there.
    void give_up();

private:
    static void enter();
    void leave([[maybe_unused]] bool for_good);

    static constexpr std::size_t stack_size = 512 * 1024;
    static inline thread_local body_fiber* current_ = nullptr;

    void (*act_)(void*);
    void (*on_sleep_)(void*, std::chrono::nanoseconds);
    void* context_;
    std::unique_ptr<std::byte[]> stack_;
    ucontext_t here_{}, owner_{};
    bool is_given_up_ = false, is_over_ = false;
#ifdef ELASTICJOB_TESTING_TELLS_ASAN
    void const* owners_stack_ = nullptr;
    std::size_t owners_stack_size_ = 0;
#endif
};

} // namespace detail

/// For bodies that are marked with `takes_time`, and not in a `catch` of theirs: returns when that much virtual time has
/// passed for their process. If that dies meanwhile, this throws, and again whenever it is called, so that the body comes to
/// its end; what it does then nobody sees. Faults of bodies happen here: it takes longer, or throws a std::runtime_error.
void pass_time(std::chrono::nanoseconds span);

} // namespace elasticjob::testing

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/testing/body_fiber.ipp>
#endif
#endif // ELASTICJOB_TESTING_BODY_FIBER_HPP
