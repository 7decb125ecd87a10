// SPDX-License-Identifier: Apache-2.0
/// \file \brief Registers an instance with a job, keeps it registered, and removes it when it leaves.
#ifndef ELASTICJOB_SCHEDULER_JOB_REGISTRATION_HPP
#define ELASTICJOB_SCHEDULER_JOB_REGISTRATION_HPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/loop.hpp>
#include <elasticjob/core/reactions.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/core/within.hpp>
#include <elasticjob/events/event.hpp>
#include <elasticjob/execution/lasting_failure.hpp>
#include <elasticjob/execution/stop_reason.hpp>
#include <elasticjob/membership/enroll.hpp>
#include <elasticjob/membership/registration.hpp>
#include <elasticjob/membership/traits.hpp>
#include <elasticjob/registry/retry_pauses.hpp>
#include <elasticjob/scheduler/item_runs.hpp>
#include <elasticjob/scheduler/job_context.hpp>
#include <elasticjob/scheduler/job_leader.hpp>
#include <elasticjob/scheduler/job_rules.hpp>
#include <elasticjob/sharding/departure.hpp>
#include <elasticjob/sharding/founding.hpp>
#include <elasticjob/sharding/leave.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace elasticjob::detail {

/// Does what `registration` decides. Threads: the loop's.
template <class Environment>
class job_registration {
    using beginning = typename job_leader<Environment>::beginning;

public:
    /// All four belong to the job and must outlive this object.
    job_registration(job_context<Environment>& context, job_rules<Environment>& rules, job_leader<Environment>& leader,
                     item_runs<Environment>& runs)
        : context_{context},
          rules_{rules},
          leader_{leader},
          runs_{runs},
          session_{*this} {}

    /// Registers the instance for the first time, and puts the configuration in force with which it has registered.
    /// Unless the instance brings its own, the job must be in the registry. Returns what the instance knows if it has
    /// created the job. Errors: those of `enroll` and of `job_rules::begin`.
    task<result<std::optional<founding>>> join(bool has_own_config);

    /// From now on reports each change of the session's state, and forwards it to the one event for which all parts
    /// wait. Call it once.
    void follow_session();

    /// Enrolls again under a new session, and notices that the instance or the job has been removed.
    next_step keep();

    /// Whether the job must leave.
    bool is_over() const noexcept { return state_.where() == registration::phase::over; }

    /// Called before the job leaves, after its parts have been stopped.
    void stop_following() noexcept { session_.unlink(); }

    /// Undoes the registration under the present session, even if it is unknown whether it happened. If that is not
    /// possible in time, the registry object removes the nodes while the session lives, and this is reported: no node
    /// without an instance may remain in the session. Errors: those of `leave`.
    task<result<void>> hand_over();

    static constexpr std::chrono::seconds leave_timeout{5};

private:
    struct session_relay : work {
        explicit session_relay(job_registration& r) noexcept : work{&hear}, to{r} {}
        static void hear(work& w, work_action action);

        job_registration& to;
        session_state told = session_state::connected; ///< the state at the time of joining
    };

    registration_facts facts_now() const;

    /// The traits of this instance for the registry; empty if they are the defaults.
    std::string own_traits() const;
    enroll_request request_as(arrival how, std::uint32_t items_max) const;
    void take(enrollment const& joined);

    // Each returns when to look again at the latest.
    task<mono_time> enroll_again();
    task<mono_time> look_for_node();
    task<mono_time> look_for_tombstone();

    /// Leaves. If the parent of the instances' nodes was deleted, all instances leave, which this reports.
    task<mono_time> find_out_why();

    job_context<Environment>& context_;
    job_rules<Environment>& rules_;
    job_leader<Environment>& leader_;
    item_runs<Environment>& runs_;
    registration state_;
    lasting_failure failed_enrollment_{};
    session_relay session_;
};

template <class Environment>
task<result<std::optional<founding>>> job_registration<Environment>::join(bool has_own_config) {
    if (has_own_config) rules_.trust_own();
    auto const accept = rules_.accepted();
    auto what = request_as(arrival::first, accept.items_max);
    if (has_own_config) what.local = *rules_.valid();
    what.expects_new = context_.env.new_jobs.expects_new();
    auto const joined =
        co_await enroll(context_.env.beginnings, context_.at, std::move(what), accept, beginning{&leader_});
    if (has_own_config) context_.env.new_jobs.note(joined && joined->is_new_job);
    auto first_assignment = leader_.take_first_assignment();
    if (!joined) co_return joined.error();
    ELASTICJOB_CO_CHECK(rules_.begin(joined->config));
    take(*joined);
    std::optional<founding> founded;
    if (joined->founded && founding::is_enough_for(joined->config.config()))
        founded = founding{*joined->founded, std::move(first_assignment)};
    co_return founded;
}

template <class Environment>
next_step job_registration<Environment>::keep() {
    switch (state_.next(facts_now())) {
    case registration_step::rest:
        break;
    case registration_step::stop_runs:
        runs_.request_stop(stop_reason::session_lost);
        return keep();
    case registration_step::enroll_again:
        return enroll_again();
    case registration_step::look_for_node:
        return look_for_node();
    case registration_step::look_for_tombstone:
        return look_for_tombstone();
    case registration_step::find_out_why:
        return find_out_why();
    }
    return {};
}

template <class Environment>
registration_facts job_registration<Environment>::facts_now() const {
    registration_facts f{.session = context_.registry.session(),
                         .generation = context_.generation,
                         .has_config = context_.view->config() != nullptr,
                         .stands_down = runs_.stands_down(),
                         .now = context_.now()};
    if (auto const* node = context_.view->self()) f.owner = node->stat.owner;
    return f;
}

template <class Environment>
task<mono_time> job_registration<Environment>::enroll_again() {
    auto const accept = rules_.accepted();
    auto what = request_as(arrival::again, accept.items_max);
    auto const joined =
        co_await enroll(context_.env.beginnings, context_.at, std::move(what), accept, beginning{&leader_});
    if (!joined) {
        bool const is_gone = joined.error() == errc::no_node || joined.error() == errc::removed;
        if (is_gone) {
            context_.tell_trouble(joined.error());
            state_.leave();
            co_return context_.now();
        }
        auto const pause = context_.after_failure(failed_enrollment_, joined.error());
        co_return context_.now() + std::max<std::chrono::milliseconds>(pause, std::chrono::seconds{1});
    }
    failed_enrollment_.end();
    co_await runs_.mark_again(joined->generation);
    take(*joined);
    co_return context_.now();
}

template <class Environment>
task<mono_time> job_registration<Environment>::look_for_node() {
    auto const there = co_await context_.registry.exists(context_.at.instance(context_.self));
    if (!there) co_return context_.now() + retry_pause;
    co_return state_.node_read(there->has_value(), facts_now()) ? context_.now() : mono_time::max();
}

template <class Environment>
task<mono_time> job_registration<Environment>::look_for_tombstone() {
    auto const tombstone = co_await context_.registry.exists(context_.at.removed());
    bool const is_there = tombstone && tombstone->has_value();
    co_return state_.tombstone_read(is_there, facts_now()) ? context_.now() : context_.now() + retry_pause;
}

template <class Environment>
task<mono_time> job_registration<Environment>::find_out_why() {
    auto const parent = co_await context_.registry.exists(context_.at.instances());
    bool const is_parent_gone = parent && !parent->has_value();
    if (is_parent_gone && context_.view->config()) // otherwise an operator has removed this instance, or the job
        context_.tell_trouble(
            {errc::no_node,
             "the parent of the instances' nodes has been deleted, so all instances leave the job: schedule it "
             "again, which creates the node",
             context_.at.instances().str()});
    state_.leave();
    co_return context_.now();
}

template <class Environment>
std::string job_registration<Environment>::own_traits() const {
    auto const& options = context_.env.options;
    stored_traits const traits{options.instance_weight, options.instance_labels};
    return traits.to_text();
}

template <class Environment>
enroll_request job_registration<Environment>::request_as(arrival how, std::uint32_t items_max) const {
    return {.self = context_.self,
            .how = how,
            .traits = own_traits(),
            .host = context_.env.options.host_name,
            .items_max = items_max};
}

template <class Environment>
void job_registration<Environment>::take(enrollment const& joined) {
    context_.generation = joined.generation;
    state_.enrolled();
    auto const note = to_string(joined.decision);
    context_.env.sink(events::joined{context_.origin(), note});
    context_.news.notify();
}

template <class Environment>
void job_registration<Environment>::session_relay::hear(work& w, work_action action) {
    if (action == work_action::run) static_cast<session_relay&>(w).to.follow_session();
}

template <class Environment>
void job_registration<Environment>::follow_session() {
    auto const state = context_.registry.session().state;
    if (std::exchange(session_.told, state) != state)
        context_.env.sink(events::session_changed{context_.origin(), state});
    context_.registry.session_changed().post_next(session_);
    context_.news.notify();
}

template <class Environment>
task<result<void>> job_registration<Environment>::hand_over() {
    auto const g = context_.registry.session().generation;
    auto const deadline = context_.now() + leave_timeout;
    auto const withdrawn = co_await within(context_.loop(), deadline, leader_.withdraw_for_certain(g));
    bool const has_traits = !own_traits().empty();
    bool const has_java_members = context_.view && context_.view->has_java_members();
    auto left = leave(context_.registry, context_.at, context_.self, g, deadline, has_traits, has_java_members);
    auto outcome = co_await within(context_.loop(), deadline, std::move(left)); // a request may take longer than that
    if (withdrawn && outcome) co_return outcome;
    bool const has_joined = context_.view.has_value();
    bool const was_never_let_in = !has_joined && !outcome && outcome.error() == errc::no_auth;
    if (was_never_let_in) co_return outcome;
    context_.registry.abandon(left_behind(context_.at, context_.self, g, leader_.place()));
    if (!has_joined) co_return outcome; // the caller of the start gets the reason
    auto why = outcome ? withdrawn.error() : outcome.error();
    why.what =
        "nodes of this instance may still be there; if so, its items wait, and the registry removes them as soon as it "
        "can, or they end with the session: " +
        why.what;
    why.where = context_.at.instance(context_.self).str();
    context_.tell_trouble(why);
    co_return outcome;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_JOB_REGISTRATION_HPP
