// SPDX-License-Identifier: Apache-2.0
/// \file \brief The loop of one simulated process: one of many on a virtual loop, to be paused, killed, and lied to.
#ifndef ELASTICJOB_TESTING_NODE_LOOP_HPP
#define ELASTICJOB_TESTING_NODE_LOOP_HPP

#include <elasticjob/core/virtual_loop.hpp>

#include <cstdint>
#include <utility>

namespace elasticjob::testing {

/// How a blocking call goes on while it waits: one step of the world, false if it should give up. A trampoline and its
/// context; without one, the virtual loop is stepped.
struct world_stepper {
    bool (*step)(void* context) = nullptr;
    void* context = nullptr;
};

/// Shares the world's monotonic time, and has a wall clock of its own. One piece of work or one timer is a step of the
/// world, so that processes take turns.
///
/// | the process is | posted work and timers                    | blocking calls                |
/// |----------------|-------------------------------------------|-------------------------------|
/// | paused         | wait; what is overdue runs after `resume` | wait, while the world goes on |
/// | killed         | never run; work is discarded at once      | give up                       |
///
/// Working takes no time; but a process that goes round in circles must not keep the time from passing for all others, so
/// a thousand pieces of work at one instant are followed by a millisecond. Once killed, everything that uses the loop can be destroyed, and nothing is sent in doing so.
/// Cost: a heap operation more than the virtual loop for each timer that becomes the earliest; a list operation more for
/// each run of work. Threads: the world's.
class node_loop {
public:
    explicit node_loop(virtual_loop& world, world_stepper s = {}) noexcept : world_{world}, stepper_{s} {}
    node_loop(node_loop const&) = delete;
    node_loop& operator=(node_loop const&) = delete;
    ~node_loop() { kill(); }

    static constexpr std::uint32_t works_at_once = 1000;

    mono_time now() const noexcept { return world_.now(); }
    wall_time wall_now() const noexcept { return world_.wall_now() + wall_offset_; }
    bool on_loop() const noexcept { return world_.on_loop(); }

    void post(work& w) noexcept {
        if (killed_) return w.act(w, work_action::discard);
        if (diverted_) return diverted_->push_back(w);
        ready_.push_back(w);
        take_turn();
    }
    void arm(timer& t, mono_time due) {
        if (killed_) return;
        timers_.arm(t, due);
        if (&timers_.earliest() == &t) set_alarm();
    }
    void disarm(timer& t) noexcept { timers_.disarm(t); } // the alarm may ring for nothing
    bool wait(gate const& g) {
        if (on_loop()) return false;
        while (!g.is_open())
            if (killed_ || !(stepper_.step ? stepper_.step(stepper_.context) : world_.step())) return false;
        return true;
    }

    virtual_loop& world() const noexcept { return world_; }

    bool is_paused() const noexcept { return paused_; }
    bool is_killed() const noexcept { return killed_; }

    /// As SIGSTOP does.
    void pause() noexcept {
        paused_ = true;
        turn_.unlink();
        world_.disarm(alarm_);
        world_.disarm(breath_);
    }
    void resume() {
        if (killed_ || !paused_) return;
        paused_ = false;
        take_turn();
        set_alarm();
    }

    /// As SIGKILL does. May be called by the process's own step, which then is its last.
    void kill() noexcept {
        killed_ = true;
        turn_.unlink();
        world_.disarm(alarm_);
        world_.disarm(breath_);
        while (!ready_.empty()) {
            work& w = ready_.pop_front();
            w.act(w, work_action::discard);
        }
    }

    /// What is posted goes there instead, until this is called with null. For who calls a worker's part of some work.
    void divert(intrusive_list<work>* into) noexcept { diverted_ = into; }

    /// By how much the process's wall clock is ahead of the world's.
    std::chrono::nanoseconds wall_offset() const noexcept { return wall_offset_; }
    void set_wall_offset(std::chrono::nanoseconds offset) noexcept {
        wall_offset_ = std::chrono::duration_cast<wall_time::duration>(offset);
    }

private:
    struct turn : work {
        explicit turn(node_loop& l) noexcept : work{&act_on}, self{l} {}
        static void act_on(work& w, work_action action) {
            if (action == work_action::run) static_cast<turn&>(w).self.run_one();
        }
        node_loop& self;
    };
    template <void (node_loop::*Act)()>
    struct alarm : timer {
        explicit alarm(node_loop& l) noexcept : timer{&ring}, self{l} {}
        static void ring(timer& t) { (static_cast<alarm&>(t).self.*Act)(); }
        node_loop& self;
    };

    void take_turn() noexcept {
        if (!paused_ && !ready_.empty() && !turn_.is_linked() && !breath_.is_armed()) world_.post(turn_);
    }
    void go_on() {
        instant_ = now();
        works_ = 0;
        take_turn();
    }
    void set_alarm() {
        if (paused_ || killed_ || timers_.empty()) return;
        auto const due = timers_.earliest().due;
        if (alarm_.is_armed() && alarm_.due <= due) return;
        world_.disarm(alarm_);
        world_.arm(alarm_, due);
    }

    void run_one() {
        if (ready_.empty()) return; // what was there has been taken back
        work& w = ready_.pop_front();
        w.act(w, work_action::run);
        if (std::exchange(instant_, now()) != now()) works_ = 0;
        if (++works_ >= works_at_once && !killed_ && !paused_ && !breath_.is_armed())
            world_.arm(breath_, now() + std::chrono::milliseconds{1});
        if (!killed_) take_turn();
    }
    void fire_one() {
        if (timers_.empty()) return;
        timer& t = timers_.earliest();
        if (t.due <= now()) {
            timers_.disarm(t);
            t.fire(t);
        }
        set_alarm();
    }

    virtual_loop& world_;
    world_stepper stepper_;
    intrusive_list<work> ready_;
    intrusive_list<work>* diverted_ = nullptr;
    timer_queue timers_;
    wall_time::duration wall_offset_{};
    mono_time instant_{};     ///< when the last work was done
    std::uint32_t works_ = 0; ///< how many at that instant
    turn turn_{*this};
    alarm<&node_loop::fire_one> alarm_{*this};
    alarm<&node_loop::go_on> breath_{*this};
    bool paused_ = false;
    bool killed_ = false;
};

static_assert(loop<node_loop>);

} // namespace elasticjob::testing
#endif // ELASTICJOB_TESTING_NODE_LOOP_HPP
