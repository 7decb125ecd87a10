// SPDX-License-Identifier: Apache-2.0
/// \file \brief The `loop` concept: where all coordination runs, one step at a time.
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

/// What a queue is to do with a piece of work: run it, or let go of it because the queue is closing.
enum class work_action { run, discard };

/// A piece of work that lives in its owner. The typed trampoline `act` knows the owner's type; queues do not.
struct work : list_hook {
    explicit work(void (*trampoline)(work&, work_action)) noexcept : act{trampoline} {}
    void (*act)(work&, work_action);
};

/// Opened once, by the loop; waited for by another thread.
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
/// | `l.post(w)`     | runs `w` once, on the loop, never before `post` returns; in the order of the posts of a     |
/// |                 | thread; any thread may post. From another thread than the loop's, `w` must stay alive until |
/// |                 | it has run or been discarded; from the loop's own, unlinking it takes it back               |
/// | `l.arm(t, due)` | `t.fire(t)` once `now() >= due`, on the loop, unless disarmed; loop thread only             |
/// | `l.disarm(t)`   | no effect when not armed; loop thread only                                                  |
/// | `l.now()`       | monotonic time                                                                              |
/// | `l.wall_now()`  | civil time                                                                                  |
/// | `l.on_loop()`   | whether the caller runs on the loop                                                         |
/// | `l.wait(g)`     | returns true once gate `g` is open; false when this loop can never open it: the caller is   |
/// |                 | on the loop itself, or virtual time has run dry                                             |
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

/// Posts a function object. It is destroyed after it has run, or unrun when the loop closes first.
template <loop Loop, class F>
void post(Loop& l, F f) {
    l.post(*new detail::owned_work<F>{std::move(f)});
}

} // namespace elasticjob
#endif // ELASTICJOB_CORE_LOOP_HPP
