// SPDX-License-Identifier: Apache-2.0
/// \file \brief What all that is done for the items of a job on one instance shares.
#ifndef ELASTICJOB_SCHEDULER_JOB_SITE_HPP
#define ELASTICJOB_SCHEDULER_JOB_SITE_HPP

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
#include <elasticjob/scheduler/job_standing.hpp>
#include <elasticjob/sharding/job_view.hpp>

#include <cstdint>
#include <optional>

namespace elasticjob::detail {

/// Whose items they are, where they are kept, on which terms they run, and how the job is told. Threads: the loop's.
template <class Environment>
struct job_site {
    using Registry = typename Environment::registry_type;
    using Loop = typename Environment::loop_type;

    /// The standing is the job's, and must outlive this.
    explicit job_site(job_standing<Environment>& s);

    job_standing<Environment>& here;
    Environment const& env;
    Registry& registry;
    job_name const& name;
    job_layout const& at;
    instance_id const& self;
    std::optional<job_view<Registry>> const& view; ///< there from the first item on
    event_count<Loop>& job_news;                   ///< hears of what the job has to act on
    run_book<Registry> book;
    run_terms terms;
    event_count<Loop> idle_news; ///< notified when something has come to its end that the job may have waited for
    bool is_closing = false;     ///< nothing begins any more
    bool gives_up = false;       ///< the drain time-out is over: what cannot be recorded now is given up
    bool is_to_leave = false; ///< the instance: its clock is wrong, and the job asks for that then, or a handler does
    std::uint32_t reporting = 0; ///< runs whose bodies report their progress

    /// Nothing begins any more, and the job leaves when what runs is over and on record.
    void stand_down();

    bool has_java_members() const noexcept { return view->has_java_members(); }

    /// To decide what an item runs for, by the terms and the clock of now.
    run_choice choice() const { return {terms, self, wall_now(), has_java_members()}; }

    /// To decide what becomes of a run that has ended now.
    after_run aftermath() const { return {terms, now(), wall_now()}; }

    Loop& loop() const noexcept { return here.loop(); }
    mono_time now() const noexcept { return here.now(); }
    wall_time wall_now() const { return here.wall_milliseconds(); }

    events::origin origin() const { return {name.str(), self, wall_now()}; }
    void tell_trouble(error const& e) const { env.sink(events::trouble{origin(), e}); }
    void tell_skipped(item_index i, wall_time due, events::skip_reason why, std::uint64_t count = 1,
                      events::run_name const& run = {}) const;

    /// Calls a hook on the pool, and tells if it fails. `f` must outlive the task.
    template <class F>
    task<void> call(F const& f) {
        auto const heard = co_await call_hook(env.pool, loop(), here.callers, now() + hook_patience, f);
        if (!heard) tell_trouble(heard.error());
    }

    static constexpr auto retry_pause = job_standing<Environment>::retry_pause;
};

template <class Environment>
job_site<Environment>::job_site(job_standing<Environment>& s)
    : here{s},
      env{s.env},
      registry{s.registry},
      name{s.name},
      at{s.at},
      self{s.self},
      view{s.view},
      job_news{s.news},
      book{registry, at, self},
      idle_news{registry.loop()} {}

template <class Environment>
void job_site<Environment>::stand_down() {
    is_to_leave = true;
    terms.is_open = false;
    job_news.notify();
}

template <class Environment>
void job_site<Environment>::tell_skipped(item_index i, wall_time due, events::skip_reason why, std::uint64_t count,
                                         events::run_name const& run) const {
    env.sink(events::item_skipped{origin(), i, due, why, count, run});
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_JOB_SITE_HPP
