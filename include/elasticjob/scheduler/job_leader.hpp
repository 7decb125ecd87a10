// SPDX-License-Identifier: Apache-2.0
/// \file \brief An instance's part in the leadership of its job.
#ifndef ELASTICJOB_SCHEDULER_JOB_LEADER_HPP
#define ELASTICJOB_SCHEDULER_JOB_LEADER_HPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/gather.hpp>
#include <elasticjob/core/hash.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/core/reactions.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/election/elector.hpp>
#include <elasticjob/events/event.hpp>
#include <elasticjob/execution/lost_java_runs.hpp>
#include <elasticjob/execution/round_follower.hpp>
#include <elasticjob/membership/old_servers.hpp>
#include <elasticjob/membership/stand_ins.hpp>
#include <elasticjob/registry/read_all.hpp>
#include <elasticjob/registry/retry_pauses.hpp>
#include <elasticjob/scheduler/job_context.hpp>
#include <elasticjob/scheduler/job_rules.hpp>
#include <elasticjob/scheduler/leader_duty.hpp>
#include <elasticjob/sharding/resharder.hpp>
#include <elasticjob/sharding/strategy_name.hpp>
#include <elasticjob/sharding/traits_view.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace elasticjob::detail {

/// Carries out what `duty_of` decides: elections, the assignment while this instance leads, and the rounds of the job
/// that this one follows. Threads: the loop's.
template <class Environment>
class job_leader {
    using Registry = typename Environment::registry_type;
    struct teller;
    using follower = round_follower<Registry, teller>;

public:
    job_leader(job_context<Environment>& context, job_rules<Environment> const& rules);

    /// Adds this instance as the leader, and the first assignment, to the transaction that creates the job. Returns
    /// whether it has added the assignment. If the strategy fails or uses traits, or the transaction has no room, the
    /// leader shards later. A job that starts disabled gets no leader either.
    bool begin_job(transaction& t, job_config const& config);

    /// Calls `begin_job`, for `enroll`. It has a name so that `enroll` is compiled once.
    struct beginning {
        job_leader* leader;
        bool operator()(transaction& t, valid_config const& c) const { return leader->begin_job(t, c.config()); }
    };

    /// EL-1, SH-1: keeps a leader elected and, while this instance leads, keeps the assignment up to date.
    next_step lead();

    /// While this instance leads: makes the job due when rounds of the followed job are over, and removes that schedule
    /// if the job follows none.
    next_step follow_rounds();

    /// Called before the job leaves, after its parts have been stopped.
    void stop_following() noexcept { follower_.reset(); }

    /// Withdraws from an unfinished election, before the job leaves. Errors: those of `elector::withdraw_for_certain`.
    task<result<void>> withdraw_for_certain(session_generation g);

    /// As `elector::place`.
    std::optional<node_path> place() const { return elector_ ? elector_->place() : std::nullopt; }

    bool is_leader() const;

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

    /// RC-1, D-26: the leader checks the registry at the job's interval, independently of watches; the first time one
    /// interval after its election, or soon after it beside Java members. False if the check failed and must be
    /// repeated.
    task<bool> keep_audited();
    mono_time next_audit() const;

    /// A Java member that led before does not notice for a while that it no longer leads, and removes owners that this
    /// leader has written. So in a job with Java members an audit also follows the last election or sharding.
    void audit_soon_beside_java();

    /// SV-6: removes nodes of machines that are gone from `servers`. Does nothing while a Java member is registered,
    /// because it requests a sharding after each change there. A refused removal is tried again later. Errors: those of
    /// the registry.
    task<result<void>> remove_old_servers();

    /// EL-8: checks the owner of each new instance node once, and removes nodes that belong to no process. False if the
    /// check failed.
    task<bool> look_at_new_instances();

    /// Removes a persistent node in the place of an ephemeral one, and reports it. Returns whether the node stays,
    /// because the registry refuses to remove it.
    task<bool> remove_stand_in(node_path path, node_version version);

    /// Uses only instances that `look_at_new_instances` has checked. Errors: those of traits_view.
    result<sharding_basis> current_basis() const;

    /// Whether everything that a sharding needs has been read. `news` is notified when it has.
    bool knows_servers_and_traits();

    /// The pause after a failed request, see `job_context::after_failure`.
    std::chrono::milliseconds after_failure(error const& why) { return context_.after_failure(failed_sharding_, why); }

    /// Waits until no change has come for a moment, within a limit, because one change causes several notifications,
    /// and a deployment many changes.
    task<void> debounce();

    /// Shards if the assignment is outdated, grants requests, and removes the nodes of items that the job no longer
    /// has. Returns nothing if there is nothing to do; otherwise the pause before the next check.
    task<std::optional<std::chrono::milliseconds>> keep_sharded();

    /// Shards, and reports it. Returns nothing once the view shows the new assignment; otherwise as `keep_sharded`.
    task<std::optional<std::chrono::milliseconds>> reshard(sharding_basis basis);
    void tell_resharded(sharding_report const& done, std::size_t instances) const;

    /// Waits until the view shows our last write, because a decision before that would rest on outdated data.
    task<void> see(std::uint64_t epoch);

    /// `is_new_job`: the job has followed no other job yet.
    task<mono_time> begin_to_follow(bool does_lead, bool is_new_job);

    /// The facts that determine the follower of another job.
    struct following {
        bool leads = false;
        session_generation generation{};
        revision written = 0;   ///< the schedule
        std::uint64_t what = 0; ///< a hash of its part about the followed job
        friend bool operator==(following const&, following const&) = default;
    };
    struct teller {
        job_context<Environment>* context;
        void operator()(error const& e) const { context->tell_trouble(e); }
    };

    static constexpr std::chrono::milliseconds debounce_span{3};
    static constexpr std::chrono::milliseconds debounce_max{50};
    static constexpr std::chrono::seconds cut_items_pause{5};
    static constexpr std::chrono::seconds java_audit_pause{10};

    job_context<Environment>& context_;
    job_rules<Environment> const& rules_;
    std::unique_ptr<traits_view<Registry>> traits_; ///< while this instance leads, if the strategy uses traits
    std::unique_ptr<elector<Registry>> elector_;    ///< while this instance stands for election
    resharder<Registry> resharder_;
    std::optional<sharding_report> first_report_; ///< what `begin_job` has added, until it is reported
    std::unique_ptr<follower> follower_;          ///< while this instance leads
    following following_;                         ///< of `follower_`
    old_servers old_servers_;
    known_instances instances_;
    revision term_ = 0;      ///< the creation of the leader's node, if this instance leads
    mono_time audited_at_{}; ///< or when the term began
    mono_time java_audit_at_ = mono_time::max();
    bool did_lead_ = false; ///< when this was last reported
    bool had_failover_ = false;
    failed_elections failed_;
    lasting_failure failed_sharding_{};
    std::string told_stand_in_; ///< the node of the last one that was reported to stay
};

template <class Environment>
job_leader<Environment>::job_leader(job_context<Environment>& context, job_rules<Environment> const& rules)
    : context_{context},
      rules_{rules},
      resharder_{context.registry, context.at, context.env.strategy},
      instances_{context.self} {}

template <class Environment>
bool job_leader<Environment>::begin_job(transaction& t, job_config const& config) {
    first_report_.reset();
    auto const& limits = context_.registry.limits();
    operation const leader{operation::kind::create, context_.at.leader_instance(), context_.self.str(),
                           create_mode::ephemeral};
    bool const has_room = t.has_room(limits, 2, 2 * leader.bytes()); // a request for a sharding may follow
    if (config.disabled || !has_room) return false;
    t.add(leader);
    if (!context_.env.strategy.uses_traits()) {
        auto const count = static_cast<std::uint32_t>(config.sharding_total_count);
        auto const least = operation{operation::kind::create, context_.at.item(0)}.bytes();
        if (!t.has_room(limits, std::size_t{2} * count, std::size_t{2} * count * least)) return false;
        sharding_basis basis{t.generation(), context_.name.str(), count, 0, {context_.self}};
        basis.strategy = strategy_name_of(config);
        auto const plan = resharder_.first_plan(basis);
        if (!plan || plan->transactions.size() != 1) return false;
        auto const& first = plan->transactions.front();
        if (!t.has_room(limits, first.size(), first.bytes())) return false;
        for (auto const& o : first.operations())
            if (o.what != operation::kind::check) t.add(o); // the same transaction creates what they check
        first_report_ = plan->report;
    }
    return first_report_.has_value();
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
    if (duty != leader_duty::remove_stand_in) told_stand_in_.clear();
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
    now.leads = is_leader();
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
    auto const first = std::exchange(first_report_, std::nullopt); // of a refused transaction, unless we lead by it
    if (now.leads && !is_first_term())
        resharder_.suspect_cut_items();
    else if (now.leads && first)
        tell_resharded(*first, 1);
    traits_.reset();
    if (now.leads && context_.env.strategy.uses_traits())
        traits_ = std::make_unique<traits_view<Registry>>(context_.registry, context_.at, context_.news);
    failed_sharding_.end();
    audited_at_ = context_.now();
    java_audit_at_ = mono_time::max();
    if (now.leads) audit_soon_beside_java();
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
    bool const is_audited = co_await keep_audited();
    auto const again = co_await keep_sharded();
    auto until = mono_time::max();
    if (!is_audited || again)
        until = context_.now() + again.value_or(retry_pause);
    else if (resharder_.has_cut_items())
        until = context_.now() + cut_items_pause;
    co_return std::min(until, next_audit());
}

template <class Environment>
task<mono_time> job_leader<Environment>::remove_persistent_leader() {
    auto const version = context_.view->leader()->stat.version;
    bool const stays = co_await remove_stand_in(context_.at.leader_instance(), version);
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
    following wanted;
    wanted.leads = !context_.is_leaving && is_leader();
    wanted.generation = context_.generation;
    if (auto const* schedule = context_.view->schedule()) wanted.written = schedule->stat.modified;
    if (auto const* followed = rules_.followed()) wanted.what = fnv_1a(followed_text(*followed));
    if (wanted == following_) return {};
    bool const is_new_job = !following_.leads && is_first_term();
    following_ = wanted;
    return begin_to_follow(wanted.leads, is_new_job);
}

template <class Environment>
bool job_leader<Environment>::is_leader() const {
    return context_.is_registered() && leads(context_.view->leader(), context_.self, context_.registry.session());
}

template <class Environment>
std::chrono::milliseconds job_leader<Environment>::after_failed_election(error const& e) {
    bool const is_passing = is_transient(e) || !context_.view->config();
    if (is_passing) return retry_pause;
    if (auto const report = failed_.note(e)) context_.tell_trouble(*report);
    return pause_before_retry(e);
}

template <class Environment>
task<bool> job_leader<Environment>::keep_audited() {
    bool const has_failover = rules_.config().failover;
    bool const is_due = context_.now() >= next_audit();
    if (!has_failover && (had_failover_ || is_due)) {
        auto const removed = co_await resharder_.remove_failover_flags(context_.generation);
        if (!removed && is_transient(removed.error())) co_return false;
    }
    had_failover_ = has_failover;
    if (!is_due) co_return true;
    auto const looked = co_await resharder_.audit(*context_.view);
    if (!looked && is_transient(looked.error())) co_return false;
    if (!looked) context_.tell_trouble(looked.error());
    auto const cleaned = co_await remove_old_servers();
    if (!cleaned && is_transient(cleaned.error())) co_return false;
    if (!cleaned) context_.tell_trouble(cleaned.error());
    audited_at_ = context_.now();
    java_audit_at_ = mono_time::max();
    co_return true;
}

template <class Environment>
task<result<void>> job_leader<Environment>::remove_old_servers() {
    auto const retention = context_.env.options.server_retention;
    auto const& view = *context_.view;
    if (retention.count() <= 0 || view.has_java_members() || !view.assignment_in_force()) co_return success();
    auto const assigned = view.assignment_node()->stat.version;
    auto const instances = view.instances();
    auto listed = co_await context_.registry.children(context_.at.servers());
    if (!listed && listed.error() == errc::no_node) co_return success();
    if (!listed) co_return listed.error();
    auto picked = old_servers_.pick(context_.at, *std::move(listed), instances);
    if (picked.empty()) co_return success();
    ELASTICJOB_CO_TRY(auto const read, co_await read_all(context_.registry, std::move(picked)));
    auto const written_before = context_.wall_milliseconds() - retention;
    auto t = old_servers_.removal(context_.at, context_.generation, assigned, read, written_before);
    if (t.empty()) co_return success();
    auto const done = co_await context_.registry.commit(std::move(t));
    if (!done) co_return done.error();
    co_return success();
}

template <class Environment>
mono_time job_leader<Environment>::next_audit() const {
    std::chrono::minutes const asked{rules_.config().reconcile_interval_minutes}; // Java accepts any number
    auto const interval = std::min<std::chrono::minutes>(asked, span_max);
    return interval.count() < 1 ? java_audit_at_ : std::min(audited_at_ + interval, java_audit_at_);
}

template <class Environment>
void job_leader<Environment>::audit_soon_beside_java() {
    if (context_.view->has_java_members()) java_audit_at_ = context_.now() + java_audit_pause;
}

template <class Environment>
task<bool> job_leader<Environment>::look_at_new_instances() {
    auto const fresh = instances_.unchecked(context_.view->instances());
    if (fresh.empty()) co_return true;
    auto const look = [&](instance_id const& id) { return context_.registry.exists(context_.at.instance(id)); };
    auto const found = co_await gather_each(context_.loop(), fresh, look);
    for (std::size_t i = 0; i < fresh.size(); ++i) {
        if (!found[i] && is_transient(found[i].error())) co_return false;
        if (found[i] && !*found[i]) continue; // it has gone, and does not count while it is not known to live
        bool const stands_in = found[i] && is_stand_in(*found[i]);
        instances_.note(fresh[i], !stands_in);
        if (!stands_in) continue;
        bool const stays = co_await remove_stand_in(context_.at.instance(fresh[i]), (*found[i])->version);
        if (!stays) instances_.forget(fresh[i]); // its process may come back before a list without it is seen
    }
    co_return true;
}

template <class Environment>
task<bool> job_leader<Environment>::remove_stand_in(node_path path, node_version version) {
    transaction t{context_.generation};
    t.check(context_.at.instance(context_.self)).remove_persistent(path, version);
    auto const done = co_await context_.registry.commit(t);
    if (done && *done) {
        context_.tell_trouble(stand_in_removed(path));
        co_return false;
    }
    auto const why = done ? refusal_error(t, *done->refused) : done.error();
    bool const will_pass = is_transient(why) || why == errc::no_node || why == errc::version_conflict ||
                           why == errc::no_children_for_ephemerals;
    if (will_pass) co_return false; // it has gone or changed, or is checked again
    if (std::exchange(told_stand_in_, path.str()) != path.str()) context_.tell_trouble(stand_in_stays(path, why));
    co_return true;
}

template <class Environment>
result<sharding_basis> job_leader<Environment>::current_basis() const {
    auto const count = rules_.item_count();
    sharding_basis basis{context_.generation, context_.name.str(), count, rules_.version(),
                         context_.view->available_instances()};
    basis.strategy = strategy_name_of(rules_.config());
    instances_.keep_live(basis.instances);
    if (traits_) {
        ELASTICJOB_TRY(basis.traits, traits_->traits_of(basis.instances, count));
    }
    return basis;
}

template <class Environment>
bool job_leader<Environment>::knows_servers_and_traits() {
    if (!context_.view->knows_servers()) return false;
    if (!traits_) return true;
    auto const failure = traits_->failure();
    if (failure && failed_sharding_.is_news(*failure)) context_.tell_trouble(*failure);
    return traits_->is_loaded() && !failure;
}

template <class Environment>
task<void> job_leader<Environment>::debounce() {
    for (auto const deadline = context_.now() + debounce_max; context_.now() < deadline;) {
        auto const seen = context_.news.edition();
        if (!co_await context_.news.newer_than(seen, context_.now() + debounce_span)) co_return;
    }
}

template <class Environment>
task<std::optional<std::chrono::milliseconds>> job_leader<Environment>::keep_sharded() {
    if (!context_.view->config() || !knows_servers_and_traits()) co_return std::nullopt; // being removed; being read
    bool const has_looked = co_await look_at_new_instances();
    if (!has_looked) co_return retry_pause;
    auto first_look = current_basis();
    if (!first_look) co_return after_failure(first_look.error());
    if (resharder_.is_outdated(*context_.view, *first_look)) co_await debounce();
    bool const has_looked_again = co_await look_at_new_instances();
    if (!has_looked_again || !context_.view->config() || !context_.is_registered() || !knows_servers_and_traits())
        co_return retry_pause;
    auto now_known = current_basis();
    if (!now_known) co_return retry_pause;
    auto basis = *std::move(now_known);
    auto const count = basis.item_count;
    if (resharder_.is_outdated(*context_.view, basis)) {
        auto const again = co_await reshard(std::move(basis));
        if (again) co_return again;
    } else if (context_.view->sharding_is_requested() && context_.view->assignment_in_force()) {
        auto const granted = co_await resharder_.grant(*context_.view, context_.generation);
        if (!granted) co_return after_failure(granted.error());
    }
    auto const* in_force = context_.view->assignment_in_force();
    if (resharder_.has_cut_items() && in_force && in_force->items() == count) {
        auto const removed = co_await resharder_.remove_cut_items(context_.generation, count);
        if (!removed) co_return after_failure(removed.error());
    }
    failed_sharding_.end();
    // A second request during the answer may go unnoticed, because the view knows requests only by name.
    if (in_force && context_.view->sharding_is_requested()) co_return retry_pause;
    co_return std::nullopt;
}

template <class Environment>
task<std::optional<std::chrono::milliseconds>> job_leader<Environment>::reshard(sharding_basis basis) {
    if (context_.view->assignment_node() && context_.view->first_item() && !context_.view->assignment_in_force()) {
        auto const overruled = co_await is_overruled(context_.registry, context_.at);
        if (!overruled) co_return after_failure(overruled.error());
        if (!*overruled) co_return retry_pause; // only the view is behind
    }
    if (rules_.config().failover && rules_.config().monitor_execution) { // JV-6
        auto lost = co_await make_up_for_dead_java(context_.registry, *context_.view, context_.at,
                                                   context_.wall_milliseconds());
        if (!lost) co_return after_failure(lost.error());
        basis.besides = *std::move(lost);
    }
    auto const instances = basis.instances.size();
    auto const done = co_await resharder_.shard(*context_.view, std::move(basis));
    if (!done) co_return after_failure(done.error());
    audit_soon_beside_java();
    tell_resharded(*done, instances);
    co_await see(done->epoch);
    auto const* a = context_.view->assignment_in_force();
    bool const is_shown = a && a->epoch() == done->epoch;
    if (done->left != 0) context_.tell_trouble(unowned_items(context_.at, done->left, is_shown ? a : nullptr));
    co_return std::nullopt;
}

template <class Environment>
void job_leader<Environment>::tell_resharded(sharding_report const& done, std::size_t instances) const {
    context_.env.sink(events::resharded{context_.origin(), done.epoch, done.items,
                                        static_cast<std::uint32_t>(instances), done.moved, done.left});
}

template <class Environment>
task<void> job_leader<Environment>::see(std::uint64_t epoch) {
    for (auto const deadline = context_.now() + std::chrono::seconds{1}; context_.now() < deadline;) {
        auto const seen = context_.news.edition();
        auto const* a = context_.view->assignment_in_force();
        if (a && a->epoch() >= epoch) co_return;
        co_await context_.news.newer_than(seen, deadline);
    }
}

template <class Environment>
task<mono_time> job_leader<Environment>::begin_to_follow(bool does_lead, bool is_new_job) {
    follower_.reset();
    if (!does_lead) co_return mono_time::max();
    typename follower::basis basis{context_.generation, context_.at};
    if (auto const* followed = rules_.followed()) basis.followed = *followed;
    if (auto const* schedule = context_.view->schedule()) {
        basis.schedule_version = schedule->stat.version;
        basis.since = wall_time{std::chrono::milliseconds{schedule->stat.modified_at_ms}};
    }
    if (!basis.followed) { // most jobs never follow another
        if (is_new_job) co_return mono_time::max();
        auto const left = co_await context_.registry.exists(context_.at.after());
        if (left && !*left) co_return mono_time::max();
    }
    follower_ = std::make_unique<follower>(context_.registry, std::move(basis), teller{&context_});
    co_return mono_time::max();
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_JOB_LEADER_HPP
