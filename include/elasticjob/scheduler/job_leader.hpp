// SPDX-License-Identifier: Apache-2.0
/// \file \brief What one of the instances of a job does for all of them.
#ifndef ELASTICJOB_SCHEDULER_JOB_LEADER_HPP
#define ELASTICJOB_SCHEDULER_JOB_LEADER_HPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/gather.hpp>
#include <elasticjob/core/hash.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/election/elector.hpp>
#include <elasticjob/events/event.hpp>
#include <elasticjob/execution/lost_java_runs.hpp>
#include <elasticjob/execution/round_follower.hpp>
#include <elasticjob/membership/old_servers.hpp>
#include <elasticjob/membership/stand_ins.hpp>
#include <elasticjob/registry/read_all.hpp>
#include <elasticjob/scheduler/job_rules.hpp>
#include <elasticjob/scheduler/job_standing.hpp>
#include <elasticjob/sharding/resharder.hpp>
#include <elasticjob/sharding/strategy_name.hpp>
#include <elasticjob/sharding/traits_view.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits> // conditional
#include <utility>

namespace elasticjob::detail {

struct no_traits {};

/// Sees to it that the job has a leader, and while that is us, to the assignment and to the rounds of the job that this one
/// follows. Threads: the loop's.
template <class Environment, sharding_strategy Strategy>
class job_leader {
    using Registry = typename Environment::registry_type;
    struct teller;
    using follower = round_follower<Registry, teller>;

    static constexpr bool uses_traits = strategy_uses_traits<Strategy>;

public:
    job_leader(job_standing<Environment>& here, job_rules<Environment, Strategy> const& rules);

    /// EL-1, SH-1: sees to it that the job has a leader; and while that is us, that the assignment is what it should be.
    task<void> lead();

    /// As long as we lead: sees to it that the job is due when rounds of the one that it follows are over; and that it is
    /// not any more, if it follows none.
    task<void> follow_rounds();

    /// Before the job leaves, when nothing of the above goes on any more.
    void stop_following() noexcept { follower_.reset(); }

    /// With which a job that leaves takes back what it has begun in an election.
    elector<Registry>& candidate() noexcept { return elector_; }

    bool is_leader() const;

private:
    /// Tells of what does not pass by itself, once for each kind of error until an election succeeds.
    void note_failed_election(error const& e);

    /// RC-1, D-26: now and then the leader looks whether the registry is as it should be, whatever the watches have told;
    /// the first time after the job's interval. False if it could not look, and has to once more.
    task<bool> keep_audited();
    mono_time next_audit() const;

    /// SV-6: what machines that are gone have left below `servers`. Nothing while a Java member is registered, for it asks
    /// for a sharding whenever anything changes there. What was refused is looked at again another time. Errors: those of
    /// the registry.
    task<result<void>> remove_old_servers();

    /// EL-8: looks once at the owner of each instance that has come, and removes what no process stands behind. False
    /// if it could not look.
    task<bool> look_at_new_instances();

    /// Removes a persistent node in the place of an ephemeral one, and tells of it. Whether it is known what became of
    /// it.
    task<bool> remove_stand_in(node_path path, node_version version);

    /// Only with instances that have been looked at. Errors: those of traits_view.
    result<sharding_basis> current_basis() const;

    /// Whether all has been read that a sharding goes by. News come when it has.
    bool knows_servers_and_traits();

    /// An item that nobody can own is not forgotten silently. `shown` is what the view shows, if it shows it already.
    void tell_of_left(assignment const* shown, std::uint32_t left);

    /// One change comes as several pieces of news, and a deployment as many changes: waits until nothing has come for a
    /// moment, though not for long.
    task<void> settle();

    /// Nothing if all is as it should be, or after which time to see again.
    task<std::optional<std::chrono::milliseconds>> keep_sharded();

    /// Until the view shows what we have just written: a decision made before would be made on the past.
    task<void> see(std::uint64_t epoch);

    task<void> begin_to_follow(bool does_lead);

    /// What the leader goes by who follows another job.
    struct following {
        bool leads = false;
        session_generation generation{};
        revision written = 0;   ///< the schedule
        std::uint64_t what = 0; ///< a hash of what it says of the job that is followed
        friend bool operator==(following const&, following const&) = default;
    };
    struct teller {
        job_standing<Environment>* here;
        void operator()(error const& e) const { here->tell_trouble(e); }
    };

    static constexpr std::chrono::milliseconds settle_span{3};
    static constexpr std::chrono::milliseconds settle_max{50};
    static constexpr std::chrono::milliseconds trouble_pause{5'000};
    static constexpr std::chrono::seconds cut_items_pause{5};

    job_standing<Environment>& here_;
    job_rules<Environment, Strategy> const& rules_;
    [[no_unique_address]] std::conditional_t<uses_traits, std::optional<traits_view<Registry>>, no_traits> traits_;
    elector<Registry> elector_;
    resharder<Registry, Strategy> resharder_;
    std::unique_ptr<follower> follower_; ///< while we lead
    old_servers old_servers_;
    known_instances instances_;
    mono_time audited_at_{};             ///< or when we began to lead
    bool had_failover_ = false;
    std::uint64_t failed_with_ = 0, told_of_ = 0; ///< since the last election that succeeded: a bit for each kind of error
};

template <class Environment, sharding_strategy Strategy>
job_leader<Environment, Strategy>::job_leader(job_standing<Environment>& here,
                                              job_rules<Environment, Strategy> const& rules)
    : here_{here},
      rules_{rules},
      elector_{here.registry, here.at, here.self, here.env.random},
      resharder_{here.registry, here.at, here.self} {}

template <class Environment, sharding_strategy Strategy>
task<void> job_leader<Environment, Strategy>::lead() {
    for (bool did_lead = false;;) {
        auto const seen = here_.news.edition();
        auto until = mono_time::max();
        bool const does_lead = is_leader();
        if (does_lead != did_lead) {
            did_lead = does_lead;
            here_.env.sink(events::leadership_changed{here_.origin(), does_lead});
            if (does_lead) resharder_.suspect_cut_items();
            if constexpr (uses_traits) {
                traits_.reset();
                if (does_lead) traits_.emplace(here_.registry, here_.at, here_.news);
            }
            audited_at_ = here_.now();
        }
        if (!here_.is_registered() || here_.is_leaving) {
        } else if (elector_.is_standing()) { // left behind by an election that failed; it would block all others
            auto const withdrawn = co_await elector_.withdraw(here_.generation);
            if (!withdrawn) note_failed_election(withdrawn.error());
            until = here_.now() + here_.retry_pause;
        } else if (does_lead && here_.is_disabled()) {
            (void)co_await here_.registry.remove(here_.at.leader_instance(), any_version, here_.generation); // EL-6
            until = here_.now() + here_.retry_pause;
        } else if (does_lead) {
            bool const is_audited = co_await keep_audited();
            auto const again = co_await keep_sharded();
            if (!is_audited || again)
                until = here_.now() + again.value_or(here_.retry_pause);
            else if (resharder_.has_cut_items())
                until = here_.now() + cut_items_pause;
            until = std::min(until, next_audit());
        } else if (here_.view->leader() && here_.view->leader()->stat.owner == 0 && here_.is_enabled()) { // EL-8
            auto const version = here_.view->leader()->stat.version;
            bool const is_known = co_await remove_stand_in(here_.at.leader_instance(), version);
            until = here_.now() + (is_known ? trouble_pause : here_.retry_pause);
        } else if (!here_.view->leader() && here_.is_enabled()) { // EL-4, EL-5, D-36
            auto const elected = co_await elector_.elect(here_.generation);
            if (auto const removed = elector_.take_removed()) here_.tell_trouble(stand_in_removed(*removed));
            if (elected)
                failed_with_ = told_of_ = 0;
            else
                note_failed_election(elected.error());
            until = here_.now() + here_.retry_pause; // by then the view shows who it is
        }
        co_await here_.news.newer_than(seen, until);
    }
}

template <class Environment, sharding_strategy Strategy>
task<void> job_leader<Environment, Strategy>::follow_rounds() {
    for (following at_work;;) {
        auto const seen = here_.news.edition();
        following wanted;
        wanted.leads = !here_.is_leaving && is_leader();
        wanted.generation = here_.generation;
        if (auto const* schedule = here_.view->schedule()) wanted.written = schedule->stat.modified;
        if (auto const* followed = rules_.followed()) wanted.what = fnv_1a(followed_text(*followed));
        if (!(wanted == at_work)) {
            at_work = wanted;
            co_await begin_to_follow(wanted.leads);
        }
        co_await here_.news.newer_than(seen);
    }
}

template <class Environment, sharding_strategy Strategy>
bool job_leader<Environment, Strategy>::is_leader() const {
    return here_.is_registered() && leads(here_.view->leader(), here_.self, here_.registry.session());
}

template <class Environment, sharding_strategy Strategy>
void job_leader<Environment, Strategy>::note_failed_election(error const& e) {
    bool const is_passing = is_transient(e) || !here_.view->config();
    if (is_passing) return;
    auto const kind = std::uint64_t{1} << static_cast<unsigned>(e.code);
    if ((failed_with_ & kind) && !(told_of_ & kind)) {
        told_of_ |= kind;
        here_.tell_trouble({e.code, "the job has no leader, because elections keep failing: " + e.what, e.where});
    }
    failed_with_ |= kind;
}

template <class Environment, sharding_strategy Strategy>
task<bool> job_leader<Environment, Strategy>::keep_audited() {
    bool const has_failover = rules_.config().failover;
    bool const is_due = here_.now() >= next_audit();
    if (!has_failover && (had_failover_ || is_due)) {
        auto const removed = co_await resharder_.remove_failover_flags(here_.generation);
        if (!removed && is_connection(removed.error().code)) co_return false;
    }
    had_failover_ = has_failover;
    if (!is_due) co_return true;
    auto const looked = co_await resharder_.audit(*here_.view);
    if (!looked && is_connection(looked.error().code)) co_return false;
    if (!looked) here_.tell_trouble(looked.error());
    auto const cleaned = co_await remove_old_servers();
    if (!cleaned && is_connection(cleaned.error().code)) co_return false;
    if (!cleaned) here_.tell_trouble(cleaned.error());
    audited_at_ = here_.now();
    co_return true;
}

template <class Environment, sharding_strategy Strategy>
task<result<void>> job_leader<Environment, Strategy>::remove_old_servers() {
    auto const retention = here_.env.options.server_retention;
    auto const& view = *here_.view;
    if (retention.count() <= 0 || view.has_java_members() || !view.assignment_in_force()) co_return success();
    auto const assigned = view.assignment_node()->stat.version;
    auto const instances = view.instances();
    auto listed = co_await here_.registry.children(here_.at.servers());
    if (!listed && listed.error() == errc::no_node) co_return success();
    if (!listed) co_return listed.error();
    auto picked = old_servers_.pick(here_.at, *std::move(listed), instances);
    if (picked.empty()) co_return success();
    ELASTICJOB_CO_TRY(auto const read, co_await read_all(here_.registry, std::move(picked)));
    auto const written_before = here_.wall_milliseconds() - retention;
    auto t = old_servers_.removal(here_.at, here_.generation, assigned, read, written_before);
    if (t.empty()) co_return success();
    auto const done = co_await here_.registry.commit(std::move(t));
    if (!done) co_return done.error();
    co_return success();
}

template <class Environment, sharding_strategy Strategy>
mono_time job_leader<Environment, Strategy>::next_audit() const {
    std::chrono::minutes const interval{rules_.config().reconcile_interval_minutes};
    return interval.count() < 1 ? mono_time::max() : audited_at_ + interval;
}

template <class Environment, sharding_strategy Strategy>
task<bool> job_leader<Environment, Strategy>::look_at_new_instances() {
    instances_.note(here_.self, true);
    auto const fresh = instances_.unchecked(here_.view->instances());
    if (fresh.empty()) co_return true;
    auto const look = [&](instance_id const& id) { return here_.registry.exists(here_.at.instance(id)); };
    auto const found = co_await gather_each(here_.loop(), fresh, look);
    for (std::size_t i = 0; i < fresh.size(); ++i) {
        if (!found[i] && is_transient(found[i].error())) co_return false;
        bool const stands_in = found[i] && is_stand_in(*found[i]);
        instances_.note(fresh[i], !stands_in);
        if (!stands_in) continue;
        bool const is_known = co_await remove_stand_in(here_.at.instance(fresh[i]), (*found[i])->version);
        if (!is_known) instances_.forget(fresh[i]);
    }
    co_return true;
}

template <class Environment, sharding_strategy Strategy>
task<bool> job_leader<Environment, Strategy>::remove_stand_in(node_path path, node_version version) {
    transaction t{here_.generation};
    t.check(here_.at.instance(here_.self)).remove_persistent(path, version);
    auto const done = co_await here_.registry.commit(t);
    if (done && *done) {
        here_.tell_trouble(stand_in_removed(path));
        co_return true;
    }
    auto const why = done ? refusal_error(t, *done->refused) : done.error();
    bool const will_pass = is_transient(why) || why == errc::no_node || why == errc::version_conflict ||
                           why == errc::no_children_for_ephemerals;
    if (will_pass) co_return false; // it has gone or changed, or is looked at again
    here_.tell_trouble(stand_in_stays(path, why));
    co_return true;
}

template <class Environment, sharding_strategy Strategy>
result<sharding_basis> job_leader<Environment, Strategy>::current_basis() const {
    auto const count = rules_.item_count();
    sharding_basis basis{here_.generation, here_.name.str(), count, rules_.version(),
                         here_.view->available_instances()};
    basis.strategy = strategy_name_of(rules_.config());
    instances_.keep_live(basis.instances);
    if constexpr (uses_traits) {
        ELASTICJOB_TRY(basis.traits, traits_->traits_of(basis.instances, count));
    }
    return basis;
}

template <class Environment, sharding_strategy Strategy>
bool job_leader<Environment, Strategy>::knows_servers_and_traits() {
    if (!here_.view->knows_servers()) return false;
    if constexpr (uses_traits) {
        if (auto const failure = traits_->failure()) here_.tell_trouble(*failure);
        return traits_->is_loaded() && !traits_->failure();
    } else {
        return true;
    }
}

template <class Environment, sharding_strategy Strategy>
void job_leader<Environment, Strategy>::tell_of_left(assignment const* shown, std::uint32_t left) {
    if (left == 0) return;
    std::string which;
    for (item_index i = 0, told = 0; shown && i < shown->items() && told < 10; ++i)
        if (shown->owner(i) == no_slot) {
            which += (told == 0 ? ": " : ", ") + item_name(i);
            ++told;
        }
    here_.tell_trouble({errc::nobody_fits,
                        std::to_string(left) +
                            " of the job's items wait, because no instance has the labels that they need" + which +
                            (shown && left > 10 ? ", …" : ""),
                        here_.at.item_labels().str()});
}

template <class Environment, sharding_strategy Strategy>
task<void> job_leader<Environment, Strategy>::settle() {
    for (auto const patience = here_.now() + settle_max; here_.now() < patience;) {
        auto const seen = here_.news.edition();
        if (!co_await here_.news.newer_than(seen, here_.now() + settle_span)) co_return;
    }
}

template <class Environment, sharding_strategy Strategy>
task<std::optional<std::chrono::milliseconds>> job_leader<Environment, Strategy>::keep_sharded() {
    if (!here_.view->config() || !knows_servers_and_traits()) co_return std::nullopt; // being removed; being read
    bool const has_looked = co_await look_at_new_instances();
    if (!has_looked) co_return here_.retry_pause;
    auto first_look = current_basis();
    if (!first_look) {
        here_.tell_trouble(first_look.error());
        co_return trouble_pause;
    }
    if (resharder_.is_outdated(*here_.view, *first_look)) co_await settle();
    bool const has_looked_again = co_await look_at_new_instances();
    if (!has_looked_again || !here_.view->config() || !here_.is_registered() || !knows_servers_and_traits())
        co_return here_.retry_pause;
    auto now_known = current_basis();
    if (!now_known) co_return here_.retry_pause;
    auto basis = *std::move(now_known);
    auto const count = basis.item_count;
    if (resharder_.is_outdated(*here_.view, basis)) {
        if (here_.view->assignment_node() && here_.view->first_item() && !here_.view->assignment_in_force()) {
            auto const overruled = co_await is_overruled(here_.registry, here_.at);
            if (!overruled || !*overruled) co_return here_.retry_pause; // only the view is behind
        }
        if (rules_.config().failover && rules_.config().monitor_execution) { // JV-6
            auto lost =
                co_await make_up_for_dead_java(here_.registry, *here_.view, here_.at, here_.wall_milliseconds());
            if (!lost) co_return here_.retry_pause;
            basis.besides = *std::move(lost);
        }
        auto const instances = static_cast<std::uint32_t>(basis.instances.size());
        auto const done = co_await resharder_.shard(*here_.view, std::move(basis));
        // A conflict means that something has changed, of which the view will tell; so does a lost connection.
        if (!done && (is_conflict(done.error().code) || is_transient(done.error()))) co_return here_.retry_pause;
        if (!done) {
            here_.tell_trouble(done.error());
            co_return trouble_pause;
        }
        here_.env.sink(events::resharded{here_.origin(), done->epoch, done->items, instances, done->moved, done->left});
        co_await see(done->epoch);
        auto const* a = here_.view->assignment_in_force();
        tell_of_left(a && a->epoch() == done->epoch ? a : nullptr, done->left);
    } else if (resharder_.is_asked_for(*here_.view) && here_.view->assignment_in_force()) {
        auto const granted = co_await resharder_.grant(*here_.view, here_.generation);
        if (!granted) co_return here_.retry_pause;
    }
    auto const* in_force = here_.view->assignment_in_force();
    if (resharder_.has_cut_items() && in_force && in_force->items() == count) {
        auto const removed = co_await resharder_.remove_cut_items(here_.generation, count);
        if (!removed) co_return here_.retry_pause;
    }
    // Who asks again within the moment that an answer takes may go unnoticed: the view knows the request by its name only.
    if (in_force && resharder_.is_asked_for(*here_.view)) co_return here_.retry_pause;
    co_return std::nullopt;
}

template <class Environment, sharding_strategy Strategy>
task<void> job_leader<Environment, Strategy>::see(std::uint64_t epoch) {
    for (auto const patience = here_.now() + std::chrono::seconds{1}; here_.now() < patience;) {
        auto const seen = here_.news.edition();
        auto const* a = here_.view->assignment_in_force();
        if (a && a->epoch() >= epoch) co_return;
        co_await here_.news.newer_than(seen, patience);
    }
}

template <class Environment, sharding_strategy Strategy>
task<void> job_leader<Environment, Strategy>::begin_to_follow(bool does_lead) {
    follower_.reset();
    if (!does_lead) co_return;
    typename follower::basis basis{here_.generation, here_.at};
    if (auto const* followed = rules_.followed()) basis.followed = *followed;
    if (auto const* schedule = here_.view->schedule()) {
        basis.schedule_version = schedule->stat.version;
        basis.since = wall_time{std::chrono::milliseconds{schedule->stat.modified_at_ms}};
    }
    if (!basis.followed) { // most jobs never did
        auto const left = co_await here_.registry.exists(here_.at.after());
        if (left && !*left) co_return;
    }
    follower_ = std::make_unique<follower>(here_.registry, std::move(basis), teller{&here_});
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_JOB_LEADER_HPP
