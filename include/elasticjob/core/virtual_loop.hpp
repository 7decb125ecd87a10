// SPDX-License-Identifier: Apache-2.0
/// \file \brief A loop without a thread, in virtual time. Its owner advances it step by step.
#ifndef ELASTICJOB_CORE_VIRTUAL_LOOP_HPP
#define ELASTICJOB_CORE_VIRTUAL_LOOP_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/loop.hpp>

namespace elasticjob {

/// Days pass in milliseconds, and the same program takes the same steps every time. Threads: one, which counts as "on
/// the loop" during a step. The destructor discards the queue.
class virtual_loop {
public:
    explicit virtual_loop(wall_time start = wall_time{}) : clock_{start} {}
    virtual_loop(virtual_loop const&) = delete;
    virtual_loop& operator=(virtual_loop const&) = delete;
    ~virtual_loop();

    mono_time now() const noexcept { return clock_.now(); }
    mono_time boot_now() const noexcept { return clock_.boot_now(); }
    wall_time wall_now() const noexcept { return clock_.wall_now(); }
    bool on_loop() const noexcept { return stepping_; }
    void post(work& w) noexcept { ready_.push_back(w); }
    void arm(timer& t, mono_time due) { timers_.arm(t, due); }
    void disarm(timer& t) noexcept { timers_.disarm(t); }

    /// Steps until the gate is open or virtual time has no work left.
    bool wait(gate const& g);

    /// Runs one piece of work. If there is none, advances to the next timer and fires it. Returns false if there is
    /// neither.
    bool step() { return step_until(mono_time::max()); }

    /// Runs everything that is due until then, and then sets the time to exactly `then`.
    void run_until(mono_time then);
    void run_for(std::chrono::nanoseconds span) { run_until(now() + span); }

    /// Runs all work that needs no time to pass.
    void run_ready() { run_until(now()); }

    /// Simulates that the machine is suspended for that long: timers come no nearer.
    void suspend(std::chrono::nanoseconds span) noexcept { clock_.suspend(span); }

    /// Simulates a change of the machine's wall clock.
    void set_wall(wall_time wall) noexcept { clock_.set_wall(wall); }

private:
    struct stepping {
        explicit stepping(bool& flag) noexcept : flag_{flag} { flag_ = true; }
        stepping(stepping const&) = delete;
        stepping& operator=(stepping const&) = delete;
        ~stepping() { flag_ = false; }
        bool& flag_;
    };

    bool step_until(mono_time limit);

    ManualClock clock_;
    intrusive_list<work> ready_;
    timer_queue timers_;
    bool stepping_ = false;
};

static_assert(loop<virtual_loop>);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/core/virtual_loop.ipp>
#endif
#endif // ELASTICJOB_CORE_VIRTUAL_LOOP_HPP
