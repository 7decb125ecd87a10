// SPDX-License-Identifier: Apache-2.0
/// \file \brief Bodies that take virtual time themselves: each run has its own stack and calls `pass_time`.
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

/// Marks a body that is called when its run begins, and that takes time by calling `pass_time`. After each call it sees
/// what has happened meanwhile. Without this mark an ordinary body is called at the end of its run.
template <class Body>
struct takes_time {
    Body body;
};
template <class Body>
takes_time(Body) -> takes_time<Body>;

namespace detail {

/// A function that can pause in the middle, with its whole call stack, while its owner continues. Costs 512 KiB of
/// address space, and about a microsecond for each switch. Threads: the owner's.
class body_fiber {
public:
    /// The first `resume` calls `act(context)`, which must not throw. `pass_time` inside it calls `on_sleep`.
    body_fiber(void (*act)(void* context), void (*on_sleep)(void* context, std::chrono::nanoseconds), void* context);
    body_fiber(body_fiber const&) = delete;
    body_fiber& operator=(body_fiber const&) = delete;

    /// The fiber that is running now, or null.
    static body_fiber* current() noexcept { return current_; }
    void sleep(std::chrono::nanoseconds span) { on_sleep_(context_, span); }

    bool is_over() const noexcept { return is_over_; }

    /// Runs the fiber until it pauses or has finished. Precondition: it has not finished.
    void resume();

    /// Call it inside the fiber: pauses until the owner resumes it. Throws if the fiber has been given up.
    void pause();

    /// Ends a paused fiber by an exception and frees its resources; without exceptions it frees nothing. Precondition:
    /// the objects that it uses still exist.
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

/// Returns when that much virtual time has passed for the body's process. Only for bodies marked with `takes_time`, and
/// not inside a `catch` of the body. If the process dies meanwhile, this call and all later calls throw, so that the
/// body ends; no observation records its later actions. Faults of bodies take effect here: the call takes longer, or
/// throws a std::runtime_error.
void pass_time(std::chrono::nanoseconds span);

} // namespace elasticjob::testing

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/testing/body_fiber.ipp>
#endif
#endif // ELASTICJOB_TESTING_BODY_FIBER_HPP
