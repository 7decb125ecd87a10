// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CORE_VIRTUAL_LOOP_IPP
#define ELASTICJOB_IMPL_CORE_VIRTUAL_LOOP_IPP

#include <elasticjob/core/virtual_loop.hpp>

namespace elasticjob {

ELASTICJOB_DECL virtual_loop::~virtual_loop() {
    while (!ready_.empty()) {
        work& w = ready_.pop_front();
        w.act(w, work_action::discard);
    }
}

ELASTICJOB_DECL bool virtual_loop::wait(gate const& g) {
    if (stepping_) return false;
    while (!g.is_open())
        if (!step()) return false;
    return true;
}

ELASTICJOB_DECL void virtual_loop::run_until(mono_time then) {
    while (step_until(then)) {
    }
    if (clock_.now() < then) clock_.advance(then - clock_.now());
}

ELASTICJOB_DECL bool virtual_loop::step_until(mono_time limit) {
    if (ready_.empty()) {
        if (timers_.empty() || timers_.earliest().due > limit) return false;
        timer& t = timers_.earliest();
        timers_.disarm(t);
        if (t.due > clock_.now()) clock_.advance(t.due - clock_.now());
        stepping const guard{stepping_};
        t.fire(t);
        return true;
    }
    work& w = ready_.pop_front();
    stepping const guard{stepping_};
    w.act(w, work_action::run);
    return true;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_CORE_VIRTUAL_LOOP_IPP
