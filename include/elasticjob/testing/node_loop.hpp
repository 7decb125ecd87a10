// SPDX-License-Identifier: Apache-2.0
/// \file \brief The loop of one simulated process, on a shared virtual loop. It can be paused and killed.
#ifndef ELASTICJOB_TESTING_NODE_LOOP_HPP
#define ELASTICJOB_TESTING_NODE_LOOP_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/virtual_loop.hpp>

#include <cstdint>
#include <optional>
#include <utility>

namespace elasticjob::testing {

/// A function with its context that advances the world by one step for a waiting blocking call. Returns false if the
/// call should give up. Without it, the call advances the virtual loop itself.
struct world_stepper {
    bool (*step)(void* context) = nullptr;
    void* context = nullptr;
};

/// Its monotonic time is the world's minus its own suspensions; its wall clock is its own. One piece of work or one
/// timer is one step of the world, so processes take turns.
///
/// | the process is | posted work and timers                    | blocking calls                |
/// |----------------|-------------------------------------------|-------------------------------|
/// | paused         | wait; overdue timers fire after `resume`  | wait, while the world goes on |
/// | killed         | never run; work is discarded at once      | give up                       |
///
/// Work takes no time. But a process in an endless cycle must not stop the time of all others, so after a thousand
/// pieces of work at one instant, a millisecond passes. After a kill, all objects that use the loop can be destroyed,
/// and their destruction sends nothing. Costs, compared with the virtual loop: one more heap operation for each timer
/// that becomes the earliest, and one more list operation for each batch of work. Threads: the world's.
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
    void disarm(timer& t) noexcept { timers_.disarm(t); } // the alarm may fire without a due timer
    bool wait(gate const& g);

    virtual_loop& world() const noexcept { return world_; }

    bool is_paused() const noexcept { return paused_; }
    bool is_killed() const noexcept { return killed_; }

    /// Acts like SIGSTOP. Ends a suspension of the machine.
    void pause() noexcept;

    /// Acts like the suspension of a machine: the process is paused, and monotonic time stands still, but `boot_now`
    /// advances.
    void suspend() noexcept;

    /// Ends a pause and a suspension.
    void resume();

    /// Acts like SIGKILL. The process's own step may call it; that step is then its last.
    void kill() noexcept;

    /// Adds posted work to another list instead, until it is called with null. For code that runs a worker's part of
    /// some work.
    void divert(intrusive_list<work>* into) noexcept { diverted_ = into; }

    /// The process's wall clock minus the world's.
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
    mono_time::duration slept_{};           ///< total of the suspensions that have ended
    std::optional<mono_time> asleep_since_; ///< in world time
    mono_time instant_{};                   ///< the time of the latest work
    std::uint32_t works_ = 0;               ///< the number of pieces of work at that instant
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
