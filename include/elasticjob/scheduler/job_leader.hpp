// SPDX-License-Identifier: Apache-2.0
/// \file \brief An instance's part in the leadership of its job.
#ifndef ELASTICJOB_SCHEDULER_JOB_LEADER_HPP
#define ELASTICJOB_SCHEDULER_JOB_LEADER_HPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/core/reactions.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/election/elector.hpp>
#include <elasticjob/events/event.hpp>
#include <elasticjob/registry/retry_pauses.hpp>
#include <elasticjob/registry/transaction.hpp>
#include <elasticjob/scheduler/job_audits.hpp>
#include <elasticjob/scheduler/job_context.hpp>
#include <elasticjob/scheduler/job_following.hpp>
#include <elasticjob/scheduler/job_rules.hpp>
#include <elasticjob/scheduler/job_sharder.hpp>
#include <elasticjob/scheduler/leader_duty.hpp>
#include <elasticjob/scheduler/stand_in_remover.hpp>
#include <elasticjob/sharding/resharder.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace elasticjob::detail {

/// Carries out what `duty_of` decides. Stands for election itself; while this instance leads, its parts do the work.
/// Threads: the loop's.
template <class Environment>
class job_leader {
    using Registry = typename Environment::registry_type;

public:
    /// Both must outlive this object.
    job_leader(job_context<Environment>& context, job_rules<Environment> const& rules);
    job_leader(job_leader const&) = delete; // its parts refer to one another
    job_leader& operator=(job_leader const&) = delete;

    /// Adds this instance as the leader, and the first assignment, to the transaction that creates the job. Returns
    /// whether it has added the assignment. If the strategy fails or uses traits, or the transaction has no room, the
    /// leader shards later. A job that starts disabled gets no leader either.
    bool begin_job(transaction& t, job_config const& config);

    /// Calls `begin_job`, for `enroll`. It has a name so that `enroll` is compiled once.
    struct beginning {
        job_leader* leader;
        bool operator()(transaction& t, valid_config const& c) const { return leader->begin_job(t, c.config()); }
    };

    /// As `job_sharder::take_first_assignment`.
    std::string take_first_assignment() { return sharder_.take_first_assignment(); }

    /// EL-1, SH-1: keeps a leader elected and, while this instance leads, keeps the assignment up to date.
    next_step lead();

    /// While this instance leads: makes the job due when rounds of the followed job are over, and removes that schedule
    /// if the job follows none.
    next_step follow_rounds();

    /// Called before the job leaves, after its parts have been stopped.
    void stop_following() noexcept { following_.stop(); }

    /// Withdraws from an unfinished election, before the job leaves. Errors: those of `elector::withdraw_for_certain`.
    task<result<void>> withdraw_for_certain(session_generation g);

    /// As `elector::place`.
    std::optional<node_path> place() const { return elector_ ? elector_->place() : std::nullopt; }

private:
    leadership leadership_now() const;

    /// A term of this instance as leader lasts as long as the leader's node. A broken connection does not end it:
    /// nobody else leads meanwhile, and after it everything known is still true.
    void note_term(leadership const& now);

    /// Whether the job has had no other leader: the transaction that created the job made this instance its leader.
    bool is_first_term() const;

    /// Returns the pause before the next attempt.
    std::chrono::milliseconds after_failed_election(error const& e);

    // Each carries out one duty, and returns when to check again at the latest.
    task<mono_time> carry_out(leader_duty duty); ///< precondition: not none
    task<mono_time> withdraw();
    task<mono_time> resign();
    task<mono_time> lead_on();
    task<mono_time> remove_persistent_leader();
    task<mono_time> stand();

    static constexpr std::chrono::seconds cut_items_pause{5};

    job_context<Environment>& context_;
    std::unique_ptr<elector<Registry>> elector_; ///< while this instance stands for election
    resharder<Registry> resharder_;
    stand_in_remover<Environment> stand_ins_;
    job_audits<Environment> audits_;
    job_sharder<Environment> sharder_;
    job_following<Environment> following_;
    revision term_ = 0;     ///< the creation of the leader's node, if this instance leads
    bool did_lead_ = false; ///< when this was last reported
    failed_elections failed_;
};

template <class Environment>
job_leader<Environment>::job_leader(job_context<Environment>& context, job_rules<Environment> const& rules)
    : context_{context},
      resharder_{context.registry, context.at, context.env.strategy},
      stand_ins_{context},
      audits_{context, rules, resharder_},
      sharder_{context, rules, resharder_, stand_ins_, audits_},
      following_{context, rules} {}

template <class Environment>
bool job_leader<Environment>::begin_job(transaction& t, job_config const& config) {
    sharder_.forget_begin();
    operation const leader{operation::kind::create, context_.at.leader_instance(), context_.self.str(),
                           create_mode::ephemeral};
    // A request for a sharding may follow.
    if (config.disabled || !t.has_room(context_.registry.limits(), 2, 2 * leader.bytes())) return false;
    t.add(leader);
    return sharder_.begin_job(t, config);
}

template <class Environment>
next_step job_leader<Environment>::lead() {
    if (elector_ && !elector_->is_standing()) elector_.reset();
    auto const now = leadership_now();
    if (std::exchange(did_lead_, now.leads) != now.leads)
        context_.env.sink(events::leadership_changed{context_.origin(), now.leads});
    note_term(now);
    auto const duty = duty_of(now);
    if (duty == leader_duty::none) return {};
    return carry_out(duty);
}

template <class Environment>
task<mono_time> job_leader<Environment>::carry_out(leader_duty duty) {
    if (duty != leader_duty::remove_stand_in) stand_ins_.forget_told();
    switch (duty) {
    case leader_duty::withdraw:
        return withdraw();
    case leader_duty::resign:
        return resign();
    case leader_duty::keep_sharded:
        return lead_on();
    case leader_duty::remove_stand_in:
        return remove_persistent_leader();
    case leader_duty::stand:
    case leader_duty::none:
        break;
    }
    return stand();
}

template <class Environment>
leadership job_leader<Environment>::leadership_now() const {
    leadership now;
    now.is_member = context_.is_registered() && !context_.is_leaving;
    now.is_standing = elector_ != nullptr;
    now.leads = context_.is_leader();
    now.is_enabled = context_.is_enabled();
    now.is_disabled = context_.is_disabled();
    now.leader = context_.view->leader();
    return now;
}

template <class Environment>
void job_leader<Environment>::note_term(leadership const& now) {
    bool const is_known = now.leads ? term_ == now.leader->stat.created : !term_ || !context_.is_registered();
    if (is_known) return;
    term_ = now.leads ? now.leader->stat.created : 0;
    sharder_.begin_term(now.leads, is_first_term());
    audits_.begin_term(now.leads);
}

template <class Environment>
bool job_leader<Environment>::is_first_term() const {
    auto const* leader = context_.view->leader();
    auto const* assigned = context_.view->assignment_node();
    return leader && assigned && leader->stat.created == assigned->stat.created;
}

template <class Environment>
task<mono_time> job_leader<Environment>::withdraw() {
    auto const withdrawn = co_await elector_->withdraw(context_.generation);
    co_return context_.now() + (withdrawn ? retry_pause : after_failed_election(withdrawn.error()));
}

template <class Environment>
task<result<void>> job_leader<Environment>::withdraw_for_certain(session_generation g) {
    if (!elector_) co_return success();
    co_return co_await elector_->withdraw_for_certain(g);
}

template <class Environment>
task<mono_time> job_leader<Environment>::resign() {
    auto const resigned =
        co_await elasticjob::resign(context_.registry, context_.at, context_.self, context_.generation);
    co_return context_.now() + (resigned ? retry_pause : after_failed_election(resigned.error()));
}

template <class Environment>
task<mono_time> job_leader<Environment>::lead_on() {
    bool const is_audited = co_await audits_.keep();
    auto const again = co_await sharder_.keep();
    auto until = mono_time::max();
    if (!is_audited || again)
        until = context_.now() + again.value_or(retry_pause);
    else if (resharder_.has_cut_items())
        until = context_.now() + cut_items_pause;
    co_return std::min(until, audits_.next());
}

template <class Environment>
task<mono_time> job_leader<Environment>::remove_persistent_leader() {
    auto const version = context_.view->leader()->stat.version;
    bool const stays = co_await stand_ins_.remove(context_.at.leader_instance(), version);
    co_return context_.now() + (stays ? trouble_pause : retry_pause);
}

template <class Environment>
task<mono_time> job_leader<Environment>::stand() {
    elector_ = std::make_unique<elector<Registry>>(context_.registry, context_.at, context_.self, context_.env.random);
    auto const elected = co_await elector_->elect(context_.generation);
    if (auto const removed = elector_->take_removed()) context_.tell_trouble(stand_in_removed(*removed));
    if (!elected) co_return context_.now() + after_failed_election(elected.error());
    failed_.note_success();
    auto const* unread = context_.view->failure(); // otherwise the view shows the leader by then
    co_return context_.now() + (unread ? pause_before_retry(*unread) : retry_pause);
}

template <class Environment>
next_step job_leader<Environment>::follow_rounds() {
    if (context_.is_cut_off()) return {}; // the term may go on
    return following_.keep(!context_.is_leaving && context_.is_leader(), is_first_term());
}

template <class Environment>
std::chrono::milliseconds job_leader<Environment>::after_failed_election(error const& e) {
    bool const is_passing = is_transient(e) || !context_.view->config();
    if (is_passing) return retry_pause;
    if (auto const report = failed_.note(e)) context_.tell_trouble(*report);
    return pause_before_retry(e);
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_JOB_LEADER_HPP
