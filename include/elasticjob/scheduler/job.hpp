// SPDX-License-Identifier: Apache-2.0
/// \file \brief One job on one instance, from registration to leaving. The path of a firing begins in `keep_schedule`
/// and continues in item_runs.
#ifndef ELASTICJOB_SCHEDULER_JOB_HPP
#define ELASTICJOB_SCHEDULER_JOB_HPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/boxed.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/core/reactions.hpp>
#include <elasticjob/core/within.hpp>
#include <elasticjob/execution/change_pauses.hpp>
#include <elasticjob/execution/job_pauses.hpp>
#include <elasticjob/membership/change_schedule.hpp>
#include <elasticjob/registry/mirrored.hpp> // pause_after
#include <elasticjob/registry/retry_pauses.hpp>
#include <elasticjob/scheduler/adoption.hpp>
#include <elasticjob/scheduler/item_runs.hpp>
#include <elasticjob/scheduler/java_marks.hpp>
#include <elasticjob/scheduler/job_context.hpp>
#include <elasticjob/scheduler/job_environment.hpp>
#include <elasticjob/scheduler/job_leader.hpp>
#include <elasticjob/scheduler/job_orders.hpp>
#include <elasticjob/scheduler/job_registration.hpp>
#include <elasticjob/scheduler/job_rules.hpp>
#include <elasticjob/scheduler/job_share.hpp>
#include <elasticjob/scheduler/job_status.hpp>
#include <elasticjob/sharding/founding.hpp>
#include <elasticjob/sharding/item_claim.hpp>

#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace elasticjob::detail {

/// Consists of parts, listed in `part`. After each change of the job's view, each part takes a step: it does what the
/// view requires now, whatever it has missed. Threads: the loop's, also for construction and destruction. Call
/// `shut_down` before destruction.
template <class Environment>
class job {
    using Loop = typename Environment::loop_type;

    using runs = item_runs<Environment>;

public:
    /// The environment must outlive the job.
    job(Environment const& env, valid_config local, instance_id self, job_body<Loop> body);
    job(job const&) = delete;
    job& operator=(job const&) = delete;
    ~job();

    job_name const& name() const noexcept { return context_.name; }
    instance_id const& self() const noexcept { return context_.self; }

    /// Registers the instance, reads the job's state, and starts the job. Unless the configuration is the member's own,
    /// the job must be in the registry, whose configuration is used. Errors: those of `job_registration::join`; those
    /// of reading.
    task<result<void>> start(bool has_own_config);

    /// Makes every item run once, now (TR-3). The order is a write to one node, and each item's record says which write
    /// the item has obeyed. So the item's owner, whichever it is and whenever there is one, carries the order out once.
    /// Java members do not read this node, so their orders are written to their instances' nodes. These nodes are only
    /// set, never created, because an instance that is gone must not get a node again (D-47). Errors: those of the
    /// registry.
    task<result<void>> trigger();

    /// Disables or enables this server for the job, with all its instances (SV-1). Errors: those of the registry.
    task<result<void>> set_enabled(bool enabled);

    /// Pauses or resumes this server for the job (PA-1). Errors: those of `change_pauses`; timed_out.
    task<result<void>> set_paused(bool paused);

    /// Writes another schedule for all members. Errors: those of `change_schedule`; timed_out; unknown_strategy and
    /// similar ones if this instance could not run the new configuration.
    task<result<void>> reschedule(std::string cron, std::vector<job_schedule> schedules);

    job_status status() const;

    /// Waits until no item of this instance runs. If the job fires faster than its items end, that may never happen.
    task<result<void>> wait_idle();

    /// Leaves in order (SD-2, D-45): starts nothing more, lets runs finish, asks them to stop after the drain time-out,
    /// and then hands the items over and removes the instance in one transaction. Waits for bodies however long they
    /// take, because no other instance may run their items meanwhile. Further calls wait for the first. Errors: those
    /// of `leave`, although the instance has ended; its ephemeral nodes then go with the session.
    task<result<void>> shut_down();

    /// The same without waiting.
    void begin_to_leave();

    /// Waits until the instance has left, for whatever reason.
    task<void> wait_left();

    /// Asks the runs with a lapsed lease to stop.
    void look_at_lease() { runs_.look_at_lease(); }

    bool has_started() const noexcept { return has_started_; }
    bool is_leaving() const noexcept { return context_.is_leaving; }

    /// Whether that thread is in a body or a hook of the job: then the job waits for it. Threads: any.
    bool is_called_on(std::thread::id who) { return context_.callers.contains(who); }

private:
    /// The parts, in the order in which they see a change: the terms follow from the registration and the
    /// configuration, and all others act on them.
    enum class part : std::uint8_t {
        registration,
        configuration,
        terms,
        leadership,
        followed_rounds,
        share,
        java_triggers,
        item_orders,
        schedule
    };
    friend class reactions<Loop, job, part, part::schedule>;

    /// Limits a change of shared nodes, which waits through outages, to `start_timeout`. Errors: also timed_out.
    task<result<void>> in_time(task<result<void>> change);

    next_step step(part which);

    /// Keeps the instance registered, or begins to leave.
    next_step stay_registered();

    task<void> depart();

    /// Follows the configuration, and reports changes of the instance's share.
    next_step follow_config();
    task<mono_time> take_config();

    /// Runs from one due instant to the next. Waits by monotonic time and checks the wall clock at least once a minute,
    /// so that it notices a clock that is put forward. Each item decides itself what is due; see item_runs.
    next_step keep_schedule();

    bool counts_elements() const;

    /// Writes the counts of processed elements at intervals.
    task<void> keep_counts();

    /// Publishes the terms of the job to its items.
    next_step publish_terms();

    /// Reads the pauses if they have changed.
    void take_pauses();
    bool is_paused() const { return pauses_ && pauses_->value.in_force(context_.self.server()); }

    /// Reports each failure once until it is over.
    void tell_of_failed_reads();

    /// Takes the members of this instance's configuration that are not in the registry.
    void take_own_terms(job_config const& own);

    job_context<Environment> context_;
    misfire_policy on_misfire_; ///< of this instance's configuration
    job_rules<Environment> rules_;
    job_leader<Environment> leader_;
    runs runs_;
    job_registration<Environment> registration_;
    job_share<Environment> share_;
    job_orders<Environment> orders_;
    std::unique_ptr<adoption<Environment>> adoption_;     ///< since there were Java members
    std::unique_ptr<java_marks<Environment>> java_marks_; ///< likewise
    wall_time counted_since_{};                           ///< elements
    bool has_started_ = false;
    bool was_enabled_ = true;        ///< when this was last known
    bool is_told_of_search_ = false; ///< that the search was given up
    lasting_failure failed_config_{};
    struct known_pauses {
        revision at;
        job_pauses value;
    };
    std::unique_ptr<known_pauses> pauses_;             ///< of the view; rare, so allocated separately
    std::unique_ptr<error> told_failure_;              ///< of reading the nodes of the job; rare, too
    wall_time fired_until_{};                          ///< instants until then have been due
    wall_time announced_{};                            ///< the last instant for which the items have been woken early
    boxed<result<void>> outcome_;                      ///< of leaving, once the job has left
    reactions<Loop, job, part, part::schedule> parts_; ///< stopped when the job leaves
    task_scope life_;                                  ///< cancelled when the job leaves
    task_scope departure_;                             ///< a departure without a waiter
};

template <class Environment>
job<Environment>::job(Environment const& env, valid_config local, instance_id self, job_body<Loop> body)
    : context_{env, local.name(), std::move(self)},
      on_misfire_{local.config().on_misfire},
      rules_{context_, std::move(local)},
      leader_{context_, rules_},
      runs_{context_, std::move(body)},
      registration_{context_, rules_, leader_, runs_},
      share_{context_, rules_, runs_},
      orders_{context_, share_, runs_},
      parts_{context_.news, *this} {
    take_own_terms(rules_.config());
    runs_.terms().start_ahead = env.options.start_ahead;
}

template <class Environment>
void job<Environment>::take_own_terms(job_config const& own) {
    auto& terms = runs_.terms();
    terms.time_limit = own.run_time_limit;
    terms.give_up_after = own.give_up_after;
    terms.retry = own.retry;
    terms.dead_letters_max = own.dead_letters_max;
    terms.on_wrong_clock = own.on_wrong_clock;
    terms.dataflow = own.dataflow;
}

template <class Environment>
job<Environment>::~job() = default;

template <class Environment>
task<result<void>> job<Environment>::start(bool has_own_config) {
    ELASTICJOB_CO_TRY(auto const founded, co_await registration_.join(has_own_config));
    context_.view.emplace(context_.registry, context_.at, context_.self, context_.news, founded);
    for (;;) {
        auto const seen = context_.news.edition();
        if (auto const failure = context_.view->failure()) co_return *failure;
        if (context_.view->is_loaded() && rules_.is_complete()) break;
        co_await context_.news.newer_than(seen);
    }
    was_enabled_ = context_.is_enabled();
    if (auto const* order = context_.view->run_order()) runs_.terms().obeyed_before = order->modified;
    fired_until_ = context_.loop().wall_now();
    registration_.follow_session();
    parts_.begin();
    if (counts_elements()) life_.spawn(keep_counts());
    has_started_ = true;
    co_return success();
}

template <class Environment>
next_step job<Environment>::step(part which) {
    switch (which) {
    case part::registration:
        return stay_registered();
    case part::configuration:
        return follow_config();
    case part::terms:
        return publish_terms();
    case part::leadership:
        return leader_.lead();
    case part::followed_rounds:
        return leader_.follow_rounds();
    case part::share:
        return share_.keep();
    case part::java_triggers:
        return orders_.handle_java_triggers();
    case part::item_orders:
        return orders_.handle_item_orders();
    case part::schedule:
        break;
    }
    return keep_schedule();
}

template <class Environment>
task<result<void>> job<Environment>::trigger() {
    for (int attempt = 0; attempt < 10; ++attempt) {
        auto const seen = context_.news.edition();
        transaction order{context_.registry.session().generation};
        if (!context_.view->orders_parent()) order.create(context_.at.orders(), {}); // somebody has removed it
        order.set(context_.at.orders(), {});
        for (auto const& id : context_.view->instances())
            if (id.is_java()) order.set(context_.at.instance(id), std::string{trigger_order});
        ELASTICJOB_CO_TRY(auto const reply, co_await context_.registry.commit(std::move(order)));
        if (reply) co_return success();
        co_await context_.news.newer_than(seen,
                                          context_.now() + std::chrono::seconds{1}); // a Java member has just left
        if (context_.is_leaving)
            co_return error{errc::closed, "the job has been shut down meanwhile", context_.name.str()};
    }
    co_return error{errc::version_conflict,
                    "the job's instances kept changing, so it was not triggered: repeat the call",
                    context_.at.instances().str()};
}

template <class Environment>
task<result<void>> job<Environment>::set_enabled(bool enabled) {
    auto const path = context_.at.server(context_.self.server());
    std::string const state{enabled ? "" : server_disabled};
    auto const done = co_await context_.registry.set(path, state);
    if (done) co_return success();
    if (!(done.error() == errc::no_node)) co_return done.error();
    auto const made =
        co_await context_.registry.create(path, state, create_mode::persistent); // somebody has removed it
    if (!made) co_return made.error();
    co_return success();
}

template <class Environment>
task<result<void>> job<Environment>::set_paused(bool paused) {
    std::string server{context_.self.server()};
    return in_time(
        change_pauses(context_.registry, context_.at, std::move(server), paused, context_.wall_milliseconds()));
}

template <class Environment>
task<result<void>> job<Environment>::reschedule(std::string cron, std::vector<job_schedule> schedules) {
    auto const accept = rules_.accepted();
    return in_time(change_schedule(context_.registry, context_.at, std::move(cron), std::move(schedules), accept,
                                   accept.items_max));
}

template <class Environment>
task<result<void>> job<Environment>::in_time(task<result<void>> change) {
    auto const timeout = context_.env.options.start_timeout;
    auto done = co_await within(context_.loop(), context_.now() + timeout, std::move(change));
    if (done || !(done.error() == errc::timed_out)) co_return done;
    co_return error{errc::timed_out,
                    "the registry did not answer within start_timeout, " + std::to_string(timeout.count()) +
                        " ms, so it is not known whether the change is in it: repeat the call",
                    context_.at.root().str()};
}

template <class Environment>
job_status job<Environment>::status() const {
    job_status s{.job = context_.name.str(), .instance = context_.self.str()};
    if (context_.is_leaving)
        s.state = job_state::leaving;
    else if (!context_.view || !context_.view->is_loaded())
        s.state = job_state::joining;
    else if (!context_.is_registered())
        s.state = job_state::disconnected;
    else if (!context_.is_enabled())
        s.state = job_state::disabled;
    else
        s.state = is_paused() ? job_state::paused : job_state::active;
    s.is_leader = context_.view && context_.is_leader();
    runs_.list_items(s.items, s.running);
    if (rules_.due()) s.next_due = rules_.due()->next(context_.loop().wall_now());
    return s;
}

template <class Environment>
task<result<void>> job<Environment>::wait_idle() {
    for (;;) {
        auto const seen = runs_.idle_news().edition();
        if (runs_.is_idle()) co_return success();
        co_await runs_.idle_news().newer_than(seen);
    }
}

template <class Environment>
task<result<void>> job<Environment>::shut_down() {
    if (context_.is_leaving) {
        for (;;) {
            auto const seen = context_.news.edition();
            if (outcome_) co_return *outcome_;
            co_await context_.news.newer_than(seen);
        }
    }
    context_.is_leaving = true;
    runs_.close();
    context_.news.notify();
    auto const deadline = context_.now() + context_.env.options.drain_timeout;
    for (bool asked = false; !runs_.is_idle();) {
        auto const seen = runs_.idle_news().edition();
        if (!asked && context_.now() >= deadline) {
            asked = true;
            runs_.request_stop(stop_reason::draining);
        }
        co_await runs_.idle_news().newer_than(seen, asked ? mono_time::max() : deadline);
    }
    if (auto* const rounds = runs_.rounds()) co_await rounds->finish();
    if (counts_elements())
        (void)co_await within(context_.loop(), context_.now() + job_registration<Environment>::leave_timeout,
                              runs_.publish_counts(counted_since_));
    parts_.stop();
    registration_.stop_following();
    life_.cancel();
    leader_.stop_following();
    auto const outcome = co_await registration_.hand_over();
    outcome_ = outcome;
    context_.news.notify();
    context_.env.sink(events::left{context_.origin()});
    co_return outcome;
}

template <class Environment>
void job<Environment>::begin_to_leave() {
    if (!context_.is_leaving && departure_.empty()) departure_.spawn(depart());
}

template <class Environment>
task<void> job<Environment>::wait_left() {
    for (;;) {
        auto const seen = context_.news.edition();
        if (outcome_) co_return;
        co_await context_.news.newer_than(seen);
    }
}

template <class Environment>
next_step job<Environment>::stay_registered() {
    auto next = registration_.keep();
    if (registration_.is_over()) begin_to_leave();
    return next;
}

template <class Environment>
task<void> job<Environment>::depart() {
    co_await yield(context_.loop()); // shutting down stops the parts, and one of them has called this
    (void)co_await shut_down();      // this reports nodes that could not be removed
}

template <class Environment>
next_step job<Environment>::follow_config() {
    if (rules_.is_outdated()) return take_config();
    if (!founding::is_enough_for(rules_.config())) context_.view->follow_shardings();
    rules_.take_rounds();
    if (auto const* a = context_.view->assignment_in_force()) share_.tell(a->items_of(context_.self));
    return {};
}

template <class Environment>
task<mono_time> job<Environment>::take_config() {
    auto const taken = co_await rules_.take();
    if (taken && *taken) {
        failed_config_.end();
        co_return context_.now();
    }
    if (!taken && failed_config_.is_news(taken.error())) context_.tell_trouble(taken.error());
    if (context_.is_cut_off()) co_return mono_time::max();
    co_return context_.now() + (taken ? retry_pause : pause_after(taken.error()));
}

template <class Environment>
next_step job<Environment>::keep_schedule() {
    using namespace std::chrono;
    auto const wall = context_.loop().wall_now();
    if (wall < fired_until_ - minutes{1}) fired_until_ = wall; // the clock has been put back
    auto due = rules_.due()->next(fired_until_);
    for (; due && wall >= *due; due = rules_.due()->next(fired_until_)) {
        fired_until_ = wall;
        share_.look_for_requests();
        share_.note_held_back();
        runs_.tick(*due);
    }
    auto until = mono_time::max();
    if (due) {
        auto const early = *due - runs_.terms().ahead(context_.view->has_java_members());
        if (wall < early) announced_ = {}; // perhaps the clock has been put back
        if (wall >= early && std::exchange(announced_, *due) != *due) runs_.wake();
        until = context_.now() + std::min<nanoseconds>((wall < early ? early : *due) - wall, minutes{1});
    }
    if (auto const problem = rules_.due()->find_problem()) {
        if (!std::exchange(is_told_of_search_, true)) context_.tell_trouble(*problem);
        if (rules_.due()->go_on()) runs_.wake();
        until = std::min<mono_time>(until, context_.now() + seconds{1});
    } else {
        is_told_of_search_ = false;
    }
    return until;
}

template <class Environment>
bool job<Environment>::counts_elements() const {
    return rules_.config().type == job_type::dataflow && runs_.terms().dataflow.count_interval.count() > 0;
}

template <class Environment>
task<void> job<Environment>::keep_counts() {
    for (counted_since_ = context_.wall_milliseconds();;) {
        co_await sleep_until(context_.loop(), context_.now() + runs_.terms().dataflow.count_interval);
        auto const published = co_await runs_.publish_counts(counted_since_);
        if (published) counted_since_ = context_.wall_milliseconds();
    }
}

template <class Environment>
next_step job<Environment>::publish_terms() {
    auto& terms = runs_.terms();
    if (!java_marks_ && context_.view->has_java_members()) { // a job without Java members has no costs
        adoption_ = std::make_unique<adoption<Environment>>(context_, runs_);
        life_.spawn(adoption_->keep());
        java_marks_ = std::make_unique<java_marks<Environment>>(context_, runs_);
        life_.spawn(java_marks_->keep());
    }
    terms.config = rules_.valid();
    terms.due = rules_.due();
    terms.schedule = rules_.fingerprint();
    terms.schedule_written = rules_.schedule_written();
    terms.schedule_changed = rules_.schedule_changed();
    terms.generation = context_.generation;
    share_.look_for_requests();
    if (auto const* order = context_.view->run_order()) {
        if (order->modified > terms.run_order) share_.note_held_back();
        terms.run_order = order->modified;
        terms.ordered_at = wall_time{std::chrono::milliseconds{order->modified_at_ms}};
    }
    take_pauses();
    bool const may_run = context_.is_enabled() && !is_paused() && !context_.is_leaving && !runs_.stands_down();
    bool const was_open = std::exchange(terms.is_open, context_.is_registered() && may_run);
    if (terms.is_open && !was_open) context_.news.notify(); // the adoption of items waits for it
    if (context_.is_enabled() && !was_enabled_) terms.enabled_since = context_.wall_milliseconds();
    if (context_.is_enabled() || context_.is_disabled()) was_enabled_ = context_.is_enabled();
    tell_of_failed_reads();
    // A Java leader does not shard while an item runs, and a stream may have no end.
    terms.may_stream = rules_.config().streaming_process && may_run && !awaits_java_sharding(*context_.view);
    terms.on_misfire = on_misfire_;
    if (!rules_.config().misfire) terms.on_misfire.rule = misfire_rule::skip;
    runs_.tell_streams();
    runs_.wake();
    return {};
}

template <class Environment>
void job<Environment>::take_pauses() {
    auto& terms = runs_.terms();
    auto const* there = context_.view->pauses();
    if (!there) {
        pauses_.reset();
        terms.pauses_version.reset();
        return;
    }
    if (pauses_ && pauses_->at == there->stat.modified) return;
    pauses_ = std::make_unique<known_pauses>(known_pauses{there->stat.modified, {}});
    terms.pauses_version = there->stat.version;
    auto read = job_pauses::parse(there->data);
    if (!read) {
        context_.tell_trouble({errc::malformed_data,
                               "the pauses of the job cannot be read, so it counts as not paused; remove the node: " +
                                   read.error().what + ": " + read.error().where,
                               context_.at.pauses().str()});
        return;
    }
    pauses_->value = *std::move(read);
    // The clock that wrote the end may be ahead, but the registry wrote it no later than this.
    wall_time const written{std::chrono::milliseconds{there->stat.modified_at_ms}};
    if (auto const end = pauses_->value.last_end(context_.self.server())) terms.resumed_at = std::min(*end, written);
}

template <class Environment>
void job<Environment>::tell_of_failed_reads() {
    auto const* failure = context_.view->failure();
    if (!failure) failure = rules_.failure();
    if (!failure) return told_failure_.reset();
    if (told_failure_ && *told_failure_ == *failure) return;
    told_failure_ = std::make_unique<error>(*failure);
    context_.tell_trouble(*failure);
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_JOB_HPP
