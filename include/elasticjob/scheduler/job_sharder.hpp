// SPDX-License-Identifier: Apache-2.0
/// \file \brief The leader's work on the assignment of its job.
#ifndef ELASTICJOB_SCHEDULER_JOB_SHARDER_HPP
#define ELASTICJOB_SCHEDULER_JOB_SHARDER_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/events/event.hpp>
#include <elasticjob/execution/lasting_failure.hpp>
#include <elasticjob/execution/lost_java_runs.hpp>
#include <elasticjob/registry/retry_pauses.hpp>
#include <elasticjob/registry/transaction.hpp>
#include <elasticjob/scheduler/job_audits.hpp>
#include <elasticjob/scheduler/job_context.hpp>
#include <elasticjob/scheduler/job_rules.hpp>
#include <elasticjob/scheduler/stand_in_remover.hpp>
#include <elasticjob/sharding/resharder.hpp>
#include <elasticjob/sharding/strategy_name.hpp>
#include <elasticjob/sharding/traits_view.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace elasticjob::detail {

/// While this instance leads: keeps the assignment up to date (SH-1). Threads: the loop's.
template <class Environment>
class job_sharder {
    using Registry = typename Environment::registry_type;

public:
    /// All five must outlive this object.
    job_sharder(job_context<Environment>& context, job_rules<Environment> const& rules, resharder<Registry>& sharded,
                stand_in_remover<Environment>& stand_ins, job_audits<Environment>& audits)
        : context_{context},
          rules_{rules},
          resharder_{sharded},
          stand_ins_{stand_ins},
          audits_{audits} {}

    /// Adds the first assignment to the transaction that creates the job. Returns whether it has: not if the strategy
    /// fails or uses traits, or the transaction has no room.
    bool begin_job(transaction& t, job_config const& config);

    /// Forgets the assignment that `begin_job` has added, because the registry has refused that transaction.
    void forget_begin() noexcept { first_.reset(); }

    /// The text of that assignment, which is forgotten; empty if there is none.
    std::string take_first_assignment() { return first_ ? std::exchange(first_->text, {}) : std::string{}; }

    /// A term of this instance as leader begins, or has ended. `is_first`: by the transaction that created the job.
    void begin_term(bool does_lead, bool is_first);

    /// Shards if the assignment is outdated, grants requests, and removes the nodes of items that the job no longer
    /// has. Returns nothing if there is nothing to do; otherwise the pause before the next check.
    task<std::optional<std::chrono::milliseconds>> keep();

private:
    struct first_sharding {
        sharding_report report;
        std::string text; ///< of the assignment
    };

    /// Uses only instances that have been checked (EL-8). Errors: those of traits_view.
    result<sharding_basis> current_basis() const;

    /// Whether everything that a sharding needs has been read. `news` is notified when it has.
    bool knows_servers_and_traits();

    /// The pause after a failed request, see `job_context::after_failure`. The view may have been out of date.
    std::chrono::milliseconds after_failure(error const& why) {
        context_.view->follow_shardings();
        return context_.after_failure(failed_, why);
    }

    /// Waits until no change has come for a moment, within a limit, because one change causes several notifications,
    /// and a deployment many changes.
    task<void> debounce();

    /// Shards, and reports it. Returns nothing once the view shows the new assignment; otherwise as `keep`.
    task<std::optional<std::chrono::milliseconds>> reshard(sharding_basis basis);
    void tell_resharded(sharding_report const& done, std::size_t instances) const;

    /// Waits until the view shows our last write, because a decision before that would rest on outdated data.
    task<void> see(std::uint64_t epoch);

    static constexpr std::chrono::milliseconds debounce_span{3};
    static constexpr std::chrono::milliseconds debounce_max{50};

    job_context<Environment>& context_;
    job_rules<Environment> const& rules_;
    resharder<Registry>& resharder_;
    stand_in_remover<Environment>& stand_ins_;
    job_audits<Environment>& audits_;
    std::unique_ptr<traits_view<Registry>> traits_; ///< while this instance leads, if the strategy uses traits
    std::optional<first_sharding> first_;           ///< what `begin_job` has added, until it is reported
    lasting_failure failed_{};
};

template <class Environment>
bool job_sharder<Environment>::begin_job(transaction& t, job_config const& config) {
    if (context_.env.strategy.uses_traits()) return false;
    auto const& limits = context_.registry.limits();
    auto const count = static_cast<std::uint32_t>(config.sharding_total_count);
    auto const least = operation{operation::kind::create, context_.at.item(0)}.bytes();
    if (!t.has_room(limits, std::size_t{2} * count, std::size_t{2} * count * least)) return false;
    sharding_basis basis{t.generation(), context_.name.str(), count, 0, {context_.self}};
    basis.strategy = strategy_name_of(config);
    auto const plan = resharder_.first_plan(basis);
    if (!plan || plan->transactions.size() != 1) return false;
    auto const& first = plan->transactions.front();
    if (!t.has_room(limits, first.size(), first.bytes())) return false;
    first_ = first_sharding{plan->report, {}};
    for (auto const& o : first.operations()) {
        if (o.what != operation::kind::check) t.add(o); // the same transaction creates what they check
        if (o.what == operation::kind::create && o.path == context_.at.assignment()) first_->text = o.data;
    }
    return true;
}

template <class Environment>
void job_sharder<Environment>::begin_term(bool does_lead, bool is_first) {
    auto const first = std::exchange(first_, std::nullopt);
    if (does_lead && !is_first)
        resharder_.suspect_cut_items();
    else if (does_lead && first)
        tell_resharded(first->report, 1);
    traits_.reset();
    if (does_lead && context_.env.strategy.uses_traits())
        traits_ = std::make_unique<traits_view<Registry>>(context_.registry, context_.at, context_.news);
    failed_.end();
}

template <class Environment>
task<std::optional<std::chrono::milliseconds>> job_sharder<Environment>::keep() {
    if (!context_.view->config() || !knows_servers_and_traits()) co_return std::nullopt; // being removed; being read
    bool const has_looked = co_await stand_ins_.check_new_instances();
    if (!has_looked) co_return retry_pause;
    auto first_look = current_basis();
    if (!first_look) co_return after_failure(first_look.error());
    if (resharder_.is_outdated(*context_.view, *first_look)) co_await debounce();
    bool const has_looked_again = co_await stand_ins_.check_new_instances();
    if (!has_looked_again || !context_.view->config() || !context_.is_leader() || !knows_servers_and_traits())
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
    failed_.end();
    // A second request during the answer may go unnoticed, because the view knows requests only by name.
    if (in_force && context_.view->sharding_is_requested()) co_return retry_pause;
    co_return std::nullopt;
}

template <class Environment>
result<sharding_basis> job_sharder<Environment>::current_basis() const {
    auto const count = rules_.item_count();
    sharding_basis basis{context_.generation, context_.name.str(), count, rules_.version(),
                         context_.view->available_instances()};
    basis.strategy = strategy_name_of(rules_.config());
    stand_ins_.keep_live(basis.instances);
    if (traits_) {
        ELASTICJOB_TRY(basis.traits, traits_->traits_of(basis.instances, count));
    }
    return basis;
}

template <class Environment>
bool job_sharder<Environment>::knows_servers_and_traits() {
    if (!context_.view->knows_servers()) return false;
    if (!traits_) return true;
    auto const failure = traits_->failure();
    if (failure && failed_.is_news(*failure)) context_.tell_trouble(*failure);
    return traits_->is_loaded() && !failure;
}

template <class Environment>
task<void> job_sharder<Environment>::debounce() {
    for (auto const deadline = context_.now() + debounce_max; context_.now() < deadline;) {
        auto const seen = context_.news.edition();
        if (!co_await context_.news.newer_than(seen, context_.now() + debounce_span)) co_return;
    }
}

template <class Environment>
task<std::optional<std::chrono::milliseconds>> job_sharder<Environment>::reshard(sharding_basis basis) {
    context_.view->follow_shardings();
    if (!context_.view->has_read_sharding()) co_return retry_pause; // the founder's first change
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
    audits_.soon_beside_java();
    tell_resharded(*done, instances);
    co_await see(done->epoch);
    auto const* a = context_.view->assignment_in_force();
    bool const is_shown = a && a->epoch() == done->epoch;
    if (done->left != 0) context_.tell_trouble(unowned_items(context_.at, done->left, is_shown ? a : nullptr));
    co_return std::nullopt;
}

template <class Environment>
void job_sharder<Environment>::tell_resharded(sharding_report const& done, std::size_t instances) const {
    context_.env.sink(events::resharded{context_.origin(), done.epoch, done.items,
                                        static_cast<std::uint32_t>(instances), done.moved, done.left});
}

template <class Environment>
task<void> job_sharder<Environment>::see(std::uint64_t epoch) {
    for (auto const deadline = context_.now() + std::chrono::seconds{1}; context_.now() < deadline;) {
        auto const seen = context_.news.edition();
        auto const* a = context_.view->assignment_in_force();
        if (a && a->epoch() >= epoch) co_return;
        co_await context_.news.newer_than(seen, deadline);
    }
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_JOB_SHARDER_HPP
