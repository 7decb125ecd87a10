// SPDX-License-Identifier: Apache-2.0
/// \file \brief The loop of one simulated process: one of many on a virtual loop, to be paused, killed, and lied to.
#ifndef ELASTICJOB_TESTING_NODE_LOOP_HPP
#define ELASTICJOB_TESTING_NODE_LOOP_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/virtual_loop.hpp>

#include <cstdint>
#include <optional>
#include <utility>

namespace elasticjob::testing {

/// How a blocking call goes on while it waits: one step of the world, false if it should give up. A trampoline and its
/// context; without one, the virtual loop is stepped.
struct world_stepper {
    bool (*step)(void* context) = nullptr;
    void* context = nullptr;
};

/// Shares the world's monotonic time, less what it has been suspended, and has a wall clock of its own. One piece of work or one timer is a step of the
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

    mono_time now() const noexcept { return (asleep_since_ ? *asleep_since_ : world_.now()) - slept_; }
    mono_time boot_now() const noexcept { return world_.now(); }
    wall_time wall_now() const noexcept { return world_.wall_now() + wall_offset_; }
    bool on_loop() const noexcept { return world_.on_loop(); }

    void post(work& w) noexcept;
    void arm(timer& t, mono_time due);
    void disarm(timer& t) noexcept { timers_.disarm(t); } // the alarm may ring for nothing
    bool wait(gate const& g);

    virtual_loop& world() const noexcept { return world_; }

    bool is_paused() const noexcept { return paused_; }
    bool is_killed() const noexcept { return killed_; }

    /// As SIGSTOP does. Ends a suspension.
    void pause() noexcept;

    /// As a machine's suspension does: paused, and monotonic time stands still, though not `boot_now`.
    void suspend() noexcept;

    /// Ends both.
    void resume();

    /// As SIGKILL does. May be called by the process's own step, which then is its last.
    void kill() noexcept;

    /// What is posted goes there instead, until this is called with null. For who calls a worker's part of some work.
    void divert(intrusive_list<work>* into) noexcept { diverted_ = into; }

    /// By how much the process's wall clock is ahead of the world's.
    std::chrono::nanoseconds wall_offset() const noexcept { return wall_offset_; }
    void set_wall_offset(std::chrono::nanoseconds offset) noexcept;

private:
    struct turn : work {
        explicit turn(node_loop& l) noexcept : work{&act_on}, self{l} {}
        static void act_on(work& w, work_action action);
        node_loop& self;
    };
    template <void (node_loop::*Act)()>
    struct alarm : timer {
        explicit alarm(node_loop& l) noexcept : timer{&ring}, self{l} {}
        static void ring(timer& t) { (static_cast<alarm&>(t).self.*Act)(); }
        node_loop& self;
    };

    void take_turn() noexcept;
    void go_on();
    void set_alarm();
    void wake() noexcept;

    void run_one();
    void fire_one();

    virtual_loop& world_;
    world_stepper stepper_;
    intrusive_list<work> ready_;
    intrusive_list<work>* diverted_ = nullptr;
    timer_queue timers_;
    wall_time::duration wall_offset_{};
    mono_time::duration slept_{};           ///< in the suspensions that are over
    std::optional<mono_time> asleep_since_; ///< by the world
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

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/testing/node_loop.ipp>
#endif
#endif // ELASTICJOB_TESTING_NODE_LOOP_HPP
