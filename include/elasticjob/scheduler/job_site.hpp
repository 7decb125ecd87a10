// SPDX-License-Identifier: Apache-2.0
/// \file \brief What all that is done for the items of a job on one instance shares.
#ifndef ELASTICJOB_SCHEDULER_JOB_SITE_HPP
#define ELASTICJOB_SCHEDULER_JOB_SITE_HPP

#include <elasticjob/config/due_times.hpp>
#include <elasticjob/config/validation.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/deferred.hpp>
#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/identity.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/events/event.hpp>
#include <elasticjob/execution/run_book.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/scheduler/call_hook.hpp>
#include <elasticjob/scheduler/run_terms.hpp>
#include <elasticjob/sharding/job_view.hpp>

#include <cstdint>
#include <utility>

namespace elasticjob::detail {

/// Whose items they are, where they are kept, on which terms they run, and how the job is told. Threads: the loop's.
template <class Environment>
struct job_site {
    using Registry = typename Environment::registry_type;
    using Loop = typename Environment::loop_type;
    using valid_config = deferred<elasticjob::valid_config, Environment>; // see docs/decisions/0006

    /// The environment must outlive this. `job_news` is the job's, and hears of what the job has to act on.
    job_site(Environment& e, job_name n, job_layout a, instance_id s, event_count<Loop>& news)
        : env{e},
          registry{e.registry},
          name{std::move(n)},
          at{std::move(a)},
          self{std::move(s)},
          book{registry, at, self},
          job_news{news},
          idle_news{registry.loop()} {}

    Environment& env;
    Registry& registry;
    job_name const name;
    job_layout const at;
    instance_id const self;
    run_book<Registry> book;
    run_terms<valid_config, due_times<typename Environment::zone_type>> terms;
    job_view<Registry> const* view = nullptr; ///< there from the first item on
    event_count<Loop>& job_news;
    event_count<Loop> idle_news; ///< notified when something has come to its end that the job may have waited for
    bool is_closing = false;     ///< what cannot be recorded now is given up
    bool is_to_leave = false;    ///< the instance: its clock is wrong, and the job asks for that then, or a handler does

    /// Nothing begins any more, and the job leaves when what runs is over and on record.
    void stand_down() {
        is_to_leave = true;
        terms.is_open = false;
        job_news.notify();
    }

    bool has_java_members() const {
        auto const all = view->instances();
        return std::any_of(all.begin(), all.end(), [](instance_id const& id) { return id.is_java(); });
    }

    Loop& loop() const noexcept { return registry.loop(); }
    mono_time now() const noexcept { return loop().now(); }
    wall_time wall_now() const {
        return std::chrono::time_point_cast<wall_time::duration>(
            std::chrono::floor<std::chrono::milliseconds>(loop().wall_now()));
    }

    events::origin origin() const { return {name.str(), self, wall_now()}; }
    void tell_trouble(error const& e) const { env.sink(events::trouble{origin(), e}); }
    void tell_skipped(item_index i, wall_time due, events::skip_reason why, std::uint64_t count = 1,
                      events::run_name const& run = {}) const {
        env.sink(events::item_skipped{origin(), i, due, why, count, run});
    }

    /// Calls a hook on the pool, and tells if it fails. `f` must outlive the task.
    template <class F>
    task<void> call(F const& f) {
        auto const heard = co_await call_hook(env.pool, loop(), now() + hook_patience, f);
        if (!heard) tell_trouble(heard.error());
    }

    /// Before a request that has failed is made once more.
    static constexpr std::chrono::milliseconds retry_pause{200};
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_JOB_SITE_HPP
