// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_TESTING_BODY_FIBER_IPP
#define ELASTICJOB_IMPL_TESTING_BODY_FIBER_IPP

#include <elasticjob/testing/body_fiber.hpp>

namespace elasticjob::testing::detail {

ELASTICJOB_DECL body_fiber::body_fiber(void (*act)(void* context),
                                       void (*on_sleep)(void* context, std::chrono::nanoseconds), void* context)
    : act_{act},
      on_sleep_{on_sleep},
      context_{context},
      stack_{new std::byte[stack_size]} {
    getcontext(&here_);
    here_.uc_stack.ss_sp = stack_.get();
    here_.uc_stack.ss_size = stack_size;
    here_.uc_link = nullptr;
    makecontext(&here_, &enter, 0);
}

ELASTICJOB_DECL void body_fiber::resume() {
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

ELASTICJOB_DECL void body_fiber::pause() {
    if (!is_given_up_) leave(false);
#if defined(__cpp_exceptions)
    struct given_up {};
    if (is_given_up_) throw given_up{};
#endif
}

ELASTICJOB_DECL void body_fiber::give_up() {
    is_given_up_ = true;
#if defined(__cpp_exceptions)
    if (!is_over_) resume();
#endif
}

ELASTICJOB_DECL void body_fiber::enter() {
    auto& self = *current_;
#ifdef ELASTICJOB_TESTING_TELLS_ASAN
    __sanitizer_finish_switch_fiber(nullptr, &self.owners_stack_, &self.owners_stack_size_);
#endif
    self.act_(self.context_);
    self.is_over_ = true;
    self.leave(true);
}

ELASTICJOB_DECL void body_fiber::leave([[maybe_unused]] bool for_good) {
#ifdef ELASTICJOB_TESTING_TELLS_ASAN
    void* mine = nullptr;
    __sanitizer_start_switch_fiber(for_good ? nullptr : &mine, owners_stack_, owners_stack_size_);
#endif
    swapcontext(&here_, &owner_);
#ifdef ELASTICJOB_TESTING_TELLS_ASAN
    __sanitizer_finish_switch_fiber(mine, &owners_stack_, &owners_stack_size_);
#endif
}

} // namespace elasticjob::testing::detail

namespace elasticjob::testing {

ELASTICJOB_DECL void pass_time(std::chrono::nanoseconds span) {
    auto* const self = detail::body_fiber::current();
    assert(self && "the body is not marked with takes_time");
    self->sleep(span);
}

} // namespace elasticjob::testing
#endif // ELASTICJOB_IMPL_TESTING_BODY_FIBER_IPP
