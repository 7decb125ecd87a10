// SPDX-License-Identifier: Apache-2.0
/// \file \brief One job on one instance: from registering to leaving. The path of a firing begins in `keep_schedule`,
/// and goes on in item_runs.
#ifndef ELASTICJOB_SCHEDULER_JOB_HPP
#define ELASTICJOB_SCHEDULER_JOB_HPP

#include <elasticjob/allocation/average.hpp>
#include <elasticjob/config/due_times.hpp>
#include <elasticjob/config/followed_rounds.hpp>
#include <elasticjob/config/schedule_text.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/deferred.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/core/within.hpp>
#include <elasticjob/election/elector.hpp>
#include <elasticjob/execution/round_follower.hpp>
#include <elasticjob/execution/stop_request.hpp>
#include <elasticjob/membership/enroll.hpp>
#include <elasticjob/membership/job_chain.hpp>
#include <elasticjob/scheduler/item_runs.hpp>
#include <elasticjob/scheduler/job_environment.hpp>
#include <elasticjob/sharding/item_claim.hpp>
#include <elasticjob/sharding/leave.hpp>
#include <elasticjob/sharding/resharder.hpp>
#include <elasticjob/sharding/traits_view.hpp>

#include <optional>
#include <string>
#include <type_traits> // conditional
#include <utility>
#include <vector>

namespace elasticjob::detail {

struct no_traits {};

/// Whether a scheduler with this strategy may run a job so configured. The strategy is compiled in, and all members must
/// agree on it: an empty name is average allocation (SG-1). Errors: unknown_strategy.
template <sharding_strategy Strategy>
result<void> check_strategy(job_config const& config) {
    std::string_view const named = config.job_sharding_strategy_class.empty()
                                       ? AverageAllocation::name
                                       : std::string_view{config.job_sharding_strategy_class};
    if (named == Strategy::name) return success();
    return error{errc::unknown_strategy,
                 "the job is configured for the sharding strategy '" + std::string{named} +
                     "', but this scheduler was built with '" + std::string{Strategy::name} +
                     "': build it with that strategy, or change the job's jobShardingStrategyClass",
                 config.name};
}

/// Everything here is a coroutine on the loop that waits for news of the job's view and then does what the view calls
/// for; so each of them starts from what is true now, whatever it has missed.
/// Threads: the loop's, construction and destruction included. Before destruction: `shut_down`.
template <class Environment, sharding_strategy Strategy>
class job {
    using Registry = typename Environment::registry_type;
    using Loop = typename Environment::loop_type;

    // What it works on, for g++ to complete when it is used only: docs/decisions/0006.
    using valid_config = deferred<elasticjob::valid_config, Environment>;
    using enrollment = deferred<elasticjob::enrollment, Environment>;
    using transaction = deferred<elasticjob::transaction, Environment>;
    using sharding_basis = deferred<elasticjob::sharding_basis, Environment>;
    using due_times = elasticjob::due_times<typename Environment::zone_type>;
    using runs = item_runs<Environment>;
    struct teller;
    using follower = round_follower<Registry, teller>;
    using followed_rounds = deferred<elasticjob::followed_rounds, Environment>;

    static constexpr bool uses_traits = strategy_uses_traits<Strategy>;

public:
    job(Environment env, valid_config local, instance_id self, job_body<Loop> body)
        : env_{env},
          name_{local.name()},
          at_{local.name()},
          self_{std::move(self)},
          own_{local.config().on_misfire,    local.config().run_time_limit, local.config().give_up_after,
               local.config().retry,         local.config().dead_letters_max, local.config().on_wrong_clock,
               local.config().dataflow},
          config_{std::make_shared<valid_config const>(std::move(local))},
          news_{env.registry.loop()},
          elector_{env.registry, at_, self_, env.random},
          resharder_{env.registry, at_, self_},
          runs_{env_, name_, at_, self_, std::move(body), news_} {}
    job(job const&) = delete;
    job& operator=(job const&) = delete;

    job_name const& name() const noexcept { return name_; }
    instance_id const& self() const noexcept { return self_; }

    /// Registers, reads what there is to know, and lets the job live. Unless the configuration is the member's own, the job
    /// must be in the registry, and is taken as it is there. Errors: those of `enroll`; those of reading.
    task<result<void>> start(bool has_own_config) {
        acceptance const accept{&env_.zone};
        deferred<std::optional<valid_config>, Environment> local;
        if (has_own_config) local = *config_;
        ELASTICJOB_CO_TRY(auto const joined, co_await enroll(env_.registry, at_, self_, std::move(local), accept,
                                                             own_traits(), arrival::first));
        ELASTICJOB_CO_TRY(auto due, due_times::of(joined.config, env_.zone));
        put_in_force(joined.config, std::move(due));
        take_enrollment(joined);
        view_.emplace(env_.registry, at_, self_, news_);
        for (;;) {
            auto const seen = news().edition();
            if (auto const failure = view_->failure()) co_return *failure;
            if (view_->is_loaded() && (!rounds_ || rounds_->is_loaded())) break;
            co_await news().newer_than(seen);
        }
        was_enabled_ = is_enabled();
        if (auto const* order = view_->run_order()) runs_.terms().obeyed_before = order->stat.modified;
        life_.spawn(relay_session());
        life_.spawn(stay_registered());
        life_.spawn(follow_config());
        life_.spawn(lead());
        life_.spawn(follow_rounds());
        life_.spawn(brief_items());
        life_.spawn(keep_share());
        life_.spawn(obey());
        life_.spawn(obey_item_orders());
        life_.spawn(keep_schedule());
        if (counts_elements()) life_.spawn(keep_counts());
        co_return success();
    }

    /// Has every item run once, now (TR). The order is one node, and each item's record says up to which writing of it the
    /// item has obeyed; so it is carried out once, by whoever owns the item, and whenever somebody does. Java members
    /// know nothing of it, and find their own at their instances: only set, never created, for an instance that is gone
    /// must not come back as a ghost (D-47). Errors: those of the registry.
    task<result<void>> trigger() {
        for (int attempt = 0; attempt < 10; ++attempt) {
            auto const seen = news().edition();
            transaction order{env_.registry.session().generation};
            if (!view_->orders_parent()) order.create(at_.orders(), {}); // somebody has removed it
            order.set(at_.orders(), {});
            for (auto const& id : view_->instances())
                if (id.is_java()) order.set(at_.instance(id), std::string{trigger_order});
            ELASTICJOB_CO_TRY(auto const reply, co_await env_.registry.commit(std::move(order)));
            if (reply) co_return success();
            co_await news().newer_than(seen, now() + std::chrono::seconds{1}); // a Java member has just left
        }
        co_return error{errc::version_conflict, "the job's instances kept changing", at_.instances().str()};
    }

    /// Takes this server out of the job, or back in: with all its instances (SV). Errors: those of the registry.
    task<result<void>> set_enabled(bool enabled) {
        auto const path = at_.server(self_.server());
        auto const done = co_await env_.registry.set(path, std::string{enabled ? "" : server_disabled});
        if (!done) co_return done.error();
        co_return success();
    }

    /// Until no item of this instance runs. As long as the job fires faster than its items end, that may never be.
    task<result<void>> wait_idle() {
        for (;;) {
            auto const seen = runs_.idle_news().edition();
            if (runs_.is_idle()) co_return success();
            co_await runs_.idle_news().newer_than(seen);
        }
    }

    /// Leaves in order (SD, D-45): nothing more is started; what runs may finish, and after the drain time-out is asked to
    /// stop; then the items are handed over and the instance goes, in one transaction. Waits for bodies however long they
    /// take, because nothing else may run their items meanwhile. Further calls wait for the first. Errors: those of
    /// `leave`; the instance is down all the same, and its ephemeral nodes go with the session.
    task<result<void>> shut_down() {
        if (is_leaving_) {
            for (;;) {
                auto const seen = news().edition();
                if (outcome_) co_return *outcome_;
                co_await news().newer_than(seen);
            }
        }
        is_leaving_ = true;
        runs_.close();
        news().notify();
        auto const patience = now() + env_.options.drain_timeout;
        for (bool asked = false; !runs_.is_idle();) {
            auto const seen = runs_.idle_news().edition();
            if (!asked && now() >= patience) {
                asked = true;
                runs_.request_stop(stop_reason::draining);
            }
            co_await runs_.idle_news().newer_than(seen, asked ? mono_time::max() : patience);
        }
        runs_.seal();
        if (counts_elements())
            (void)co_await within(loop(), now() + leave_patience, runs_.publish_counts(counted_since_));
        life_.cancel();
        follower_.reset();
        auto const outcome = co_await hand_over();
        outcome_.emplace(outcome);
        news().notify();
        env_.sink(events::left{origin()});
        co_return outcome;
    }

    /// The same without waiting for it.
    void begin_to_leave() {
        if (!is_leaving_) departure_.spawn(depart());
    }

    /// Until it has left, whatever the reason.
    task<void> wait_left() {
        for (;;) {
            auto const seen = news().edition();
            if (outcome_) co_return;
            co_await news().newer_than(seen);
        }
    }

    /// The lease has lapsed for some: their runs are asked to stop.
    void look_at_lease() { runs_.look_at_lease(); }

    bool is_leaving() const noexcept { return is_leaving_; }

private:
    Loop& loop() noexcept { return env_.registry.loop(); }
    mono_time now() noexcept { return loop().now(); }
    event_count<Loop>& news() noexcept { return news_; }
    events::origin origin() { return {name_.str(), self_, loop().wall_now()}; }
    void tell_trouble(error const& e) { env_.sink(events::trouble{origin(), e}); }

    /// What this instance says of itself in the registry; empty if there is nothing to say.
    std::string own_traits() const {
        deferred<stored_traits, Environment> const traits{env_.options.instance_weight, env_.options.instance_labels};
        return traits.to_text();
    }

    /// Whether what we know of the registry is ours to act on.
    bool is_registered() const {
        auto const session = env_.registry.session();
        return session.state == session_state::connected && session.generation == generation_;
    }
    bool is_enabled() const { return view_->is_enabled(self_.server()); }

    void take_enrollment(enrollment const& e) {
        generation_ = e.generation;
        was_seen_ = false;
        auto const note = to_string(e.decision);
        env_.sink(events::joined{origin(), note});
        news().notify();
    }

    /// So that everybody here has one thing to wait for.
    task<void> relay_session() {
        auto told = session_state::connected; // as it was when it joined
        for (auto seen = env_.registry.session_changed().edition();;) {
            auto const state = env_.registry.session().state;
            if (std::exchange(told, state) != state) env_.sink(events::session_changed{origin(), state});
            co_await env_.registry.session_changed().newer_than(seen);
            seen = env_.registry.session_changed().edition();
            news().notify();
        }
    }

    /// CN: the same session needs nothing; a new one needs everything again, and what still runs has to be marked again.
    task<void> stay_registered() {
        for (;;) {
            auto const seen = news().edition();
            auto const session = env_.registry.session();
            if (session.generation != generation_ && !is_told_to_stop_) {
                is_told_to_stop_ = true;
                runs_.request_stop(stop_reason::session_lost); // somebody else may own the items now
            }
            if (session.state == session_state::connected && session.generation != generation_) {
                co_await register_again();
                continue;
            }
            if (is_registered() && view_->self() && view_->self()->stat.owner == session.id) was_seen_ = true;
            if (runs_.stands_down()) { // our clock is wrong, or a run has failed: others are to run what is due
                departure_.spawn(depart());
                co_return;
            }
            // Our session lives, and reads that the node is gone: an operator has taken the instance out (SD-1, D-18).
            if (is_registered() && !view_->self()) {
                bool const is_gone = co_await is_removed();
                if (is_gone) {
                    departure_.spawn(depart());
                    co_return;
                }
            }
            auto until = mono_time::max();
            if (is_registered() && !view_->config()) {
                bool const is_over = co_await is_job_removed();
                if (is_over) {
                    departure_.spawn(depart());
                    co_return;
                }
                until = now() + retry_pause;
            } else {
                config_gone_since_.reset();
            }
            co_await news().newer_than(seen, until);
        }
    }

    /// What is removed with our tools has a tombstone. Without one the configuration has been deleted by hand, or by Java's
    /// console: that counts once it has lasted for a moment, for a Java member that finds an empty one deletes it before
    /// it writes its own.
    task<bool> is_job_removed() {
        if (!config_gone_since_) config_gone_since_ = now();
        auto const tombstone = co_await env_.registry.exists(at_.removed());
        bool const has_tombstone = tombstone && *tombstone;
        bool const has_lasted = now() >= *config_gone_since_ + config_patience;
        co_return is_registered() && !view_->config() && (has_tombstone || has_lasted);
    }

    /// A view that has not shown our node yet may be behind.
    task<bool> is_removed() {
        if (was_seen_) co_return true;
        auto const here = co_await env_.registry.exists(at_.instance(self_));
        co_return here && !*here && is_registered();
    }

    task<void> register_again() {
        auto const seen = news().edition();
        acceptance const accept{&env_.zone};
        auto const joined = co_await enroll(env_.registry, at_, self_, std::nullopt, accept, own_traits());
        if (!joined) {
            tell_trouble(joined.error());
            bool const is_over = joined.error() == errc::no_node || joined.error() == errc::removed;
            if (is_over) departure_.spawn(depart());
            co_await news().newer_than(seen, now() + std::chrono::seconds{1});
            co_return;
        }
        is_told_to_stop_ = false;
        co_await runs_.mark_again(joined->generation);
        take_enrollment(*joined);
    }

    task<void> depart() {
        co_await yield(loop()); // shutting down ends the coroutine that has found out
        auto const gone = co_await shut_down();
        if (!gone) tell_trouble(gone.error());
    }

    /// RS: a change of the configuration takes effect at the next firing; one that cannot be used changes nothing.
    task<void> follow_config() {
        revision taken = 0, schedule_taken = 0;
        deferred<std::vector<item_index>, Environment> share;
        for (;;) {
            auto const seen = news().edition();
            auto const* node = view_->config();
            auto const* schedule = view_->schedule();
            auto const schedule_written = schedule ? schedule->stat.modified : 0;
            if (node && (node->stat.modified != taken || schedule_written != schedule_taken)) {
                taken = node->stat.modified;
                schedule_taken = schedule_written;
                bool const is_taken = co_await take_config();
                if (!is_taken) {
                    taken = 0;
                    co_await news().newer_than(seen, now() + retry_pause);
                    continue;
                }
            }
            take_rounds();
            if (auto const* a = view_->assignment_in_force()) {
                auto mine = a->items_of(self_);
                if (mine != share) {
                    share = std::move(mine);
                    env_.sink(events::share_changed{origin(), share});
                }
            }
            co_await news().newer_than(seen);
        }
    }

    /// False if it could not be found out whether it can be used.
    task<bool> take_config() {
        auto const& stored = *view_->config();
        auto const* schedule = view_->schedule();
        config_version_ = stored.stat.version; // looked at, whatever comes of it
        auto read = read_stored(&stored, schedule, at_);
        if (read && !*read) co_return true; // emptied, as before a removal
        auto due = read ? usable_times(**read, env_.zone) : result<due_times>{read.error()};
        if (!due) {
            tell_trouble(due.error());
            co_return true;
        }
        deferred<std::optional<wall_time>, Environment> written;
        if (schedule && schedule->stat.modified == stored.stat.modified)
            written = wall_time{std::chrono::milliseconds{schedule->stat.modified_at_ms}};
        auto const* followed = find_followed((*read)->config().schedules);
        auto const* in_force = find_followed(config_->config().schedules);
        if (followed && !(in_force && in_force->job == followed->job)) {
            auto const chain = co_await read_job_chain(env_.registry, name_.str(), followed->job);
            if (!chain && (is_connection(chain.error().code) || chain.error() == errc::session_lost)) co_return false;
            if (!chain) {
                tell_trouble(chain.error());
                co_return true;
            }
        }
        schedule_written_ = written;
        if (schedule_written_) due->set_now(*schedule_written_ + std::chrono::milliseconds{1}); // what comes behind counts
        put_in_force(**std::move(read), *std::move(due));
        news().notify();
        co_return true;
    }

    void put_in_force(valid_config config, due_times due) {
        config_ = std::make_shared<valid_config const>(std::move(config));
        due_ = std::make_shared<due_times const>(std::move(due));
        if (!due_->follows())
            rounds_.reset();
        else if (!rounds_)
            rounds_ = std::make_unique<mirror<Registry>>(env_.registry, at_.after(), mirror_scope::root_only(), news());
        rounds_taken_.reset();
    }

    /// The rounds of another job for which this one is due.
    void take_rounds() {
        auto const* there = rounds_ ? rounds_->root() : nullptr;
        if (!there || rounds_taken_ == there->stat.modified) return;
        rounds_taken_ = there->stat.modified;
        auto read = followed_rounds::parse(there->data);
        if (!read || read->job != find_followed(config_->config().schedules)->job) return; // the leader will mend it
        auto due = *due_;
        due.set_rounds(std::move(read->rounds));
        due_ = std::make_shared<due_times const>(std::move(due));
        news().notify();
    }

    /// As long as we lead: sees to it that the job is due when rounds of the one that it follows are over; and that it is
    /// not any more, if it follows none.
    task<void> follow_rounds() {
        for (following at_work;;) {
            auto const seen = news().edition();
            following wanted;
            wanted.leads = is_registered() && !is_leaving_ && leads(view_->leader(), self_, env_.registry.session());
            wanted.generation = generation_;
            if (auto const* schedule = view_->schedule()) wanted.written = schedule->stat.modified;
            if (auto const* followed = find_followed(config_->config().schedules))
                wanted.what = fnv_1a(followed_text(*followed));
            if (!(wanted == at_work)) {
                at_work = wanted;
                co_await begin_to_follow(wanted.leads);
            }
            co_await news().newer_than(seen);
        }
    }

    task<void> begin_to_follow(bool does_lead) {
        follower_.reset();
        if (!does_lead) co_return;
        typename follower::basis basis{generation_, at_};
        if (auto const* followed = find_followed(config_->config().schedules)) basis.followed = *followed;
        if (auto const* schedule = view_->schedule()) {
            basis.schedule_version = schedule->stat.version;
            basis.since = wall_time{std::chrono::milliseconds{schedule->stat.modified_at_ms}};
        }
        if (!basis.followed) { // most jobs never did
            auto const left = co_await env_.registry.exists(at_.after());
            if (left && !*left) co_return;
        }
        follower_ = std::make_unique<follower>(env_.registry, std::move(basis), teller{this});
    }

    /// EL, SH: sees to it that the job has a leader; and while that is us, that the assignment is what it should be.
    task<void> lead() {
        for (bool did_lead = false;;) {
            auto const seen = news().edition();
            auto until = mono_time::max();
            bool const does_lead = is_registered() && leads(view_->leader(), self_, env_.registry.session());
            if (does_lead != did_lead) {
                did_lead = does_lead;
                env_.sink(events::leadership_changed{origin(), does_lead});
                if (does_lead) resharder_.suspect_cut_items();
                if constexpr (uses_traits) {
                    traits_.reset();
                    if (does_lead) traits_.emplace(env_.registry, at_, news_);
                }
                audited_at_ = now();
            }
            if (!is_registered() || is_leaving_) {
            } else if (elector_.is_standing()) { // left behind by an election that failed; it would block all others
                (void)co_await elector_.withdraw(generation_);
                until = now() + retry_pause;
            } else if (does_lead && !is_enabled()) {
                (void)co_await env_.registry.remove(at_.leader_instance(), any_version, generation_); // EL-6
                until = now() + retry_pause;
            } else if (does_lead) {
                bool const is_audited = co_await keep_audited();
                auto const again = co_await keep_sharded();
                if (!is_audited || again)
                    until = now() + again.value_or(retry_pause);
                else if (resharder_.has_cut_items())
                    until = now() + cut_items_pause;
                until = std::min(until, next_audit());
            } else if (!view_->leader() && is_enabled()) { // EL-4, EL-5, D-36
                (void)co_await elector_.elect(generation_);
                until = now() + retry_pause; // by then the view shows who it is
            }
            co_await news().newer_than(seen, until);
        }
    }

    /// RC, D-26: now and then the leader looks whether the registry is as it should be, whatever the watches have told;
    /// the first time after the job's interval. False if it could not look, and has to once more.
    task<bool> keep_audited() {
        bool const has_failover = config_->config().failover;
        bool const is_due = now() >= next_audit();
        if (!has_failover && (had_failover_ || is_due)) {
            auto const removed = co_await resharder_.remove_failover_flags(generation_);
            if (!removed && is_connection(removed.error().code)) co_return false;
        }
        had_failover_ = has_failover;
        if (!is_due) co_return true;
        auto const looked = co_await resharder_.audit(*view_);
        if (!looked && is_connection(looked.error().code)) co_return false;
        if (!looked) tell_trouble(looked.error());
        audited_at_ = now();
        co_return true;
    }
    mono_time next_audit() const {
        std::chrono::minutes const interval{config_->config().reconcile_interval_minutes};
        return interval.count() < 1 ? mono_time::max() : audited_at_ + interval;
    }

    /// Errors: those of traits_view.
    result<sharding_basis> current_basis() const {
        auto const count = static_cast<std::uint32_t>(config_->config().sharding_total_count);
        sharding_basis basis{generation_, name_.str(), count, config_version_, view_->available_instances()};
        if constexpr (uses_traits) {
            ELASTICJOB_TRY(basis.traits, traits_->traits_of(basis.instances, count));
        }
        return basis;
    }

    /// Whether all has been read that the strategy goes by. News come when it has.
    bool knows_traits() {
        if constexpr (uses_traits) {
            if (auto const failure = traits_->failure()) tell_trouble(*failure);
            return traits_->is_loaded() && !traits_->failure();
        } else {
            return true;
        }
    }

    /// An item that nobody can own is not forgotten silently. `shown` is what the view shows, if it shows it already.
    void tell_of_left(assignment const* shown, std::uint32_t left) {
        if (left == 0) return;
        std::string which;
        for (item_index i = 0, told = 0; shown && i < shown->items() && told < 10; ++i)
            if (shown->owner(i) == no_slot) {
                which += (told == 0 ? ": " : ", ") + item_name(i);
                ++told;
            }
        tell_trouble({errc::nobody_fits,
                      std::to_string(left) + " of the job's items wait, because no instance has the labels that they need" +
                          which + (shown && left > 10 ? ", …" : ""),
                      at_.item_labels().str()});
    }

    /// One change comes as several pieces of news, and a deployment as many changes: waits until nothing has come for a
    /// moment, though not for long.
    task<void> settle() {
        for (auto const patience = now() + settle_max; now() < patience;) {
            auto const seen = news().edition();
            if (!co_await news().newer_than(seen, now() + settle_span)) co_return;
        }
    }

    /// Nothing if all is as it should be, or after which time to see again.
    task<std::optional<std::chrono::milliseconds>> keep_sharded() {
        if (!view_->config() || !knows_traits()) co_return std::nullopt; // being removed; being read
        auto first_look = current_basis();
        if (!first_look) {
            tell_trouble(first_look.error());
            co_return trouble_pause;
        }
        if (resharder_.is_outdated(*view_, *first_look)) co_await settle();
        if (!view_->config() || !is_registered() || !knows_traits()) co_return retry_pause;
        auto now_known = current_basis();
        if (!now_known) co_return retry_pause;
        auto basis = *std::move(now_known);
        auto const count = basis.item_count;
        if (resharder_.is_outdated(*view_, basis)) {
            if (view_->assignment_node() && view_->first_item() && !view_->assignment_in_force()) {
                auto const overruled = co_await is_overruled(env_.registry, at_);
                if (!overruled || !*overruled) co_return retry_pause; // only the view is behind
            }
            auto const instances = static_cast<std::uint32_t>(basis.instances.size());
            auto const done = co_await resharder_.shard(*view_, std::move(basis));
            // A conflict means that something has changed, of which the view will tell; so does a lost connection.
            bool const is_passing = !done && (is_conflict(done.error().code) || is_connection(done.error().code) ||
                                              done.error() == errc::session_lost);
            if (is_passing) co_return retry_pause;
            if (!done) {
                tell_trouble(done.error());
                co_return trouble_pause;
            }
            env_.sink(events::resharded{origin(), done->epoch, done->items, instances, done->moved, done->left});
            co_await see(done->epoch);
            auto const* a = view_->assignment_in_force();
            tell_of_left(a && a->epoch() == done->epoch ? a : nullptr, done->left);
        } else if (resharder_.is_asked_for(*view_) && view_->assignment_in_force()) {
            auto const granted = co_await resharder_.grant(*view_, generation_);
            if (!granted) co_return retry_pause;
        }
        auto const* in_force = view_->assignment_in_force();
        if (resharder_.has_cut_items() && in_force && in_force->items() == count) {
            auto const removed = co_await resharder_.remove_cut_items(generation_, count);
            if (!removed) co_return retry_pause;
        }
        co_return std::nullopt;
    }

    /// Until the view shows what we have just written: a decision made before would be made on the past.
    task<void> see(std::uint64_t epoch) {
        for (auto const patience = now() + std::chrono::seconds{1}; now() < patience;) {
            auto const seen = news().edition();
            auto const* a = view_->assignment_in_force();
            if (a && a->epoch() >= epoch) co_return;
            co_await news().newer_than(seen, patience);
        }
    }

    /// TR-1, an order as Java members and their console give it: takes it out of our node, and runs what is ours. What is
    /// running runs once more when it has ended. An order is known by the write that gave it, so that a lost reply neither
    /// loses nor doubles it.
    task<void> obey() {
        for (revision obeyed = 0;;) {
            auto const seen = news().edition();
            auto until = mono_time::max();
            auto const* node = view_->self();
            if (is_registered() && !is_leaving_ && node && node->data == trigger_order) {
                auto const order = node->stat.modified;
                auto const taken = co_await env_.registry.set(at_.instance(self_), {}, node->stat.version, generation_);
                if (!taken) until = now() + retry_pause;
                if (order != obeyed) {
                    co_await share_known();
                    runs_.order_all(wall_milliseconds());
                }
                obeyed = order;
            }
            co_await news().newer_than(seen, until);
        }
    }

    /// Orders about one item, each of which is taken away by who runs the item, or owns it while nobody does.
    task<void> obey_item_orders() {
        for (;;) {
            auto const seen = news().edition();
            auto until = mono_time::max();
            auto const orders = view_->orders();
            for (auto const& [name, order] : orders) {
                if (!is_registered()) continue;
                auto const answer = obey(name, order);
                bool is_left = answer == runs::order_answer::not_yet;
                if (answer == runs::order_answer::done) {
                    auto const path = at_.orders() / name;
                    auto const taken = co_await env_.registry.remove(path, order.stat.version, generation_);
                    is_left = !taken && is_connection(taken.error().code);
                }
                if (is_left) until = now() + retry_pause;
            }
            co_await news().newer_than(seen, until);
        }
    }
    typename runs::order_answer obey(std::string_view name, deferred<node, Environment> const& order) {
        auto const is_for = [&](std::string_view what, item_index& item) {
            return name.starts_with(what) && read_number(name.substr(what.size()), item);
        };
        item_index item = 0;
        if (is_for("stop-", item)) return runs_.stop(item, parse_stop_request(order.data).value_or(wall_time{}));
        if (is_for("look-", item)) return runs_.look_again(item);
        return runs::order_answer::not_ours;
    }

    /// Until it is known what is ours, though not for long.
    task<void> share_known() {
        for (auto const patience = now() + env_.options.sharding_timeout; now() < patience && is_enabled();) {
            auto const seen = news().edition();
            if (claimed_ && *claimed_ == share_source_now()) co_return;
            co_await news().newer_than(seen, patience);
        }
    }

    /// From one due instant to the next. Waits by monotonic time and looks at the wall clock at least once a minute, so
    /// that a clock that is put forward is noticed. What is due is each item's own affair; see item_runs.
    task<void> keep_schedule() {
        using namespace std::chrono;
        auto told = loop().wall_now();
        for (;;) {
            auto const seen = news().edition();
            auto const wall = loop().wall_now();
            if (wall < told - minutes{1}) told = wall; // the clock has been put back
            auto const due = due_->next(told);
            if (due && wall >= *due) {
                told = wall;
                runs_.tick(*due);
                continue;
            }
            auto until = mono_time::max();
            if (due && *due > wall) until = now() + std::min<nanoseconds>(*due - wall, minutes{1});
            co_await news().newer_than(seen, until);
        }
    }

    bool counts_elements() const {
        return config_->config().type == job_type::dataflow && own_.dataflow.count_interval.count() > 0;
    }

    /// What is processed is written down once in a while.
    task<void> keep_counts() {
        for (counted_since_ = wall_milliseconds();;) {
            co_await sleep_until(loop(), now() + own_.dataflow.count_interval);
            auto const published = co_await runs_.publish_counts(counted_since_);
            if (published) counted_since_ = wall_milliseconds();
        }
    }

    /// Tells the items what they need to know of the job, whenever that may have changed.
    task<void> brief_items() {
        for (;;) {
            auto const seen = news().edition();
            auto& terms = runs_.terms();
            terms.config = config_;
            terms.due = due_;
            terms.schedule = fingerprint();
            terms.schedule_written = schedule_written_;
            terms.generation = generation_;
            if (auto const* order = view_->run_order()) {
                terms.run_order = order->stat.modified;
                terms.ordered_at = wall_time{std::chrono::milliseconds{order->stat.modified_at_ms}};
            }
            terms.is_open = is_registered() && is_enabled() && !is_leaving_ && !runs_.stands_down();
            if (!std::exchange(was_enabled_, is_enabled()) && was_enabled_) terms.enabled_since = wall_milliseconds();
            bool const streams = config_->config().streaming_process;
            terms.may_stream = streams && is_enabled() && !is_leaving_ && !runs_.stands_down();
            terms.on_misfire = own_.on_misfire;
            if (!config_->config().misfire) terms.on_misfire.rule = misfire_rule::skip;
            terms.time_limit = own_.run_time_limit;
            terms.give_up_after = own_.give_up_after;
            terms.retry = own_.retry;
            terms.dead_letters_max = own_.dead_letters_max;
            terms.on_wrong_clock = own_.on_wrong_clock;
            terms.dataflow = own_.dataflow;
            runs_.tell_streams();
            runs_.stir();
            co_await news().newer_than(seen);
        }
    }

    /// Of all that says when the job is due. What is written down of the rounds of another job stays true whatever else of
    /// the schedule changes.
    std::uint64_t fingerprint() const {
        auto const& config = config_->config();
        if (auto const* followed = find_followed(config.schedules)) return fnv_1a(followed->job);
        return fnv_1a(to_schedule_text(config), fnv_1a(config.cron));
    }

    wall_time wall_milliseconds() { return std::chrono::floor<std::chrono::milliseconds>(loop().wall_now()); }

    /// When a job so configured is due, if this scheduler can run it.
    static result<due_times> usable_times(valid_config const& c, typename Environment::zone_type const& zone) {
        ELASTICJOB_CHECK(check_strategy<Strategy>(c.config()));
        auto due = due_times::of(c, zone);
        if (due && Environment::listeners_type::hear_rounds && !due->has_rounds())
            return error{errc::invalid_config,
                         "with a fixed delay each item is due at times of its own: there are no rounds to listen to",
                         "schedules"};
        return due;
    }
    struct acceptance {
        typename Environment::zone_type const* zone;
        result<void> operator()(valid_config const& c) const {
            ELASTICJOB_CHECK(usable_times(c, *zone));
            return success();
        }
    };

    /// What this instance's configuration says that is not in the registry.
    struct own_terms {
        misfire_policy on_misfire;
        std::chrono::milliseconds run_time_limit;
        std::chrono::milliseconds give_up_after;
        retry_policy retry;
        std::uint32_t dead_letters_max;
        clock_rule on_wrong_clock;
        dataflow_options dataflow;
    };

    /// What the leader goes by who follows another job.
    struct following {
        bool leads = false;
        session_generation generation{};
        revision written = 0;   ///< the schedule
        std::uint64_t what = 0; ///< a hash of what it says of the job that is followed
        friend bool operator==(following const&, following const&) = default;
    };
    struct teller {
        job* self;
        void operator()(error const& e) const { self->tell_trouble(e); }
    };

    /// What our share follows from.
    struct share_source {
        session_generation generation;
        revision assignment, first_item;
        std::uint32_t items;
        friend bool operator==(share_source const&, share_source const&) = default;
    };
    share_source share_source_now() const {
        auto const modified = [](node const* n) { return n ? n->stat.modified : 0; };
        return {generation_, modified(view_->assignment_node()), modified(view_->first_item()),
                static_cast<std::uint32_t>(config_->config().sharding_total_count)};
    }

    /// Keeps the items informed of which of them are ours. While nobody knows, none begins.
    task<void> keep_share() {
        for (;;) {
            auto const seen = news().edition();
            auto const source = share_source_now();
            if (is_registered() && !is_leaving_ && !(claimed_ && *claimed_ == source)) {
                if (!view_->assignment_in_force()) {
                    claimed_.reset();
                    runs_.doubt_ownership();
                }
                auto const deadline = now() + env_.options.sharding_timeout;
                auto claim = co_await claim_items(env_.registry, *view_, at_, self_, source.items, deadline);
                if (claim && share_source_now() == source) {
                    std::erase_if(claim->shares, [&](auto const& s) { return s.item >= source.items; });
                    runs_.own(*std::move(claim), *view_);
                    claimed_ = source;
                    news().notify();
                } else if (!claim) {
                    if (!is_connection(claim.error().code)) tell_trouble(claim.error());
                    co_await news().newer_than(seen, now() + retry_pause);
                }
                continue;
            }
            co_await news().newer_than(seen);
        }
    }

    /// What has been begun under the session of now is taken back, whether or not it is known to have happened. What
    /// cannot be taken back in time is tried for as long as the session lives: no ghost may stay behind in it.
    task<result<void>> hand_over() {
        auto const g = env_.registry.session().generation;
        auto const deadline = now() + leave_patience;
        auto const withdrawn = co_await within(loop(), deadline, elector_.withdraw_for_certain(g));
        bool const has_traits = !own_traits().empty();
        auto outcome = co_await leave(env_.registry, at_, self_, g, deadline, has_traits);
        if (!withdrawn || !outcome)
            env_.leftovers.spawn(keep_leaving(env_.registry, at_, self_, g, elector_, has_traits));
        co_return outcome;
    }
    static task<void> keep_leaving(Registry& r, job_layout at, instance_id self, session_generation g,
                                   elector<Registry> candidate, bool has_traits) {
        (void)co_await candidate.withdraw_for_certain(g);
        (void)co_await leave(r, std::move(at), std::move(self), g, mono_time::max(), has_traits);
    }

    static constexpr std::chrono::milliseconds settle_span{3};
    static constexpr std::chrono::milliseconds settle_max{50};
    static constexpr std::chrono::milliseconds retry_pause{200};
    static constexpr std::chrono::milliseconds trouble_pause{5'000};
    static constexpr std::chrono::seconds cut_items_pause{5};
    static constexpr std::chrono::seconds leave_patience{5};
    static constexpr std::chrono::seconds config_patience{2};

    Environment env_;
    job_name name_;
    job_layout at_;
    instance_id self_;
    own_terms own_;
    std::shared_ptr<valid_config const> config_; ///< in force
    std::shared_ptr<due_times const> due_;       ///< by that
    deferred<std::optional<wall_time>, Environment> schedule_written_; ///< together with the configuration
    node_version config_version_ = 0;
    event_count<Loop> news_;
    std::unique_ptr<mirror<Registry>> rounds_; ///< `ext/after`, while the job follows another
    std::optional<revision> rounds_taken_;
    std::optional<job_view<Registry>> view_; ///< once registered: so it begins with what is true since then
    [[no_unique_address]] std::conditional_t<uses_traits, std::optional<traits_view<Registry>>, no_traits> traits_;
    elector<Registry> elector_;
    resharder<Registry, Strategy> resharder_;
    std::unique_ptr<follower> follower_; ///< while we lead
    runs runs_;
    session_generation generation_{};
    std::optional<share_source> claimed_; ///< what our share was last made from
    wall_time counted_since_{};   ///< elements
    mono_time audited_at_{};      ///< or when we began to lead
    bool had_failover_ = false;
    bool was_enabled_ = true;
    bool was_seen_ = false; ///< whether the view has shown our node of this session
    std::optional<mono_time> config_gone_since_;
    bool is_told_to_stop_ = false;
    bool is_leaving_ = false;
    deferred<std::optional<result<void>>, Environment> outcome_;
    task_scope life_;      ///< cancelled when the job leaves
    task_scope departure_; ///< a leaving that nobody waits for
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_JOB_HPP
