// SPDX-License-Identifier: Apache-2.0
/// \file \brief Runs the jobs that come and go in the registry, if it knows their class.
#ifndef ELASTICJOB_SCHEDULER_JOB_CATALOG_HPP
#define ELASTICJOB_SCHEDULER_JOB_CATALOG_HPP

#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/run_on.hpp>
#include <elasticjob/core/within.hpp>
#include <elasticjob/core/worker_pool.hpp>
#include <elasticjob/membership/stored_job.hpp>
#include <elasticjob/registry/retry_pauses.hpp>
#include <elasticjob/scheduler/body_factory.hpp>
#include <elasticjob/scheduler/job_scheduler.hpp>

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits> // is_same_v
#include <utility>
#include <vector>

namespace elasticjob {

namespace detail {

/// Stands for a `scheduler_group` where all jobs run in one session.
struct no_group {
    struct place {};
};

} // namespace detail

/// Maps the class of a job, `job_config::job_class`, to a factory for its body:
///
///     job_catalog catalog{scheduler};
///     catalog.add("import", [&](job_config const& c) { return importer{databases.at(c.name)}; });
///     catalog.follow();
///
/// A body is made each time this instance joins the job, and is kept when the configuration changes, so that no run is
/// disturbed. So a factory should give the body what belongs to the process. The body should read what may change, such
/// as the parameters, in its context, which has the values at the start of each run. If the class of a job is changed
/// by hand, the change takes effect when the instance joins the job again.
///
/// After `follow`, this instance runs all jobs in the registry whose class is known, existing and new ones. The
/// registry's configuration is in force, and changes of it take effect. When a job is removed, it ends on this instance
/// in order; when it is added again, it starts again. Jobs of other classes are ignored. An instance that is removed
/// from a job (SD-1), or leaves it because of its clock, stays out until the catalog or the job is created again. What
/// an operator has disabled stays disabled.
///
/// If a job cannot be started, this is reported as trouble, once for each error of each version of its configuration.
/// The start is tried again after a pause that grows up to a minute; other jobs do not wait for it. At most
/// `starts_at_once` jobs are being started at a time. A job that does not run here costs a watch and a few hundred
/// bytes. No job costs a thread. All children of the name space's root are read when a job comes or goes, so the size
/// of a registry's reply limits the number of jobs.
///
/// For more jobs than one session has room for, `job_catalog catalog{scheduler, group}` follows the registry with the
/// scheduler, and starts each job in a session of the `scheduler_group`. All of them must share the scheduler's loop
/// (`zk_options::loop`). A thread of the catalog connects the group's sessions, one at a time.
///
/// The scheduler and the group must outlive the catalog; they may also run other jobs. The destructor makes the
/// catalog's jobs leave in order. If a session of the group is being connected, the destructor waits for that, too.
/// Threads: any but the loop's. Factories are called on threads of the scheduler's pool, several at once.
template <class Scheduler, class Group = detail::no_group>
class job_catalog {
    using Registry = typename Scheduler::registry_type;
    using Loop = typename Registry::loop_type;
    using Executor = typename Scheduler::executor_type;

public:
    static constexpr int starts_at_once = 16; ///< the maximum number of jobs that are being started at a time

    /// The constructor starts nothing: call `add` for each class, then `follow`.
    explicit job_catalog(Scheduler& s) : scheduler_{s}, news_{s.jobs_.loop()} {}
    /// The same; its jobs will run in the sessions of the group. Throws std::system_error if the thread that connects
    /// these cannot be started.
    job_catalog(Scheduler& s, Group& g) : scheduler_{s}, group_{&g}, news_{s.jobs_.loop()} {
        connector_.emplace(thread_pool_options{.threads = 1});
    }
    job_catalog(job_catalog const&) = delete;
    job_catalog& operator=(job_catalog const&) = delete;
    ~job_catalog() { (void)block_on(loop(), stop()); }

    /// `factory(config)` makes the body of one job. Of `own`, only the members that are not in the registry are used:
    /// those from `on_misfire` on. May also be called after `follow`. Errors: invalid_argument if the name is empty or
    /// already known.
    template <body_factory_for<Executor, Loop> Factory>
    result<void> add(std::string job_class, Factory factory, job_config own = {}) {
        auto erased = body_factory::of(scheduler_.executor_, std::move(factory));
        return block_on(loop(), learn(std::move(job_class), std::move(erased), std::move(own)));
    }

    /// Starts the jobs, and follows the registry from now on. Returns when the names of the jobs have been read, while
    /// the jobs are being started. Further calls do nothing.
    /// Errors: invalid_argument for options of the scheduler that cannot be used; unreachable if the registry does not
    /// answer within the scheduler's `start_timeout`; those of the time zone.
    [[nodiscard]] result<void> follow();

    /// The names of the jobs that run now, sorted. Errors: wrong_thread.
    result<std::vector<std::string>> running() { return block_on(loop(), list_running()); }

private:
    using job_body = detail::job_body<Loop>;
    using body_factory = detail::body_factory<Loop>;
    static constexpr bool has_group = !std::is_same_v<Group, detail::no_group>;

    struct known_class {
        body_factory factory;
        job_config own;
    };

    /// A name below the root.
    struct entry {
        explicit entry(event_count<Loop>& news) : config{news} {}
        event_watch<Loop> config;           ///< armed by the last read, if it `was_read`
        mono_time again = mono_time::min(); ///< when to look even if the watch has not fired
        bool was_read = false;
        revision looked_at = 0; ///< the version of the configuration that was examined last
        revision left = 0;      ///< the creation of the configuration whose job has left; it is not joined again
        unsigned failures = 0;
        bool is_listed = true;
        bool is_busy = false;         ///< queued, being examined, or running
        Scheduler* runs_on = nullptr; ///< the scheduler that runs it, or null
        std::string told{};           ///< the error that was reported for the version examined last
    };
    using entries = std::map<std::string, entry, std::less<>>;

    Registry& registry() noexcept { return scheduler_.jobs_.registry(); }
    Loop& loop() noexcept { return registry().loop(); }
    mono_time now() noexcept { return loop().now(); }

    task<result<void>> learn(std::string job_class, body_factory factory, job_config own);

    task<result<void>> begin();

    task<result<std::vector<std::string>>> list_running();

    /// Starts no more jobs, makes the running ones leave, and waits for them.
    task<result<void>> stop();

    /// A few coroutines examine the changed entries, one after the other.
    task<void> follow_registry();

    void take_names(std::vector<std::string> const& names);

    task<void> work_off();

    /// Starts the job if its class is known. Errors: those of the start.
    task<result<void>> look_at(std::string const& name, entry& e);

    /// The node, or nothing if it is absent. The entry's watch is armed in both cases.
    task<result<std::optional<node>>> read_config(job_layout at, entry& e);

    static void take_version(entry& e, revision version);

    /// Returns the scheduler that runs the job now.
    task<result<Scheduler*>> start(job_layout at, node config, known_class const& known);

    /// A place in a session of the group. If no session has room, another one is connected. Errors: unreachable while
    /// one is being connected for another job, and in the pause after a failure of that; those of
    /// `scheduler_group::reserve`; invalid_argument if a session of the group does not use the catalog's loop.
    task<result<typename Group::place>> find_place(std::string const& name);

    /// Waits until the job has left, for whatever reason.
    task<void> attend(std::string name, entry& e, revision created);

    void postpone(std::string const& name, entry& e, error const& why);

    Scheduler& scheduler_;
    Group* const group_ = nullptr;
    // The following members are used on the loop only.
    event_count<Loop> news_;
    std::map<std::string, known_class, std::less<>> classes_;
    entries entries_;
    std::deque<std::string> queue_;
    std::optional<instance_id> self_; ///< the instance that reports trouble
    std::optional<error> failure_;    ///< why the names could not be read
    int starters_ = 0;
    int running_ = 0;
    bool is_loaded_ = false;
    bool is_connecting_ = false; ///< the connector connects a session of the group
    unsigned failed_connections_ = 0;
    mono_time connect_again_ = mono_time::min();
    bool is_stopping_ = false;
    std::optional<ThreadPool> connector_; ///< if there is a group: `Connect` keeps a thread for seconds
    task_scope following_;
    task_scope tasks_; ///< tasks that examine a job, start it, or wait for its end
};

template <class Scheduler, class Group>
result<void> job_catalog<Scheduler, Group>::follow() {
    if (!scheduler_.zone_) return scheduler_.zone_.error();
    ELASTICJOB_CHECK(scheduler_.jobs_.check_options());
    auto begun = block_on(loop(), within(loop(), loop().now() + scheduler_.jobs_.options().start_timeout, begin()));
    if (!begun && begun.error() == errc::timed_out)
        return error{errc::unreachable, "the registry did not answer in time: is it running and reachable?", "/"};
    return begun;
}

template <class Scheduler, class Group>
task<result<void>> job_catalog<Scheduler, Group>::learn(std::string job_class, body_factory factory, job_config own) {
    if (job_class.empty())
        co_return error{errc::invalid_argument, "the class is empty: give the `job_class` of the jobs to be run",
                        "job_class"};
    if (classes_.contains(job_class))
        co_return error{errc::invalid_argument, "the catalog already has a factory for this class: add each class once",
                        job_class};
    classes_.emplace(std::move(job_class), known_class{std::move(factory), std::move(own)});
    for (auto& [name, e] : entries_) e.again = mono_time::min(); // the new class may be that of these jobs
    news_.notify();
    co_return success();
}

template <class Scheduler, class Group>
task<result<void>> job_catalog<Scheduler, Group>::begin() {
    if (!self_) {
        self_.emplace(scheduler_.jobs_.make_id());
        following_.spawn(follow_registry());
    }
    for (;;) {
        auto const seen = news_.edition();
        if (is_loaded_) co_return success();
        if (failure_) co_return *failure_;
        co_await news_.newer_than(seen);
    }
}

template <class Scheduler, class Group>
task<result<std::vector<std::string>>> job_catalog<Scheduler, Group>::list_running() {
    std::vector<std::string> names;
    for (auto const& [name, e] : entries_)
        if (e.runs_on) names.push_back(name);
    co_return names;
}

template <class Scheduler, class Group>
task<result<void>> job_catalog<Scheduler, Group>::stop() {
    is_stopping_ = true;
    following_.cancel();
    queue_.clear();
    // At once, because a job that is being started may wait for a thread that a run of one of these keeps.
    for (auto& [name, e] : entries_)
        if (e.runs_on) e.runs_on->jobs_.begin_to_leave_here(name);
    for (;;) {
        auto const seen = news_.edition();
        if (starters_ == 0 && running_ == 0) break;
        co_await news_.newer_than(seen);
    }
    entries_.clear();
    co_return success();
}

template <class Scheduler, class Group>
task<void> job_catalog<Scheduler, Group>::follow_registry() {
    event_watch<Loop> names{news_};
    for (;;) {
        auto const seen = news_.edition();
        auto until = mono_time::max();
        if (!names.is_linked()) {
            auto const listed = co_await registry().children(node_path{}, &names);
            if (listed) {
                take_names(*listed);
            } else {
                names.unlink();
                until = now() + detail::retry_pause;
                if (!is_loaded_ && !is_transient(listed.error())) {
                    failure_ = listed.error();
                    news_.notify();
                }
            }
        }
        for (auto& [name, e] : entries_) {
            if (e.is_busy) continue;
            bool const has_changed = e.was_read && !e.config.is_linked();
            if (!has_changed && now() < e.again) {
                until = std::min(until, e.again);
                continue;
            }
            e.is_busy = true;
            queue_.push_back(name);
        }
        for (; starters_ < starts_at_once && starters_ < static_cast<int>(queue_.size());) {
            ++starters_;
            tasks_.spawn(work_off());
        }
        co_await news_.newer_than(seen, until);
    }
}

template <class Scheduler, class Group>
void job_catalog<Scheduler, Group>::take_names(std::vector<std::string> const& names) {
    for (auto& [name, e] : entries_) e.is_listed = false;
    for (auto const& name : names)
        if (job_name::parse(name)) entries_.try_emplace(name, news_).first->second.is_listed = true;
    std::erase_if(entries_, [](auto const& e) { return !e.second.is_listed && !e.second.is_busy; });
    if (!std::exchange(is_loaded_, true)) news_.notify();
}

template <class Scheduler, class Group>
task<void> job_catalog<Scheduler, Group>::work_off() {
    co_await yield(loop());
    while (!queue_.empty()) {
        auto const at = entries_.find(queue_.front());
        queue_.pop_front();
        auto const done = co_await look_at(at->first, at->second);
        if (!done) postpone(at->first, at->second, done.error());
        if (!at->second.runs_on) at->second.is_busy = false;
    }
    --starters_;
    news_.notify();
}

template <class Scheduler, class Group>
task<result<void>> job_catalog<Scheduler, Group>::look_at(std::string const& name, entry& e) {
    e.again = mono_time::max();
    e.was_read = false;
    job_layout const at{*job_name::parse(name)};
    ELASTICJOB_CO_TRY(std::optional<node> const there, co_await read_config(at, e));
    e.was_read = true;
    if (!there) {
        e.left = 0;
        take_version(e, 0);
        co_return success();
    }
    take_version(e, there->stat.modified);
    auto const read = from_json(there->data);
    if (!read) co_return detail::in_registry(read.error(), at.config());
    auto const& config = *read;
    if (!config || there->stat.created == e.left) co_return success();
    auto const known = classes_.find(config->job_class);
    if (known == classes_.end()) co_return success();
    if (config->type != Executor::type)
        co_return error{errc::job_conflict,
                        "the job's class is known, but its type is " + std::string{name_of(config->type)} +
                            ", and this catalog's scheduler runs " + std::string{name_of(Executor::type)},
                        at.config().str()};
    ELASTICJOB_CO_TRY(e.runs_on, co_await start(at, *there, known->second));
    e.failures = 0;
    ++running_;
    tasks_.spawn(attend(name, e, there->stat.created));
    if (is_stopping_) e.runs_on->jobs_.begin_to_leave_here(name);
    co_return success();
}

template <class Scheduler, class Group>
task<result<std::optional<node>>> job_catalog<Scheduler, Group>::read_config(job_layout at, entry& e) {
    e.config.unlink();
    co_return co_await detail::read_watched<node>(registry(), at.config(), e.config, node_presence::common);
}

template <class Scheduler, class Group>
void job_catalog<Scheduler, Group>::take_version(entry& e, revision version) {
    if (std::exchange(e.looked_at, version) == version) return;
    e.told.clear();
    e.failures = 0;
}

template <class Scheduler, class Group>
task<result<Scheduler*>> job_catalog<Scheduler, Group>::start(job_layout at, node config, known_class const& known) {
    std::vector<node_path> paths{at.schedule()};
    ELASTICJOB_CO_TRY(auto const beside, co_await read_all(registry(), std::move(paths)));
    ELASTICJOB_CO_TRY(auto const stored, detail::read_stored(&config, beside.front() ? &*beside.front() : nullptr, at,
                                                             scheduler_.jobs_.options().items_max));
    auto whole = stored->config();
    take_own_terms(whole, known.own);
    ELASTICJOB_CO_TRY(auto valid, validate(std::move(whole)));
    Scheduler* on = &scheduler_;
    std::optional<typename Group::place> place;
    if constexpr (has_group) {
        ELASTICJOB_CO_TRY(auto found, co_await find_place(valid.name().str()));
        on = &place.emplace(std::move(found)).scheduler();
    }
    std::optional<job_body> body;
    auto const make = [&] { return known.factory.make(valid.config(), body); };
    ELASTICJOB_CO_CHECK(co_await run_on(scheduler_.pool_, loop(), make));
    if (is_stopping_) co_return error{errc::closed, "the catalog is ending", at.config().str()};
    if (!on->zone_) co_return on->zone_.error();
    ELASTICJOB_CO_CHECK(on->jobs_.check_options());
    ELASTICJOB_CO_CHECK(co_await on->jobs_.begin(std::move(valid), *std::move(body), false));
    co_return on;
}

template <class Scheduler, class Group>
task<result<typename Group::place>> job_catalog<Scheduler, Group>::find_place(std::string const& name) {
    ELASTICJOB_CO_TRY(auto there, group_->reserve_here(name, loop()));
    if (there) co_return *std::move(there);
    if (is_stopping_) co_return error{errc::closed, "the catalog is ending", name};
    if (is_connecting_ || now() < connect_again_)
        co_return error{errc::unreachable, "no session of the group has room; another one will be connected", name};
    is_connecting_ = true;
    auto const connect = [&]() -> result<void> {
        ELASTICJOB_TRY(auto reserved, group_->reserve(name));
        there.emplace(std::move(reserved));
        return success();
    };
    auto const connected = co_await run_on(*connector_, loop(), connect);
    is_connecting_ = false;
    if (!connected) {
        connect_again_ = now() + detail::growing_pause(failed_connections_++);
        co_return connected.error();
    }
    failed_connections_ = 0;
    ELASTICJOB_CO_CHECK(there->check_loop(loop()));
    for (auto& [other, e] : entries_)
        if (e.failures > 0) e.again = mono_time::min(); // it may have waited for this session
    news_.notify();
    co_return *std::move(there);
}

template <class Scheduler, class Group>
task<void> job_catalog<Scheduler, Group>::attend(std::string name, entry& e, revision created) {
    e.config.unlink(); // the job has its own watch
    co_await e.runs_on->jobs_.wait_left(name);
    (void)co_await e.runs_on->jobs_.end(name);
    e.left = created;
    e.again = mono_time::min();
    e.runs_on = nullptr;
    e.is_busy = false;
    --running_;
    news_.notify();
}

template <class Scheduler, class Group>
void job_catalog<Scheduler, Group>::postpone(std::string const& name, entry& e, error const& why) {
    // A job that has just been removed is not reported. It is reported only if it stays like this, because a Java
    // member has written it again.
    bool const is_new = (why == errc::removed || why == errc::no_node) && e.failures == 0;
    e.again = now() + detail::growing_pause(e.failures++);
    auto text = to_string(why);
    if (is_transient(why) || is_new || is_stopping_ || e.told == text) return;
    e.told = std::move(text);
    scheduler_.sink_(events::trouble{{name, *self_, loop().wall_now()}, why});
}

} // namespace elasticjob
#endif // ELASTICJOB_SCHEDULER_JOB_CATALOG_HPP
