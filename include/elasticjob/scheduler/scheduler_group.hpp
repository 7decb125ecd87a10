// SPDX-License-Identifier: Apache-2.0
/// \file \brief `scheduler_group`: runs more jobs in one process than one session has room for.
#ifndef ELASTICJOB_SCHEDULER_SCHEDULER_GROUP_HPP
#define ELASTICJOB_SCHEDULER_SCHEDULER_GROUP_HPP

#include <elasticjob/core/algorithm.hpp> // sort
#include <elasticjob/core/block_on.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/scheduler/job_scheduler.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace elasticjob {

/// A registry whose sessions have a budget, such as ZkRegistry. `budget_used` is the spent part of it, from 0 to 1.
/// Threads: the loop's.
template <class R>
concept budgeted_registry = registry<R> && requires(R const& r) {
    { r.budget_used() }
    noexcept->std::same_as<double>;
};

/// Spreads jobs over as many sessions as they need. Each session has a scheduler of its own:
///
///     using scheduler = job_scheduler<ZkRegistry, AverageAllocation, SimpleExecutor, SharedPool<ThreadPool>>;
///     scheduler_group group{[&] { return ZkRegistry::connect(options); },
///                           [&](ZkRegistry& r) { return scheduler{r, {}, SharedPool{pool}}; }};
///     auto job = group.schedule(config, body);
///
/// `Connect` returns a `result` of a registry. The registries may share a loop (`zk_options::loop`), and the schedulers
/// a pool; otherwise each session adds threads. All registries must have the same name space. `Make` gets a registry
/// and returns a scheduler for it.
///
/// A job stays in the session in which it has started, with all its watches and ephemeral nodes. It starts in the first
/// session of which less than `fill_up_to` is spent. The rest is left to the jobs in it, because each further server of
/// a job takes a watch, and each running item an ephemeral node. If there is no such session, another one is connected.
/// A session stays connected when its jobs have left, and takes others. A `job_catalog` can start its jobs in a group.
///
/// The group must outlive its handles. Handles and sessions end one after another. For many jobs, call `leave_all`
/// before: then 64 jobs of each session leave at a time.
/// Threads: any but a loop's, several at once.
template <std::invocable Connect, class Make>
class scheduler_group {
    using registry_type = typename std::invoke_result_t<Connect&>::value_type;
    using scheduler_type = std::invoke_result_t<Make&, registry_type&>;
    static_assert(budgeted_registry<registry_type>);

    struct member {
        member(registry_type r, Make& make) : registry{std::move(r)}, scheduler(make(registry)) {}
        registry_type registry;
        scheduler_type scheduler;
        std::atomic<int> starting{0};
    };

public:
    using handle = typename scheduler_type::handle;

    static constexpr double fill_up_to_default = 0.5;

    /// Connects nothing yet. `fill_up_to` is more than 0 and at most 1; other values count as the default.
    explicit scheduler_group(Connect connect, Make make, double fill_up_to = fill_up_to_default)
        : connect_(std::move(connect)),
          make_(std::move(make)),
          fill_up_to_{fill_up_to > 0 && fill_up_to <= 1 ? fill_up_to : fill_up_to_default} {}
    scheduler_group(scheduler_group const&) = delete;
    scheduler_group& operator=(scheduler_group const&) = delete;

    /// As `job_scheduler::schedule`. Errors: also those of `Connect`.
    template <class Body>
    [[nodiscard]] result<handle> schedule(job_config config, Body body) {
        ELASTICJOB_TRY(auto const here, reserve());
        return here.scheduler().schedule(std::move(config), std::move(body));
    }

    /// The place for one more job in a session. The job counts as starting there while this object lives.
    class place {
    public:
        place(place&& other) noexcept : member_{std::exchange(other.member_, nullptr)} {}
        place& operator=(place&&) = delete;
        ~place() {
            if (member_) --member_->starting; // without the mutex: this may be the loop, for which `reserve` waits
        }

        scheduler_type& scheduler() const noexcept { return member_->scheduler; }

    private:
        friend scheduler_group;
        explicit place(member& m) noexcept : member_{&m} { ++m.starting; }

        member* member_;
    };

    /// A place in the first session that has room. If there is none, it connects another session, which takes as long
    /// as `Connect` takes. Errors: those of `Connect`.
    [[nodiscard]] result<place> reserve() {
        std::lock_guard const lock{mutex_};
        for (auto const& m : members_) {
            ELASTICJOB_TRY(auto const spent, block_on(m->registry.loop(), used(m->registry)));
            if (spent + start_share * m->starting < fill_up_to_) return place{*m};
        }
        ELASTICJOB_TRY(auto connection, connect_());
        members_.push_back(std::make_unique<member>(std::move(connection), make_));
        return place{*members_.back()};
    }

    /// The jobs of all sessions, sorted by name. Errors: as `job_scheduler::jobs`.
    result<std::vector<job_status>> jobs() {
        std::vector<job_status> all;
        for (auto* m : members()) {
            ELASTICJOB_TRY(auto some, m->scheduler.jobs());
            for (auto& job : some) all.push_back(std::move(job));
        }
        std::sort(all.begin(), all.end(), [](job_status const& a, job_status const& b) { return a.job < b.job; });
        return all;
    }

    /// As the functions of the same names of `job_scheduler`, for the jobs of all sessions.
    result<void> pause_all() { return each(&scheduler_type::pause_all); }
    result<void> resume_all() { return each(&scheduler_type::resume_all); }
    result<void> disable_all() { return each(&scheduler_type::disable_all); }
    result<void> enable_all() { return each(&scheduler_type::enable_all); }

    /// Makes all jobs leave in order, in all sessions at the same time, and does not wait for them: see
    /// `job_scheduler::leave_all`. If `schedule` is connecting another session, this waits for the end of that attempt,
    /// as the other functions do.
    void leave_all() {
        for (auto* m : members()) m->scheduler.leave_all();
    }

    /// The number of sessions.
    std::size_t sessions() { return members().size(); }

private:
    /// The budget that a job may take while it starts, as a part of it: it is not spent yet.
    static constexpr double start_share = 0.01;

    static task<result<double>> used(registry_type const& r) { co_return r.budget_used(); }

    std::vector<member*> members() {
        std::lock_guard const lock{mutex_};
        std::vector<member*> all;
        for (auto const& m : members_) all.push_back(m.get());
        return all;
    }

    /// Calls it for all schedulers. Returns the first error.
    result<void> each(result<void> (scheduler_type::*function)()) {
        result<void> outcome = success();
        for (auto* m : members()) {
            auto done = (m->scheduler.*function)();
            if (!done && outcome) outcome = std::move(done);
        }
        return outcome;
    }

    Connect connect_;
    Make make_;
    double const fill_up_to_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<member>> members_; ///< guarded by the mutex; a member stays where it is
};

} // namespace elasticjob
#endif // ELASTICJOB_SCHEDULER_SCHEDULER_GROUP_HPP
