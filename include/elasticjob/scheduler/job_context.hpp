// SPDX-License-Identifier: Apache-2.0
/// \file \brief The state that all parts of a job share on one instance.
#ifndef ELASTICJOB_SCHEDULER_JOB_CONTEXT_HPP
#define ELASTICJOB_SCHEDULER_JOB_CONTEXT_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/identity.hpp>
#include <elasticjob/election/elector.hpp>
#include <elasticjob/events/event.hpp>
#include <elasticjob/execution/calling_threads.hpp>
#include <elasticjob/execution/lasting_failure.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/retry_pauses.hpp>
#include <elasticjob/sharding/job_view.hpp>

#include <optional>
#include <utility>

namespace elasticjob::detail {

/// The facts that determine the owners of the items: while they are equal, the owners are the same.
struct owners_source {
    session_generation generation;
    revision assignment, first_item;
    friend bool operator==(owners_source const&, owners_source const&) = default;
};

/// The shared state of the parts of a job: the instance's identity, its view of the job, and whether it may act on that
/// view.
/// Threads: the loop's.
template <class Environment>
struct job_context {
    using Registry = typename Environment::registry_type;
    using Loop = typename Environment::loop_type;

    job_context(Environment const& e, job_name n, instance_id s);

    Environment const& env;
    Registry& registry;
    job_name const name;
    job_layout const at;
    instance_id const self;
    event_count<Loop> news;                 ///< the one event for which every part waits
    std::optional<job_view<Registry>> view; ///< created after registration, so that it shows nothing older
    session_generation generation{};        ///< of the session under which it has registered
    bool is_leaving = false;
    calling_threads callers; ///< of bodies and hooks

    owners_source owners_source_now() const;

    /// Whether this instance may act on its view of the registry.
    bool is_registered() const;
    /// Whether this instance leads the job, as far as its view shows.
    bool is_leader() const { return is_registered() && leads(view->leader(), self, registry.session()); }
    /// Whether the connection is down, and the session may live.
    bool is_cut_off() const { return registry.session().state == session_state::suspended; }
    /// Both are false while the server's node is unread: then no run may begin, and nothing is given up.
    bool is_enabled() const { return view->is_enabled(self.server()); }
    bool is_disabled() const { return view->is_disabled(self.server()); }

    Loop& loop() const noexcept { return registry.loop(); }
    mono_time now() const noexcept { return loop().now(); }
    wall_time wall_milliseconds() const { return std::chrono::floor<std::chrono::milliseconds>(loop().wall_now()); }

    events::origin origin() const { return {name.str(), self, wall_milliseconds()}; }
    void tell_trouble(error const& e) const { env.sink(events::trouble{origin(), e}); }

    /// The pause before a failed request is repeated. Reports a failure that lasts, each kind once in a row.
    std::chrono::milliseconds after_failure(lasting_failure& told, error const& why) const {
        if (told.is_news(why)) tell_trouble(why);
        return pause_before_retry(why);
    }
};

template <class Environment>
job_context<Environment>::job_context(Environment const& e, job_name n, instance_id s)
    : env{e},
      registry{e.registry},
      name{std::move(n)},
      at{name},
      self{std::move(s)},
      news{registry.loop()} {}

template <class Environment>
owners_source job_context<Environment>::owners_source_now() const {
    auto const* assignment = view->assignment_node();
    auto const* first_item = view->first_item();
    return {generation, assignment ? assignment->stat.modified : 0, first_item ? first_item->modified : 0};
}

template <class Environment>
bool job_context<Environment>::is_registered() const {
    return registry.session().is_connected(generation);
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_JOB_CONTEXT_HPP
