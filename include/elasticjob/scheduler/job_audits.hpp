// SPDX-License-Identifier: Apache-2.0
/// \file \brief The leader's checks of the registry, which do not depend on watches.
#ifndef ELASTICJOB_SCHEDULER_JOB_AUDITS_HPP
#define ELASTICJOB_SCHEDULER_JOB_AUDITS_HPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/membership/old_servers.hpp>
#include <elasticjob/registry/read_all.hpp>
#include <elasticjob/scheduler/job_context.hpp>
#include <elasticjob/scheduler/job_rules.hpp>
#include <elasticjob/sharding/resharder.hpp>

#include <chrono>
#include <utility>

namespace elasticjob::detail {

/// RC-1, D-26: the leader checks the registry at the job's interval; the first time one interval after its election, or
/// soon after it beside Java members. Threads: the loop's.
template <class Environment>
class job_audits {
public:
    /// All three must outlive this object.
    job_audits(job_context<Environment>& context, job_rules<Environment> const& rules,
               resharder<typename Environment::registry_type>& sharded)
        : context_{context},
          rules_{rules},
          resharder_{sharded} {}

    /// A term of this instance as leader begins, or has ended.
    void begin_term(bool does_lead);

    /// Checks if it is time. False if the check failed and must be repeated.
    task<bool> keep();

    /// The time of the next check.
    mono_time next() const;

    /// A Java member that led before does not notice for a while that it no longer leads, and removes owners that this
    /// leader has written. So in a job with Java members an audit also follows the last election or sharding.
    void soon_beside_java();

private:
    /// SV-6: removes nodes of machines that are gone from `servers`. Does nothing while a Java member is registered,
    /// because it requests a sharding after each change there. A refused removal is tried again later. Errors: those of
    /// the registry.
    task<result<void>> remove_old_servers();

    static constexpr std::chrono::seconds java_pause{10};

    job_context<Environment>& context_;
    job_rules<Environment> const& rules_;
    resharder<typename Environment::registry_type>& resharder_;
    old_servers old_servers_;
    mono_time last_{}; ///< or when the term began
    mono_time beside_java_ = mono_time::max();
    bool had_failover_ = false;
};

template <class Environment>
void job_audits<Environment>::begin_term(bool does_lead) {
    last_ = context_.now();
    beside_java_ = mono_time::max();
    if (does_lead) soon_beside_java();
}

template <class Environment>
task<bool> job_audits<Environment>::keep() {
    bool const has_failover = rules_.config().failover;
    bool const is_due = context_.now() >= next();
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
    last_ = context_.now();
    beside_java_ = mono_time::max();
    co_return true;
}

template <class Environment>
mono_time job_audits<Environment>::next() const {
    std::chrono::minutes const asked{rules_.config().reconcile_interval_minutes}; // Java accepts any number
    auto const interval = std::min<std::chrono::minutes>(asked, span_max);
    return interval.count() < 1 ? beside_java_ : std::min(last_ + interval, beside_java_);
}

template <class Environment>
void job_audits<Environment>::soon_beside_java() {
    if (context_.view->has_java_members()) beside_java_ = context_.now() + java_pause;
}

template <class Environment>
task<result<void>> job_audits<Environment>::remove_old_servers() {
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

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_JOB_AUDITS_HPP
