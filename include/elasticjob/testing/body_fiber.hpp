// SPDX-License-Identifier: Apache-2.0
/// \file \brief Bodies that take their time themselves: a stack of its own for each of their runs, and `pass_time`.
#ifndef ELASTICJOB_TESTING_BODY_FIBER_HPP
#define ELASTICJOB_TESTING_BODY_FIBER_HPP

#include <elasticjob/core/chrono.hpp>
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
    body_fiber(void (*act)(void* context), void (*on_sleep)(void* context, std::chrono::nanoseconds), void* context)
        : act_{act}, on_sleep_{on_sleep}, context_{context}, stack_{new std::byte[stack_size]} {
        getcontext(&here_);
        here_.uc_stack.ss_sp = stack_.get();
        here_.uc_stack.ss_size = stack_size;
        here_.uc_link = nullptr;
        makecontext(&here_, &enter, 0);
    }
    body_fiber(body_fiber const&) = delete;
    body_fiber& operator=(body_fiber const&) = delete;

    /// The one that this is called in, or null.
    static body_fiber* current() noexcept { return current_; }
    void sleep(std::chrono::nanoseconds span) { on_sleep_(context_, span); }

    bool is_over() const noexcept { return is_over_; }

    /// Returns when it pauses, or is over. Precondition: it is not.
    void resume() {
        auto* const before = std::exchange(current_, this);
#ifdef ELASTICJOB_TESTING_TELLS_ASAN
        void* mine = nullptr;
        __sanitizer_start_switch_fiber(&mine, stack_.get(), stack_size);
#endif
        swapcontext(&owner_, &here_);
#ifdef ELASTICJOB_TESTING_TELLS_ASAN
        __sanitizer_finish_switch_fiber(mine, nullptr, nullptr);
#endif
        current_ = before;
    }

    /// In it: stands still until it is resumed. Throws when it has been given up.
    void pause() {
        if (!is_given_up_) leave(false);
#if defined(__cpp_exceptions)
        struct given_up {};
        if (is_given_up_) throw given_up{};
#endif
    }

    /// It is not to go on where it stands, and what it holds is freed. Without exceptions it is not. Precondition: what it
    /// uses is still there.
    void give_up() {
        is_given_up_ = true;
#if defined(__cpp_exceptions)
        if (!is_over_) resume();
#endif
    }

private:
    static void enter() {
        auto& self = *current_;
#ifdef ELASTICJOB_TESTING_TELLS_ASAN
        __sanitizer_finish_switch_fiber(nullptr, &self.owners_stack_, &self.owners_stack_size_);
#endif
        self.act_(self.context_);
        self.is_over_ = true;
        self.leave(true);
    }
    void leave([[maybe_unused]] bool for_good) {
#ifdef ELASTICJOB_TESTING_TELLS_ASAN
        void* mine = nullptr;
        __sanitizer_start_switch_fiber(for_good ? nullptr : &mine, owners_stack_, owners_stack_size_);
#endif
        swapcontext(&here_, &owner_);
#ifdef ELASTICJOB_TESTING_TELLS_ASAN
        __sanitizer_finish_switch_fiber(mine, &owners_stack_, &owners_stack_size_);
#endif
    }

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
inline void pass_time(std::chrono::nanoseconds span) {
    auto* const self = detail::body_fiber::current();
    assert(self && "the body is not marked with takes_time");
    self->sleep(span);
}

} // namespace elasticjob::testing
#endif // ELASTICJOB_TESTING_BODY_FIBER_HPP
