// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_TESTING_NODE_LOOP_IPP
#define ELASTICJOB_IMPL_TESTING_NODE_LOOP_IPP

#include <elasticjob/testing/node_loop.hpp>

namespace elasticjob::testing {

ELASTICJOB_DECL void node_loop::post(work& w) noexcept {
    if (killed_) return w.act(w, work_action::discard);
    if (diverted_) return diverted_->push_back(w);
    ready_.push_back(w);
    take_turn();
}

ELASTICJOB_DECL void node_loop::arm(timer& t, mono_time due) {
    if (killed_) return;
    timers_.arm(t, due);
    if (&timers_.earliest() == &t) set_alarm();
}

ELASTICJOB_DECL bool node_loop::wait(gate const& g) {
    if (on_loop()) return false;
    while (!g.is_open())
        if (killed_ || !(stepper_.step ? stepper_.step(stepper_.context) : world_.step())) return false;
    return true;
}

ELASTICJOB_DECL void node_loop::pause() noexcept {
    wake();
    paused_ = true;
    turn_.unlink();
    world_.disarm(alarm_);
    world_.disarm(breath_);
}

ELASTICJOB_DECL void node_loop::suspend() noexcept {
    if (asleep_since_) return;
    pause();
    asleep_since_ = world_.now();
}

ELASTICJOB_DECL void node_loop::wake() noexcept {
    if (asleep_since_) slept_ += world_.now() - *asleep_since_;
    asleep_since_.reset();
}

ELASTICJOB_DECL void node_loop::resume() {
    if (killed_ || !paused_) return;
    wake();
    paused_ = false;
    take_turn();
    set_alarm();
}

ELASTICJOB_DECL void node_loop::kill() noexcept {
    killed_ = true;
    turn_.unlink();
    world_.disarm(alarm_);
    world_.disarm(breath_);
    while (!ready_.empty()) {
        work& w = ready_.pop_front();
        w.act(w, work_action::discard);
    }
}

ELASTICJOB_DECL void node_loop::set_wall_offset(std::chrono::nanoseconds offset) noexcept {
    wall_offset_ = std::chrono::duration_cast<wall_time::duration>(offset);
}

ELASTICJOB_DECL void node_loop::turn::act_on(work& w, work_action action) {
    if (action == work_action::run) static_cast<turn&>(w).self.run_one();
}

ELASTICJOB_DECL void node_loop::take_turn() noexcept {
    if (!paused_ && !ready_.empty() && !turn_.is_linked() && !breath_.is_armed()) world_.post(turn_);
}

ELASTICJOB_DECL void node_loop::go_on() {
    instant_ = now();
    works_ = 0;
    take_turn();
}

ELASTICJOB_DECL void node_loop::set_alarm() {
    if (paused_ || killed_ || timers_.empty()) return;
    auto const due = timers_.earliest().due + slept_;
    if (alarm_.is_armed() && alarm_.due <= due) return;
    world_.disarm(alarm_);
    world_.arm(alarm_, due);
}

ELASTICJOB_DECL void node_loop::run_one() {
    if (ready_.empty()) return; // the work has been unlinked
    work& w = ready_.pop_front();
    w.act(w, work_action::run);
    if (std::exchange(instant_, now()) != now()) works_ = 0;
    if (++works_ >= works_at_once && !killed_ && !paused_ && !breath_.is_armed())
        world_.arm(breath_, world_.now() + std::chrono::milliseconds{1});
    if (!killed_) take_turn();
}

ELASTICJOB_DECL void node_loop::fire_one() {
    if (timers_.empty()) return;
    timer& t = timers_.earliest();
    if (t.due <= now()) {
        timers_.disarm(t);
        t.fire(t);
    }
    set_alarm();
}

} // namespace elasticjob::testing
#endif // ELASTICJOB_IMPL_TESTING_NODE_LOOP_IPP
