// SPDX-License-Identifier: Apache-2.0
/// \file \brief The shared state of the parts that run a job's items on one instance.
#ifndef ELASTICJOB_SCHEDULER_RUN_CONTEXT_HPP
#define ELASTICJOB_SCHEDULER_RUN_CONTEXT_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/identity.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/events/event.hpp>
#include <elasticjob/execution/after_run.hpp>
#include <elasticjob/execution/run_book.hpp>
#include <elasticjob/execution/run_choice.hpp>
#include <elasticjob/execution/run_terms.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/scheduler/call_hook.hpp>
#include <elasticjob/scheduler/job_context.hpp>
#include <elasticjob/sharding/job_view.hpp>

#include <cstdint>
#include <optional>

namespace elasticjob::detail {

/// The owner of the items, their place in the registry, their terms, and the job's notifications. Threads: the loop's.
template <class Environment>
struct run_context {
    using Registry = typename Environment::registry_type;
    using Loop = typename Environment::loop_type;

    /// `s` belongs to the job and must outlive this object.
    explicit run_context(job_context<Environment>& s);

    job_context<Environment>& job;
    Environment const& env;
    Registry& registry;
    job_name const& name;
    job_layout const& at;
    instance_id const& self;
    std::optional<job_view<Registry>> const& view; ///< set from the first item on
    event_count<Loop>& job_news;                   ///< notified when the job has to act
    run_book<Registry> book;
    run_terms terms;
    event_count<Loop> idle_news; ///< notified when something ends for which the job may be waiting
    bool is_closing = false;     ///< no run begins from now on
    bool gives_up = false;       ///< the drain time-out is over: unrecorded ends are given up
    bool is_to_leave = false;    ///< the instance must leave: its clock is wrong, or an error handler stops the job
    std::uint32_t reporting = 0; ///< runs whose bodies report their progress

    /// From now on no run begins, and the job leaves when the ends of all live runs are on record.
    void stand_down();

    bool has_java_members() const noexcept { return view->has_java_members(); }

    /// Chooses what an item runs for, by the present terms and clock.
    run_choice choice() const { return {terms, self, wall_now(), has_java_members()}; }

    /// Decides what follows a run that has ended now.
    after_run aftermath() const { return {terms, now(), wall_now()}; }

    Loop& loop() const noexcept { return job.loop(); }
    mono_time now() const noexcept { return job.now(); }
    wall_time wall_now() const { return job.wall_milliseconds(); }

    events::origin origin() const { return job.origin(); }
    void tell_trouble(error const& e) const { job.tell_trouble(e); }
    void tell_skipped(item_index i, wall_time due, events::skip_reason why, std::uint64_t count = 1,
                      events::run_name const& run = {}) const;

    /// Calls a hook on the pool, and reports a failure. `f` must outlive the task.
    template <class F>
    task<void> call(F const& f) {
        auto const heard = co_await call_hook(env.pool, loop(), job.callers, now() + hook_timeout, f);
        if (!heard) tell_trouble(heard.error());
    }
};

template <class Environment>
run_context<Environment>::run_context(job_context<Environment>& s)
    : job{s},
      env{s.env},
      registry{s.registry},
      name{s.name},
      at{s.at},
      self{s.self},
      view{s.view},
      job_news{s.news},
      book{registry, env.commits, at, self},
      idle_news{registry.loop()} {}

template <class Environment>
void run_context<Environment>::stand_down() {
    is_to_leave = true;
    terms.is_open = false;
    job_news.notify();
}

template <class Environment>
void run_context<Environment>::tell_skipped(item_index i, wall_time due, events::skip_reason why, std::uint64_t count,
                                            events::run_name const& run) const {
    env.sink(events::item_skipped{origin(), i, due, why, count, run});
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_RUN_CONTEXT_HPP
