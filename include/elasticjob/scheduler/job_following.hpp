// SPDX-License-Identifier: Apache-2.0
/// \file \brief The leader's part in the schedule of a job that follows another one.
#ifndef ELASTICJOB_SCHEDULER_JOB_FOLLOWING_HPP
#define ELASTICJOB_SCHEDULER_JOB_FOLLOWING_HPP

#include <elasticjob/core/hash.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/core/reactions.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/execution/round_follower.hpp>
#include <elasticjob/scheduler/job_context.hpp>
#include <elasticjob/scheduler/job_rules.hpp>

#include <chrono>
#include <cstdint>
#include <utility>

namespace elasticjob::detail {

/// While this instance leads: makes the job due when rounds of the followed job are over, and removes that schedule if
/// the job follows none. Threads: the loop's.
template <class Environment>
class job_following {
    struct teller;
    using follower = round_follower<typename Environment::registry_type, teller>;

public:
    /// Both must outlive this object.
    job_following(job_context<Environment>& context, job_rules<Environment> const& rules)
        : context_{context},
          rules_{rules} {}

    /// Starts, restarts or ends the follower. `is_first_term`: the job has had no other leader.
    next_step keep(bool does_lead, bool is_first_term);

    void stop() noexcept { follower_.reset(); }

private:
    /// `is_new_job`: the job has followed no other job yet.
    task<mono_time> begin(bool does_lead, bool is_new_job);

    /// The facts that determine the follower.
    struct facts {
        bool leads = false;
        session_generation generation{};
        revision written = 0;   ///< the schedule
        std::uint64_t what = 0; ///< a hash of its part about the followed job
        friend bool operator==(facts const&, facts const&) = default;
    };
    struct teller {
        job_context<Environment>* context;
        void operator()(error const& e) const { context->tell_trouble(e); }
    };

    job_context<Environment>& context_;
    job_rules<Environment> const& rules_;
    std::unique_ptr<follower> follower_; ///< while this instance leads
    facts present_;                      ///< of `follower_`
};

template <class Environment>
next_step job_following<Environment>::keep(bool does_lead, bool is_first_term) {
    facts wanted;
    wanted.leads = does_lead;
    wanted.generation = context_.generation;
    if (auto const* schedule = context_.view->schedule()) wanted.written = schedule->stat.modified;
    if (auto const* followed = rules_.followed()) wanted.what = fnv_1a(followed_text(*followed));
    if (wanted == present_) return {};
    bool const is_new_job = !present_.leads && is_first_term;
    present_ = wanted;
    return begin(does_lead, is_new_job);
}

template <class Environment>
task<mono_time> job_following<Environment>::begin(bool does_lead, bool is_new_job) {
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
#endif // ELASTICJOB_SCHEDULER_JOB_FOLLOWING_HPP
