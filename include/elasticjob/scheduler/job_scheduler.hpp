// SPDX-License-Identifier: Apache-2.0
/// \file \brief `job_scheduler`: combines the policies, and starts and ends jobs.
#ifndef ELASTICJOB_SCHEDULER_JOB_SCHEDULER_HPP
#define ELASTICJOB_SCHEDULER_JOB_SCHEDULER_HPP

#include <elasticjob/allocation/average.hpp>
#include <elasticjob/core/algorithm.hpp> // min
#include <elasticjob/core/block_on.hpp>
#include <elasticjob/core/gather.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/events/guarded_sink.hpp>
#include <elasticjob/membership/server_ip.hpp>
#include <elasticjob/scheduler/job.hpp>
#include <elasticjob/scheduler/policies.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace elasticjob {

template <class Scheduler, class Group>
class job_catalog;

/// Runs jobs on one instance: any number of them, with bodies of any type.
///
/// | parameter  | concept             | says                                                                   |
/// |------------|---------------------|------------------------------------------------------------------------|
/// | `Registry` | `registry`          | where instances find each other: ZkRegistry, MemoryRegistry            |
/// | `Strategy` | `sharding_strategy` | the owner of each item: AverageAllocation, …                           |
/// | `Executor` | `executor`          | how a body is called: SimpleExecutor, CoroutineExecutor, …             |
/// | `Policies` | any order           | worker_pool (ThreadPool) · event_sink (LogEvents) · time_zone          |
/// |            |                     | (SystemZone) · lease_guard (NoDeadManTimer) · Listeners (none) ·       |
/// |            |                     | ErrorHandlers (none); in parentheses, what is there if nothing is given |
///
/// The registry must outlive the scheduler, and the scheduler its handles. Several schedulers may share one registry
/// and its loop, and also a pool through SharedPool.
/// Threads: any thread except the loop's, except for functions whose names begin with `async_`.
template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
class job_scheduler {
    static_assert((detail::checked_policy<Policies>::value && ...));

    using pool_type = detail::policy_for<detail::pool_slot, Policies...>;
    using sink_type = detail::policy_for<detail::sink_slot, Policies...>;
    using zone_type = detail::policy_for<detail::zone_slot, Policies...>;
    using guard_type = detail::policy_for<detail::guard_slot, Policies...>;
    using listeners_type = detail::policy_for<detail::listeners_slot, Policies...>;
    using error_handlers_type = detail::policy_for<detail::error_handlers_slot, Policies...>;
    using environment = detail::environment_for<Registry, Policies...>;
    using body_type = detail::job_body<typename Registry::loop_type>;
    using job_type_of = detail::job<environment>;
    static constexpr auto strategy = detail::strategy_ref::of<Strategy>();
    using registry_type = Registry;
    using executor_type = Executor;

    template <class Scheduler, class Group>
    friend class job_catalog;

public:
    class handle;

    /// Policies are given in the order of the template's pack. Missing ones are default-constructed. Throws
    /// std::system_error if the pool cannot start its threads.
    explicit job_scheduler(Registry& r, scheduler_options options = {},
                           Policies... policies) requires std::default_initializable<Executor>;
    /// With an executor that has state. Each job gets a copy of it.
    job_scheduler(Registry& r, scheduler_options options, Executor executor, Policies... policies);
    job_scheduler(job_scheduler const&) = delete;
    job_scheduler& operator=(job_scheduler const&) = delete;

    /// All jobs leave in order, at the same time: see `handle::shutdown`.
    ~job_scheduler();

    /// Registers a job and runs it. The body is called for each item separately, on several threads at once, or on the
    /// loop if it is a coroutine. The configuration is validated before anything is written, and the registration is
    /// atomic. If a compiler cannot convert the braces to `job_config`, write `job_config{...}`: then it names the
    /// wrong field. Keep the handle, because its destructor ends the job. Errors: those of `validate`, with all
    /// problems at once; invalid_argument for wrong options; job_conflict; unknown_strategy; unreachable if the
    /// registry does not answer within `start_timeout`; no_auth.
    template <class Body>
    requires any_body_for<Body, Executor, typename Registry::loop_type>
    [[nodiscard]] result<handle> schedule(job_config config, Body body) {
        return add(std::move(config), body_type::make(executor_, std::move(body)));
    }

    /// The same for coroutines on the registry's loop. It blocks the loop only while it validates the configuration.
    /// Threads: the loop's: `co_await` it there, or pass it to `start_on` (core/start_on.hpp).
    template <class Body>
    requires any_body_for<Body, Executor, typename Registry::loop_type>
    [[nodiscard]] task<result<handle>> async_schedule(job_config config, Body body) {
        return add_here(std::move(config), body_type::make(executor_, std::move(body)));
    }

    /// All jobs of this scheduler, sorted by name, including those that are joining or leaving. Errors: wrong_thread on
    /// the loop.
    result<std::vector<job_status>> jobs();

    /// Pauses this server in all its jobs, as `handle::pause` does in one. Errors: the first error of the registry (the
    /// other jobs are paused all the same); wrong_thread on the loop.
    result<void> pause_all();

    /// Ends these pauses. Errors: as `pause_all`.
    result<void> resume_all();

    /// Disables this server in all its jobs, as `handle::disable` does in one. Errors: as `pause_all`.
    result<void> disable_all();

    /// Enables this server again in all its jobs. Errors: as `pause_all`.
    result<void> enable_all();

    /// Makes all jobs leave in order, at most 64 at a time, and returns at once. A handle's `shutdown` and destructor
    /// then wait for what is left to do. So a process with many jobs ends in a fraction of the time.
    void leave_all();

    /// Not for use: makes the compiler say why the executor cannot run this body.
    template <class Body>
    requires(!any_body_for<Body, Executor, typename Registry::loop_type>) result<handle> schedule(job_config, Body) {
        detail::check_body<Body, Executor, typename Registry::loop_type>();
        return error{errc::invalid_argument, "the executor cannot run this body"};
    }

private:
    template <class T>
    static constexpr bool is_given = (std::is_same_v<T, Policies> || ...);

    /// The policy from the constructor, or a new one.
    template <class Policy, class... Args>
    Policy take(Args const&... args) {
        if constexpr (is_given<Policy>)
            return std::get<Policy>(std::move(given_));
        else
            return Policy{args...};
    }
    result<zone_type> take_zone();
    static std::uint64_t seed_of(scheduler_options const& options);

    result<handle> add(job_config config, body_type body);
    task<result<handle>> add_here(job_config config, body_type body);

    /// Calls a member of each job that is not leaving.
    using job_switch = task<result<void>> (job_type_of::*)(bool);
    result<void> switch_all(job_switch member, bool on);
    task<result<void>> switch_all_here(job_switch member, bool on);
    task<result<std::vector<job_status>>> list_jobs();

    /// Calls `function(job)`, which returns a task, on the loop. Errors: closed if there is no such job; wrong_thread
    /// if the job waits for `who`; those of the task.
    template <class F>
    static task<result<void>> call(job_scheduler* owner, std::string name, std::thread::id who, F function);

    /// The configuration for the registry: with the name of the compiled-in strategy if that is not the default.
    result<valid_config> prepare(job_config config) const;

    /// The problems of a configuration that depend on this scheduler's zones and strategy.
    std::vector<error> problems_here(job_config const& config) const;

    result<void> check_options() const;

    instance_id make_id();

    /// `is_own`: the configuration is the caller's, not one that was read from the registry.
    task<result<void>> begin(valid_config local, body_type body, bool is_own);

    /// Asks runs with a lapsed lease to stop.
    task<void> watch_lease();

    /// If it is called several times at once, each call waits for the end. Errors: wrong_thread if the job waits for
    /// the caller.
    task<result<void>> end(std::string name, std::thread::id caller = {});

    task<void> leave_in_groups();

    /// Makes the job leave, without waiting.
    void abandon(std::string name);
    task<void> forget(std::string name);

    static error awaits_itself(std::string const& name);

    task<result<void>> shut_down_all();

    Registry& registry_;
    scheduler_options options_;
    [[no_unique_address]] Executor executor_;
    random_source random_;
    std::tuple<Policies...> given_;
    pool_type pool_;
    detail::guarded_sink<sink_type> sink_;
    result<zone_type> zone_;
    listeners_type listeners_;
    error_handlers_type error_handlers_;
    std::optional<environment> environment_;                   ///< on the loop; set by the first job
    std::map<std::string, std::shared_ptr<job_type_of>> jobs_; ///< on the loop; shared with the calls that use them
    task_scope abandoned_;                                     ///< on the loop
    std::optional<typename environment::lease_type> lease_;    ///< on the loop
    std::optional<joint_commits<Registry>> commits_;           ///< on the loop
    task_scope lease_watch_;                                   ///< on the loop
};

/// One job on this instance. The destructor shuts the job down. Move assignment swaps two handles, so the job ends with
/// the other one. Movable. Threads: any but the loop's, several at once, except moves. If a handle is destroyed on the
/// loop, or in a body or a hook of its job, the destructor cannot wait, but the job leaves all the same.
template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
class job_scheduler<Registry, Strategy, Executor, Policies...>::handle {
public:
    handle(handle&& other) noexcept;            ///< `other` is then without a job
    handle& operator=(handle&& other) noexcept; ///< swaps the two jobs
    ~handle();

    /// The name of its job.
    std::string const& name() const noexcept { return name_; }

    /// Makes all live instances of the job run their items once, now. An item that is running runs once more
    /// afterwards. Returns when the order is in the registry. Errors: those of the registry; closed after `shutdown`.
    result<void> trigger();

    /// The same for coroutines on the registry's loop. The scheduler must outlive the task; the handle need not.
    /// Threads: the loop's: `co_await` it there, or pass it to `start_on` (core/start_on.hpp).
    task<result<void>> async_trigger();

    /// Replaces `cron` and the other schedules of the job in the registry. They determine the next firing of all
    /// members. Time zone, begin, end, exclusions and jitter do not change. Returns when the change is in the registry.
    /// Errors: those of `validate`, before anything is written; those of the registry; version_conflict if others keep
    /// writing; closed.
    result<void> reschedule(std::string cron, std::vector<job_schedule> schedules = {});

    /// The same for coroutines on the registry's loop, as `async_trigger`.
    task<result<void>> async_reschedule(std::string cron, std::vector<job_schedule> schedules = {});

    /// The job as this instance sees it now: its state, the owned items, their next due instant. Sends no request.
    /// Errors: closed after `shutdown`; wrong_thread on the loop.
    result<job_status> status() const;

    /// Disables this server, with all its instances, for the job: its items go to other servers. Errors: as `trigger`.
    result<void> disable();

    /// Enables this server again. Errors: as `trigger`.
    result<void> enable();

    /// Pauses this server, with all its instances, in the job: its items stay here, and no run of them begins. Live
    /// runs continue, streams end after their round. Orders and retries wait; due instants are skipped, on record as
    /// `paused`. It stays paused when it restarts. Java members on the server do not know pauses. Errors: as `trigger`;
    /// too_large if too many servers of the job are paused.
    result<void> pause();

    /// Ends that pause. Errors: as `trigger`.
    result<void> resume();

    /// Waits for a moment at which no item of this instance runs. Errors: closed after `shutdown`; wrong_thread in a
    /// body or a hook of the job, which would wait for itself.
    result<void> wait_idle();

    /// Begins a `shutdown` and returns at once, so a body, a hook or an event sink may call it. The job leaves when its
    /// runs have ended. Errors: closed after `shutdown`. Threads: any.
    result<void> leave();

    /// Leaves the job in order: starts nothing more, lets runs finish, asks them to stop after the drain time-out,
    /// waits for them, and hands the items over. Further calls wait for the first. Errors: those of the registry,
    /// although the job has ended; wrong_thread on the loop, for example in an event sink, and in a body or a hook of
    /// the job, for which this call would wait. After wrong_thread nothing has changed and the handle keeps the job:
    /// call `leave` there.
    result<void> shutdown();

private:
    friend job_scheduler;
    handle(job_scheduler& s, std::string name) : scheduler_{&s}, name_{std::move(name)} {}

    enum class waiting : bool { no, for_runs };
    template <class F>
    result<void> on_loop(F f, waiting w = waiting::no) const;

    std::atomic<job_scheduler*> scheduler_; ///< null once the job has ended
    std::string name_;
};

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
job_scheduler<Registry, Strategy, Executor, Policies...>::job_scheduler(
    Registry& r, scheduler_options options, Policies... policies) requires std::default_initializable<Executor>
    : job_scheduler(r, std::move(options), Executor{}, std::move(policies)...) {}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
job_scheduler<Registry, Strategy, Executor, Policies...>::job_scheduler(Registry& r, scheduler_options options,
                                                                        Executor executor, Policies... policies)
    : registry_{r},
      options_{std::move(options)},
      executor_(std::move(executor)),
      random_{seed_of(options_)},
      given_{std::move(policies)...},
      pool_(take<pool_type>(options_.pool)),
      sink_(take<sink_type>()),
      zone_(take_zone()),
      listeners_(take<listeners_type>()),
      error_handlers_(take<error_handlers_type>()),
      lease_{std::in_place, r, take<guard_type>()},
      commits_{std::in_place, r} {}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
job_scheduler<Registry, Strategy, Executor, Policies...>::~job_scheduler() {
    (void)block_on(registry_.loop(), shut_down_all());
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
auto job_scheduler<Registry, Strategy, Executor, Policies...>::take_zone() -> result<zone_type> {
    if constexpr (is_given<zone_type>)
        return std::get<zone_type>(std::move(given_));
    else
        return zone_type::load();
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
auto job_scheduler<Registry, Strategy, Executor, Policies...>::add(job_config config, body_type body)
    -> result<handle> {
    if (!zone_) return zone_.error();
    ELASTICJOB_TRY(auto local, prepare(std::move(config)));
    auto name = local.name().str();
    ELASTICJOB_CHECK(block_on(registry_.loop(), begin(std::move(local), std::move(body), true)));
    return handle{*this, std::move(name)};
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
auto job_scheduler<Registry, Strategy, Executor, Policies...>::add_here(job_config config, body_type body)
    -> task<result<handle>> {
    if (!zone_) co_return zone_.error();
    ELASTICJOB_CO_TRY(auto local, prepare(std::move(config)));
    auto name = local.name().str();
    ELASTICJOB_CO_CHECK(co_await begin(std::move(local), std::move(body), true));
    co_return handle{*this, std::move(name)};
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
result<std::vector<job_status>> job_scheduler<Registry, Strategy, Executor, Policies...>::jobs() {
    return block_on(registry_.loop(), list_jobs());
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
task<result<std::vector<job_status>>> job_scheduler<Registry, Strategy, Executor, Policies...>::list_jobs() {
    std::vector<job_status> all;
    all.reserve(jobs_.size());
    for (auto const& [name, one] : jobs_) all.push_back(one->status());
    co_return all;
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
result<void> job_scheduler<Registry, Strategy, Executor, Policies...>::pause_all() {
    return switch_all(&job_type_of::set_paused, true);
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
result<void> job_scheduler<Registry, Strategy, Executor, Policies...>::resume_all() {
    return switch_all(&job_type_of::set_paused, false);
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
result<void> job_scheduler<Registry, Strategy, Executor, Policies...>::disable_all() {
    return switch_all(&job_type_of::set_enabled, false);
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
result<void> job_scheduler<Registry, Strategy, Executor, Policies...>::enable_all() {
    return switch_all(&job_type_of::set_enabled, true);
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
result<void> job_scheduler<Registry, Strategy, Executor, Policies...>::switch_all(job_switch member, bool on) {
    return block_on(registry_.loop(), switch_all_here(member, on));
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
task<result<void>> job_scheduler<Registry, Strategy, Executor, Policies...>::switch_all_here(job_switch member,
                                                                                             bool on) {
    auto used = jobs_; // keeps the jobs alive during the call
    std::erase_if(used, [](auto const& job) { return job.second->is_leaving(); });
    auto const switch_one = [&](auto const& job) { return (*job.second.*member)(on); };
    auto const outcomes = co_await gather_each(registry_.loop(), used, switch_one);
    for (auto const& outcome : outcomes) {
        ELASTICJOB_CO_CHECK(outcome);
    }
    co_return success();
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
std::uint64_t job_scheduler<Registry, Strategy, Executor, Policies...>::seed_of(scheduler_options const& options) {
    if (options.seed != 0) return options.seed;
    return random_source::machine_seed();
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
result<valid_config> job_scheduler<Registry, Strategy, Executor, Policies...>::prepare(job_config config) const {
    config.type = Executor::type;
    if (config.job_sharding_strategy_class.empty() && !strategy.has_name(AverageAllocation::name))
        config.job_sharding_strategy_class = strategy.name();
    auto found_here = problems_here(config);
    ELASTICJOB_TRY(auto valid, validate(std::move(config), std::move(found_here)));
    ELASTICJOB_CHECK(check_options());
    return valid;
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
std::vector<error>
job_scheduler<Registry, Strategy, Executor, Policies...>::problems_here(job_config const& config) const {
    std::vector<error> problems;
    if (auto const& name = config.time_zone; zone_ && !name.empty() && name.size() <= time_zone_bytes_max)
        if (auto const zone = load_zone(*zone_, name); !zone) problems.push_back(zone.error());
    if (auto const agreed = detail::check_strategy(strategy, config); !agreed) problems.push_back(agreed.error());
    if (!config.item_labels.empty() && !strategy.uses_traits())
        problems.push_back({errc::invalid_config,
                            "the items need labels, but the strategy '" + std::string{strategy.name()} +
                                "' does not look at any: build with LabelAllocation, or drop them",
                            "itemLabels"});
    return problems;
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
result<void> job_scheduler<Registry, Strategy, Executor, Policies...>::check_options() const {
    if (!options_.server_ip.empty() && !is_server_ip(options_.server_ip))
        return error{errc::invalid_argument, "server_ip must be an IPv4 address, by which Java members can know it",
                     options_.server_ip};
    if (!is_label_text(options_.instance_labels))
        return error{errc::invalid_argument, "instance_labels must be words with blanks between them, without commas",
                     options_.instance_labels};
    return success();
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
instance_id job_scheduler<Registry, Strategy, Executor, Policies...>::make_id() {
    return make_instance_id(options_.server_ip.empty() ? find_server_ip() : options_.server_ip, random_);
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
task<result<void>> job_scheduler<Registry, Strategy, Executor, Policies...>::begin(valid_config local, body_type body,
                                                                                   bool is_own) {
    auto const name = local.name().str();
    if (jobs_.contains(name))
        co_return error{errc::job_conflict, "this scheduler runs a job of that name already", name};
    if (!environment_)
        environment_.emplace(environment{registry_, *commits_, detail::pool_ref{pool_}, detail::sink_ref{sink_}, *zone_,
                                         strategy, random_, options_, *lease_, listeners_, error_handlers_});
    if (lease_watch_.empty()) lease_watch_.spawn(watch_lease());
    auto const entry = std::make_shared<job_type_of>(*environment_, std::move(local), make_id(), std::move(body));
    jobs_.emplace(name, entry);
    auto started =
        co_await within(registry_.loop(), registry_.loop().now() + options_.start_timeout, entry->start(is_own));
    if (started) co_return success();
    // If the start fails, its registration is removed again.
    (void)co_await entry->shut_down();
    jobs_.erase(name);
    if (started.error() == errc::timed_out)
        co_return error{errc::unreachable,
                        "the registry did not answer in time (session " +
                            std::string{name_of(registry_.session().state)} + "): is it running and reachable?",
                        name};
    co_return std::move(started).error();
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
task<void> job_scheduler<Registry, Strategy, Executor, Policies...>::watch_lease() {
    for (;;) {
        auto const seen = lease_->lapsed().edition();
        for (auto& [name, one] : jobs_) one->look_at_lease();
        co_await lease_->lapsed().newer_than(seen);
    }
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
task<result<void>> job_scheduler<Registry, Strategy, Executor, Policies...>::end(std::string name,
                                                                                 std::thread::id caller) {
    auto const at = jobs_.find(name);
    if (at == jobs_.end()) co_return success();
    auto const ending = at->second;
    if (ending->is_called_on(caller)) co_return awaits_itself(name);
    auto outcome = co_await ending->shut_down();
    auto const there = jobs_.find(name);
    if (there != jobs_.end() && there->second == ending) jobs_.erase(there);
    co_return outcome;
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
void job_scheduler<Registry, Strategy, Executor, Policies...>::leave_all() {
    post(registry_.loop(), [this] { abandoned_.spawn(leave_in_groups()); });
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
task<void> job_scheduler<Registry, Strategy, Executor, Policies...>::leave_in_groups() {
    constexpr std::size_t group_max = 64;
    std::vector<std::string> names;
    for (auto const& [name, one] : jobs_) names.push_back(name);
    auto const end_one = [&](std::string const& name) { return end(name); };
    while (!names.empty()) {
        auto const first = names.end() - static_cast<std::ptrdiff_t>(std::min(group_max, names.size()));
        std::vector<std::string> const group{first, names.end()};
        names.erase(first, names.end());
        (void)co_await gather_each(registry_.loop(), group, end_one);
    }
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
void job_scheduler<Registry, Strategy, Executor, Policies...>::abandon(std::string name) {
    post(registry_.loop(), [this, name = std::move(name)] { abandoned_.spawn(forget(name)); });
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
task<void> job_scheduler<Registry, Strategy, Executor, Policies...>::forget(std::string name) {
    (void)co_await end(std::move(name));
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
error job_scheduler<Registry, Strategy, Executor, Policies...>::awaits_itself(std::string const& name) {
    return {errc::wrong_thread,
            "this thread runs a body or a hook of the job, and the job would wait for it: call leave(), which does not "
            "wait, or call this on another thread",
            name};
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
task<result<void>> job_scheduler<Registry, Strategy, Executor, Policies...>::shut_down_all() {
    auto const end_one = [&](auto const& job) { return end(job.first); };
    (void)co_await gather_each(registry_.loop(), jobs_, end_one);
    abandoned_.cancel();
    lease_watch_.cancel();
    lease_.reset();
    commits_.reset();
    co_return success();
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
job_scheduler<Registry, Strategy, Executor, Policies...>::handle::handle(handle&& other) noexcept
    : scheduler_{other.scheduler_.exchange(nullptr)},
      name_{std::move(other.name_)} {}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
auto job_scheduler<Registry, Strategy, Executor, Policies...>::handle::operator=(handle&& other) noexcept -> handle& {
    other.scheduler_ = scheduler_.exchange(other.scheduler_);
    std::swap(name_, other.name_);
    return *this;
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
job_scheduler<Registry, Strategy, Executor, Policies...>::handle::~handle() {
    auto const ended = shutdown();
    auto* const s = scheduler_.load();
    if (!ended && s) s->abandon(name_);
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
result<void> job_scheduler<Registry, Strategy, Executor, Policies...>::handle::trigger() {
    return on_loop([](job_type_of& j) { return j.trigger(); });
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
task<result<void>> job_scheduler<Registry, Strategy, Executor, Policies...>::handle::async_trigger() {
    return call(scheduler_.load(), name_, {}, [](job_type_of& j) { return j.trigger(); });
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
result<void>
job_scheduler<Registry, Strategy, Executor, Policies...>::handle::reschedule(std::string cron,
                                                                             std::vector<job_schedule> schedules) {
    return on_loop([cron = std::move(cron), schedules = std::move(schedules)](job_type_of& j) {
        return j.reschedule(cron, schedules);
    });
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
task<result<void>> job_scheduler<Registry, Strategy, Executor, Policies...>::handle::async_reschedule(
    std::string cron, std::vector<job_schedule> schedules) {
    return call(scheduler_.load(), name_, {},
                [cron = std::move(cron), schedules = std::move(schedules)](job_type_of& j) {
                    return j.reschedule(cron, schedules);
                });
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
result<job_status> job_scheduler<Registry, Strategy, Executor, Policies...>::handle::status() const {
    job_status found;
    ELASTICJOB_CHECK(on_loop([&found](job_type_of& j) -> task<result<void>> {
        found = j.status();
        co_return success();
    }));
    return found;
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
result<void> job_scheduler<Registry, Strategy, Executor, Policies...>::handle::disable() {
    return on_loop([](job_type_of& j) { return j.set_enabled(false); });
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
result<void> job_scheduler<Registry, Strategy, Executor, Policies...>::handle::enable() {
    return on_loop([](job_type_of& j) { return j.set_enabled(true); });
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
result<void> job_scheduler<Registry, Strategy, Executor, Policies...>::handle::pause() {
    return on_loop([](job_type_of& j) { return j.set_paused(true); });
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
result<void> job_scheduler<Registry, Strategy, Executor, Policies...>::handle::resume() {
    return on_loop([](job_type_of& j) { return j.set_paused(false); });
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
result<void> job_scheduler<Registry, Strategy, Executor, Policies...>::handle::wait_idle() {
    return on_loop([](job_type_of& j) { return j.wait_idle(); }, waiting::for_runs);
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
result<void> job_scheduler<Registry, Strategy, Executor, Policies...>::handle::leave() {
    auto* const s = scheduler_.load();
    if (!s) return error{errc::closed, "the job has been shut down", name_};
    post(s->registry_.loop(), [s, name = name_] {
        auto const at = s->jobs_.find(name);
        if (at != s->jobs_.end()) at->second->begin_to_leave();
    });
    return success();
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
result<void> job_scheduler<Registry, Strategy, Executor, Policies...>::handle::shutdown() {
    auto* const s = scheduler_.load();
    if (!s) return success();
    auto ended = block_on(s->registry_.loop(), s->end(name_, std::this_thread::get_id()));
    bool const was_refused = !ended && ended.error() == errc::wrong_thread; // the handle still has to end the job
    if (!was_refused) scheduler_ = nullptr;
    return ended;
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
template <class F>
result<void> job_scheduler<Registry, Strategy, Executor, Policies...>::handle::on_loop(F f, waiting w) const {
    auto* const s = scheduler_.load();
    if (!s) return error{errc::closed, "the job has been shut down", name_};
    auto const caller = w == waiting::for_runs ? std::this_thread::get_id() : std::thread::id{};
    return block_on(s->registry_.loop(), call(s, name_, caller, std::move(f)));
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
template <class F>
task<result<void>> job_scheduler<Registry, Strategy, Executor, Policies...>::call(job_scheduler* owner,
                                                                                  std::string name, std::thread::id who,
                                                                                  F function) {
    if (!owner) co_return error{errc::closed, "the job has been shut down", name};
    auto const at = owner->jobs_.find(name);
    if (at == owner->jobs_.end() || at->second->is_leaving())
        co_return error{errc::closed, "the job has been shut down", name};
    auto const used = at->second; // keeps the job alive during the call
    if (used->is_called_on(who)) co_return awaits_itself(name);
    co_return co_await function(*used);
}

} // namespace elasticjob

#if defined(ELASTICJOB_COMPILED)
#include <elasticjob/scheduler/instances.hpp>
#endif
#endif // ELASTICJOB_SCHEDULER_JOB_SCHEDULER_HPP
