// SPDX-License-Identifier: Apache-2.0
/// \file \brief `scheduler_group`: runs more jobs in one process than one session has room for.
#ifndef ELASTICJOB_SCHEDULER_SCHEDULER_GROUP_HPP
#define ELASTICJOB_SCHEDULER_SCHEDULER_GROUP_HPP

#include <elasticjob/core/algorithm.hpp> // sort
#include <elasticjob/core/block_on.hpp>
#include <elasticjob/core/guarded_call.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/scheduler/job_scheduler.hpp>

#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <set>
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
/// One session at a time is connected; meanwhile jobs start in the other sessions if these get room. A session stays
/// connected when its jobs have left, and takes others. A `job_catalog` can start its jobs in a group.
///
/// The group must outlive its handles. Handles and sessions end one after another. For many jobs, call `leave_all`
/// before: then 64 jobs of each session leave at a time.
/// Threads: any but a loop's, several at once.
template <class Connect, class Make> // unconstrained for clang++ 16, which rejects constraints of a befriended template
class scheduler_group {
    static_assert(std::invocable<Connect&>, "Connect is called without arguments, and returns a result of a registry");
    using registry_type = typename std::invoke_result_t<Connect&>::value_type;
    using scheduler_type = std::invoke_result_t<Make&, registry_type&>;
    static_assert(budgeted_registry<registry_type>);

    struct member {
        member(registry_type r, Make& make) : registry{std::move(r)}, scheduler(make(registry)) {}
        registry_type registry;
        scheduler_type scheduler;
        int starting = 0; ///< the number of jobs that are being started in it; guarded by the group's mutex
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

    /// As `job_scheduler::schedule`; no two sessions run a job of the same name. Errors: also those of `reserve`.
    template <class Body>
    [[nodiscard]] result<handle> schedule(job_config config, Body body) {
        ELASTICJOB_TRY(auto const here, reserve(config.name));
        return here.scheduler().schedule(std::move(config), std::move(body));
    }

    /// The place for one more job in a session. While this object lives, the job counts as being started: it takes room
    /// there, and no other place has its name. Threads: any.
    class place {
    public:
        place(place&& other) noexcept
            : group_{std::exchange(other.group_, nullptr)},
              job_{other.job_},
              member_{other.member_} {}
        place& operator=(place&&) = delete;
        ~place() {
            if (group_) group_->release(*this);
        }

        scheduler_type& scheduler() const noexcept { return member_->scheduler; }

        /// Errors: invalid_argument if the session does not use this loop.
        template <loop Loop>
        result<void> check_loop(Loop const& l) const {
            return scheduler_group::check_loop(*member_, l);
        }

    private:
        friend scheduler_group;
        place(scheduler_group& g, std::set<std::string>::const_iterator job) noexcept : group_{&g}, job_{job} {}

        scheduler_group* group_;
        std::set<std::string>::const_iterator job_; ///< its name among the jobs that are being started
        member* member_ = nullptr;                  ///< null while the group looks for room
    };

    /// A place in the first session that has room. If there is none, another session is connected, which takes as long
    /// as `Connect` takes. A call that finds another call connecting waits for it, and shares its error. Errors:
    /// job_conflict if the group runs the job or is starting it; job_threw with an exception of `Connect` or `Make`;
    /// those of `Connect`. Threads: any but a loop's.
    [[nodiscard]] result<place> reserve(std::string const& job) {
        ELASTICJOB_TRY(auto p, claim(job));
        while (!p.member_) {
            auto const attempts = ended_attempts();
            for (auto* m : members()) {
                ELASTICJOB_CHECK(block_on(m->registry.loop(), ask(*m, p)));
            }
            if (!p.member_) {
                ELASTICJOB_CHECK(connect_another(attempts, p));
            }
        }
        return p;
    }

    /// The same without waiting and without another session: nothing if no session has room. Errors: job_conflict;
    /// invalid_argument if a session does not use this loop: another thread may have connected it just now. Threads:
    /// the loop's.
    template <loop Loop>
    [[nodiscard]] result<std::optional<place>> reserve_here(std::string const& job, Loop const& l) {
        ELASTICJOB_TRY(auto p, claim(job));
        for (auto* m : members()) {
            ELASTICJOB_CHECK(check_loop(*m, l));
            ELASTICJOB_CHECK(look(*m, p));
        }
        if (!p.member_) return std::optional<place>{};
        return std::optional<place>{std::move(p)};
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
    /// `job_scheduler::leave_all`.
    void leave_all() {
        for (auto* m : members()) m->scheduler.leave_all();
    }

    /// The number of sessions.
    std::size_t sessions() { return members().size(); }

private:
    /// The budget that a job may take while it starts, as a part of it: it is not spent yet.
    static constexpr double start_share = 0.01;

    result<place> claim(std::string const& job) {
        std::lock_guard const lock{mutex_};
        auto const [at, is_new] = starting_.insert(job);
        if (!is_new) return error{errc::job_conflict, "this group is starting a job of that name already", job};
        return place{*this, at};
    }

    void release(place const& p) {
        std::lock_guard const lock{mutex_};
        starting_.erase(p.job_);
        if (p.member_) --p.member_->starting;
    }

    template <loop Loop>
    static result<void> check_loop(member& m, Loop const& l) {
        if (&m.registry.loop() == &l) return success();
        return error{errc::invalid_argument,
                     "a session of the group has a loop of its own: give each the loop of the catalog's scheduler",
                     "zk_options::loop"};
    }

    task<result<void>> ask(member& m, place& p) { co_return look(m, p); }

    /// Gives the job a place in this session if it has none, and the session has room. Errors: job_conflict if the
    /// session runs the job. Threads: the session's loop.
    result<void> look(member& m, place& p) {
        ELASTICJOB_CHECK(m.scheduler.jobs_.check_is_new(*p.job_));
        std::lock_guard const lock{mutex_};
        if (!p.member_ && m.registry.budget_used() + start_share * m.starting < fill_up_to_) enter(m, p);
        return success();
    }

    /// Precondition: the mutex is locked.
    static void enter(member& m, place& p) noexcept {
        p.member_ = &m;
        ++m.starting;
    }

    std::size_t ended_attempts() {
        std::lock_guard const lock{mutex_};
        return ended_attempts_;
    }

    /// Connects another session, and gives the job a place in it. If another thread does so, waits for that attempt,
    /// and shares its error. Does nothing if an attempt has ended since there were `seen`: there may be room now.
    result<void> connect_another(std::size_t seen, place& p) {
        {
            std::unique_lock lock{mutex_};
            if (ended_attempts_ != seen) return success();
            if (is_connecting_) {
                attempt_ended_.wait(lock, [&] { return ended_attempts_ != seen; });
                return last_attempt_;
            }
            is_connecting_ = true;
        }
        std::unique_ptr<member> made;
        auto outcome = detail::guarded_call([&]() -> result<void> {
            ELASTICJOB_TRY(auto connection, connect_());
            made = std::make_unique<member>(std::move(connection), make_);
            return success();
        });
        std::lock_guard const lock{mutex_};
        if (made) {
            enter(*made, p);
            members_.push_back(std::move(made));
        }
        is_connecting_ = false;
        ++ended_attempts_;
        last_attempt_ = outcome;
        attempt_ended_.notify_all();
        return outcome;
    }

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
    std::mutex mutex_; ///< guards all of the following; nothing waits for a loop or a server while it is locked
    std::vector<std::unique_ptr<member>> members_; ///< a member stays where it is
    std::set<std::string> starting_;               ///< the names of the jobs that have a place, or look for one
    bool is_connecting_ = false;
    std::size_t ended_attempts_ = 0; ///< to connect a session
    result<void> last_attempt_ = success();
    std::condition_variable attempt_ended_;
};

} // namespace elasticjob
#endif // ELASTICJOB_SCHEDULER_SCHEDULER_GROUP_HPP
