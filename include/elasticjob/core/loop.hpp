// SPDX-License-Identifier: Apache-2.0
/// \file \brief The `loop` concept: runs all coordination, one step at a time.
#ifndef ELASTICJOB_CORE_LOOP_HPP
#define ELASTICJOB_CORE_LOOP_HPP

#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/intrusive_list.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/core/timer_queue.hpp>

#include <atomic>
#include <concepts>
#include <utility>

namespace elasticjob {

/// Tells a piece of work either to run, or to release its resources because the queue is closing.
enum class work_action { run, discard };

/// A piece of work that is part of its owner. The function `act` knows the owner's type; queues do not.
struct work : list_hook {
    explicit work(void (*trampoline)(work&, work_action)) noexcept : act{trampoline} {}
    void (*act)(work&, work_action);
};

/// Opened once by the loop, while another thread waits for it.
class gate {
public:
    void open() noexcept {
        open_.store(true, std::memory_order_release);
        open_.notify_all();
    }
    bool is_open() const noexcept { return open_.load(std::memory_order_acquire); }
    void wait() const noexcept { open_.wait(false, std::memory_order_acquire); }

private:
    std::atomic<bool> open_ = false;
};

/// | expression      | must hold                                                                                   |
/// |-----------------|---------------------------------------------------------------------------------------------|
/// | `l.post(w)`     | runs `w` once, on the loop, after `post` has returned; a thread's posts run in their order; |
/// |                 | any thread may post. If posted from another thread, `w` must stay alive until it has run    |
/// |                 | or been discarded; work posted from the loop's own thread can be taken back by unlinking it |
/// | `l.arm(t, due)` | calls `t.fire(t)` once `now() >= due`, on the loop, unless disarmed; loop thread only       |
/// | `l.disarm(t)`   | no effect if `t` is not armed; loop thread only                                             |
/// | `l.now()`       | monotonic time                                                                              |
/// | `l.wall_now()`  | civil time                                                                                  |
/// | `l.on_loop()`   | whether the caller runs on the loop                                                         |
/// | `l.wait(g)`     | returns true once gate `g` is open, and false if this loop can never open it: the caller is |
/// |                 | on the loop itself, or virtual time has no work left                                        |
/// Models: event_loop (a thread), virtual_loop (steps through virtual time).
template <class L>
concept loop = job_clock<L> && requires(L& l, work& w, timer& t, mono_time due, gate& g) {
    { l.post(w) } -> std::same_as<void>;
    { l.arm(t, due) } -> std::same_as<void>;
    { l.disarm(t) } -> std::same_as<void>;
    { l.on_loop() } -> std::same_as<bool>;
    { l.wait(g) } -> std::same_as<bool>;
};

namespace detail {

template <class F>
struct owned_work : work {
    explicit owned_work(F f) : work{&act_on}, function{std::move(f)} {}
    static void act_on(work& self, work_action action) {
        std::unique_ptr<owned_work> const owner{static_cast<owned_work*>(&self)};
        if (action == work_action::run) owner->function();
    }
    F function;
};

} // namespace detail

/// Posts a function object. If the loop closes first, the object is destroyed without a call.
template <loop Loop, class F>
void post(Loop& l, F f) {
    l.post(*new detail::owned_work<F>{std::move(f)});
}

} // namespace elasticjob
#endif // ELASTICJOB_CORE_LOOP_HPP
