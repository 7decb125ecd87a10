// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_TESTING_SIMULATED_WORKERS_IPP
#define ELASTICJOB_IMPL_TESTING_SIMULATED_WORKERS_IPP

#include <elasticjob/testing/simulated_workers.hpp>

namespace elasticjob::testing {

ELASTICJOB_DECL simulated_workers::simulated_workers(node_loop& l, observatory& o, std::uint32_t node,
                                                     std::uint64_t process, std::uint64_t seed, body_time t,
                                                     std::size_t threads) noexcept
    : loop_{l},
      observatory_{o},
      node_{node},
      process_{process},
      random_{seed},
      time_{t},
      threads_{threads} {}

ELASTICJOB_DECL bool simulated_workers::try_submit(work& w) {
    if (loop_.now() < full_until || loop_.is_killed()) return false;
    if (detail::body_fiber::current()) return false; // a fiber would wait for helpers that cannot run
    runs_.emplace_back(*this, w);
    return true;
}

ELASTICJOB_DECL void simulated_workers::kill() {
    runs_.clear();
    std::erase_if(observatory_.view.runs, [&](live_run const& r) { return r.process == process_; });
}

ELASTICJOB_DECL simulated_workers::run::run(simulated_workers& s, work& what) : timer{&ring}, self{s}, w{what} {
    self.loop_.arm(*this, self.loop_.now());
}

ELASTICJOB_DECL simulated_workers::run::~run() {
    self.loop_.disarm(*this);
    if (fiber && self.loop_.is_killed()) fiber->give_up(); // otherwise objects that its body uses may be gone
}

ELASTICJOB_DECL void simulated_workers::run::ring(timer& t) {
    auto& r = static_cast<run&>(t);
    if (r.fiber)
        r.self.go_on(r);
    else if (r.plan)
        r.self.finish(r);
    else if (!r.self.is_busy())
        r.self.begin(r);
}

ELASTICJOB_DECL void simulated_workers::run::hear_stop() {
    if (was_stopped || plan->stops_after == simulated_run::never) return;
    was_stopped = true;
    if (!is_begun) return;
    if (is_armed() && due <= self.loop_.now() + plan->stops_after) {
        was_stopped = false; // it ends by itself now
        return;
    }
    self.loop_.disarm(*this);
    self.loop_.arm(*this, self.loop_.now() + plan->stops_after);
}

ELASTICJOB_DECL void simulated_workers::begin(run& r) {
    intrusive_list<work> posted;
    current_ = &r;
    loop_.divert(&posted);
    r.w.act(r.w, work_action::run);
    loop_.divert(nullptr);
    current_ = nullptr;
    bool const lasts = r.plan.has_value();
    while (!posted.empty()) {
        work& w = posted.pop_front();
        if (!lasts || !posted.empty()) loop_.post(w); // all but the last, which posts the result to the loop
    }
    if (!lasts) return remove(r); // work that is no body has finished
    r.is_begun = true;
    if (r.takes_time) return begin_fiber(r);
    auto const lasting = r.was_stopped ? r.plan->stops_after : r.plan->duration;
    if (lasting != simulated_run::never) loop_.arm(r, loop_.now() + lasting);
}

ELASTICJOB_DECL void simulated_workers::begin_fiber(run& r) {
    auto const act = [](void* self) {
        auto& w = static_cast<run*>(self)->w;
        w.act(w, work_action::run);
    };
    auto const sleep = [](void* self, std::chrono::nanoseconds span) {
        auto& sleeper = *static_cast<run*>(self);
        sleeper.self.pass(sleeper, span);
    };
    r.fiber.emplace(act, sleep, &r);
    go_on(r);
}

ELASTICJOB_DECL void simulated_workers::go_on(run& r) {
    current_ = &r;
    r.fiber->resume();
    current_ = nullptr;
    if (r.fiber->is_over()) remove(r);
}

ELASTICJOB_DECL void simulated_workers::pass(run& r, std::chrono::nanoseconds span) {
    auto const now = loop_.now();
#if defined(__cpp_exceptions)
    if (now < throw_until) throw std::runtime_error{thrown};
#endif
    loop_.arm(r, now + stretched(span));
    r.fiber->pause();
}

ELASTICJOB_DECL void simulated_workers::finish(run& r) {
    r.stop.reset();
    current_ = &r;
    r.w.act(r.w, work_action::run);
    current_ = nullptr;
    remove(r);
}

ELASTICJOB_DECL void simulated_workers::remove(run& r) {
    runs_.remove_if([&](run const& other) { return &other == &r; });
    auto const waits = [](run const& other) { return !other.plan && !other.is_armed(); };
    auto const next = std::find_if(runs_.begin(), runs_.end(), waits);
    if (next != runs_.end()) loop_.arm(*next, loop_.now());
}

ELASTICJOB_DECL bool simulated_workers::is_busy() const {
    auto const has_begun = [](run const& r) { return r.plan.has_value(); };
    return threads_ != 0 && static_cast<std::size_t>(std::count_if(runs_.begin(), runs_.end(), has_begun)) >= threads_;
}

ELASTICJOB_DECL std::chrono::nanoseconds simulated_workers::stretched(std::chrono::nanoseconds span) const {
    auto const now = loop_.now();
    if (now < slow_until && span != simulated_run::never) span *= slow_factor;
    if (now < hang_until) span = std::max(span, std::chrono::nanoseconds{hang_until - now});
    return span;
}

ELASTICJOB_DECL void simulated_workers::note_begin(sharding_context const& c) {
    note(observation::kind::body_began, c, {});
    observatory_.view.runs.push_back({node_, process_, c.job_name, c.item, c.due, c.token, session_now()});
}

ELASTICJOB_DECL void simulated_workers::note_end(sharding_context const& c, result<void> const& outcome) {
    std::optional<error> failure;
    if (!outcome) failure = outcome.error();
    note(observation::kind::body_ended, c, std::move(failure));
    forget(c);
}

ELASTICJOB_DECL void simulated_workers::note(observation::kind k, sharding_context const& c,
                                             std::optional<error> failure) {
    observation o;
    o.what = k;
    o.node = node_;
    o.process = process_;
    o.job = c.job_name;
    o.item = c.item;
    o.due = c.due;
    o.token = c.token;
    if (auto const why = c.why_stop(); why != stop_reason::none) o.text = "asked to stop: " + std::string{name_of(why)};
    o.failure = std::move(failure);
    observatory_.note(std::move(o));
}

ELASTICJOB_DECL void simulated_workers::forget(sharding_context const& c) {
    auto& all = observatory_.view.runs;
    auto const is_it = [&](live_run const& r) {
        return r.process == process_ && r.job == c.job_name && r.item == c.item && r.token == c.token;
    };
    auto const at = std::find_if(all.begin(), all.end(), is_it);
    if (at != all.end()) all.erase(at);
}

} // namespace elasticjob::testing
#endif // ELASTICJOB_IMPL_TESTING_SIMULATED_WORKERS_IPP
