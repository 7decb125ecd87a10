// SPDX-License-Identifier: Apache-2.0
/// \file \brief Spreads one run over several threads: this one, and free threads of the pool.
#ifndef ELASTICJOB_EXECUTION_SPREAD_HPP
#define ELASTICJOB_EXECUTION_SPREAD_HPP

#include <elasticjob/core/loop.hpp> // work
#include <elasticjob/core/memory.hpp>
#include <elasticjob/execution/calling_threads.hpp>
#include <elasticjob/execution/sharding_context.hpp>

#include <atomic>
#include <cstddef>
#include <utility>

namespace elasticjob::detail {

/// The shared state of the threads. A thread that comes when all calls are taken touches only this.
template <class Call>
struct spread_state {
    spread_state(std::size_t n, Call const& c) : count{n}, call{c} {}

    void take_part() {
        for (std::size_t n; (n = next.fetch_add(1)) < count;) {
            call(n);
            done.fetch_add(1);
            done.notify_one();
        }
    }

    std::size_t const count;
    Call const& call;
    std::atomic<std::size_t> next{0}, done{0};
};

template <class State>
struct spread_helper : work {
    explicit spread_helper(std::shared_ptr<State> s) : work{&act_on}, state{std::move(s)} {}
    static void act_on(work& w, work_action action) {
        std::unique_ptr<spread_helper> const self{static_cast<spread_helper*>(&w)};
        if (action == work_action::run) self->state->take_part();
    }
    std::shared_ptr<State> state;
};

/// Calls `call(n)` for each n less than `count`, and returns when all calls have returned. Calls must not throw. This
/// thread makes all calls that no other thread has taken, so it never waits for a thread of the pool, and spread runs
/// cannot wait for each other. Without a port this thread makes all calls.
template <class Call>
void spread(run_port* port, std::size_t count, Call const& call) {
    if (!port || !port->submit || count < 2) {
        for (std::size_t n = 0; n < count; ++n) call(n);
        return;
    }
    auto const marked_call = [&](std::size_t n) {
        calling_threads::mark const here_now{port->callers};
        call(n);
    };
    using state = spread_state<decltype(marked_call)>;
    auto const shared = std::make_shared<state>(count, marked_call);
    for (std::size_t n = 1; n < count; ++n) {
        auto helper = std::make_unique<spread_helper<state>>(shared);
        if (!port->submit(*port, *helper)) break; // the pool is full
        (void)helper.release();                   // it deletes itself
    }
    shared->take_part();
    for (auto n = shared->done.load(); n != count; n = shared->done.load()) shared->done.wait(n);
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_EXECUTION_SPREAD_HPP
