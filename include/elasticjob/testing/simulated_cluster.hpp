// SPDX-License-Identifier: Apache-2.0
/// \file \brief Machines, processes and operators in one thread and virtual time: the parts of a simulation.
#ifndef ELASTICJOB_TESTING_SIMULATED_CLUSTER_HPP
#define ELASTICJOB_TESTING_SIMULATED_CLUSTER_HPP

#include <elasticjob/config/job_config.hpp>
#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/random.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/core/virtual_loop.hpp>
#include <elasticjob/events/event.hpp>
#include <elasticjob/operations/stop_run.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/scheduler/options.hpp>
#include <elasticjob/testing/fault_plan.hpp>
#include <elasticjob/testing/invariants.hpp>
#include <elasticjob/testing/library_version.hpp>
#include <elasticjob/testing/observatory.hpp>
#include <elasticjob/testing/record_invariants.hpp>
#include <elasticjob/testing/simulated_registry.hpp>
#include <elasticjob/testing/simulated_scheduler.hpp>
#include <elasticjob/testing/simulated_workers.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob::testing {

/// The settings of a simulated cluster.
struct simulation_options {
    memory_server_options server{};
    latency_range latency{};
    body_time bodies{};                                   ///< of ordinary bodies
    std::size_t threads = 0;                              ///< of each process's pool; 0: as many as there are runs
    scheduler_options scheduler{};                        ///< except the seed, the address and the host name
    wall_time start{std::chrono::seconds{1'767'225'600}}; ///< 2026-01-01 00:00:00 UTC

    std::chrono::milliseconds settle{60'000};    ///< after the faults, the cluster must be healthy within this time
    std::chrono::milliseconds watch{45'000};     ///< the time for which the due runs are then watched
    std::chrono::milliseconds call{3'600'000};   ///< a blocking call that takes longer counts as endless
    bool triggers_may_be_skipped = true;         ///< if the skip is reported
    std::uint64_t steps_in_second_max = 200'000; ///< a cluster with more steps in a second is in an endless cycle
};

/// The part of a simulation that does not depend on the type of its schedulers. `simulation` chooses that type.
class simulated_cluster {
public:
    simulated_cluster(simulated_cluster const&) = delete;
    simulated_cluster& operator=(simulated_cluster const&) = delete;

    // ---- Before the simulation begins.

    /// Adds members of all jobs. Their servers are called 10.0.0.1 and so on.
    void add_nodes(std::uint32_t count);

    /// Adds a node with that address. Several nodes may share an address.
    void add_node(std::string ip);

    /// Sets whether the node is a member of the job from the beginning.
    void set_member(std::uint32_t node, std::uint32_t job, bool is_member);

    /// Adds an earlier version of the library, and returns its number. The present version has the number 0.
    std::uint32_t add_version(library_version const& v);

    /// Sets the version of the node's next process. The fault `deploy` also ends the present one.
    void set_version(std::uint32_t node, std::uint32_t version);

    template <invariant I>
    void add_invariant(I i) {
        observatory_.add(std::move(i));
    }

    // ---- A whole simulation.

    /// The nodes, jobs and items that a plan for this cluster may use.
    fault_targets targets() const;

    /// Starts all nodes. Plays the faults and ends them. Lets the cluster settle, first with the operators' changes and
    /// then with everything enabled again. Watches the due runs. Makes all instances leave. Stops at the first
    /// violation. The stage of the faults lasts until the last fault of the plan, and at least `length`.
    void play(fault_plan const& plan, std::chrono::milliseconds length = {});

    // ---- Step by step.

    void start_all();
    void schedule_faults(fault_plan const& plan);
    /// Injects the fault now, as part of the next step.
    void inject(fault f) { at(world_.now(), {planned::kind::begin, f}); }

    void run_for(std::chrono::nanoseconds span);

    /// Stops all nodes in order, one after another.
    void stop_all();

    /// Repairs networks, resumes or restarts processes, and ends the faults of bodies. Does not correct clocks or
    /// revert the operators' changes.
    void end_faults();

    /// Enables all servers and items, and gives every job all its intended members, or at least one.
    void enable_everything();

    /// The nodes of the job in the registry.
    job_layout layout(std::uint32_t job) const { return cluster_view::layout(jobs_[job].config.name); }

    bool is_over() const noexcept { return !observatory_.violations.empty(); }
    std::vector<violation> const& violations() const noexcept { return observatory_.violations; }
    cluster_view const& view() const noexcept { return observatory_.view; }
    virtual_loop& world() noexcept { return world_; }
    simulated_server& server() noexcept { return server_; }
    std::uint64_t steps() const noexcept { return steps_; }

    /// All observations, one per line.
    std::string transcript() const;

protected:
    /// Passes the events of a scheduler to the observatory.
    struct sink {
        simulated_cluster* self;
        std::uint32_t node;
        std::uint64_t process;

        void operator()(events::session_changed const&) const {} // an action of the simulation itself
        void operator()(events::script_output const&) const {}
        void operator()(events::item_progressed const&) const {} // does not change what must hold
        template <class Event>
        void operator()(Event const& e) const {
            auto o = testing::detail::observe(e);
            o.node = node;
            o.process = process;
            self->note_instance(o);
            self->observatory_.note(std::move(o));
        }
    };

    using due_function = std::vector<wall_time>(std::string_view config, std::string_view schedule, wall_time after,
                                                wall_time until);
    /// Makes the scheduler of a process that starts.
    using make_function = simulated_scheduler(simulated_cluster&, simulated_registry&, scheduler_options,
                                              simulated_workers&, sink);

    template <executor Executor, class Body>
    void add(job_config config, Body body) {
        observatory_.view.jobs.push_back(config.name);
        auto const call = simulated_call::of<Executor>(new Body{std::move(body)});
        jobs_.emplace_back(std::move(config), call, [](void* self) { delete static_cast<Body*>(self); });
    }

    simulated_cluster(std::uint64_t seed, simulation_options o, due_function* find_due, make_function* make_scheduler);

    /// Kills all processes without waiting.
    ~simulated_cluster();

private:
    struct machine;
    struct process;

    /// A job's body with its type erased: pointers to functions made from a template.
    struct job_entry {
        job_entry(job_config c, simulated_call body, void (*destroy_body)(void*));
        job_entry(job_entry&& other) noexcept;
        job_entry& operator=(job_entry&&) = delete;
        ~job_entry();

        job_config config;
        simulated_call call;
        void (*destroy)(void*);
    };

    /// One process of a machine, from its start to its end.
    struct process {
        process(simulated_cluster& s, machine& m, std::uint64_t n);
        void begin_scheduler(simulated_cluster& s, machine& m);
        scheduler_options options(simulated_cluster& s, machine& m) const;

        std::uint64_t number;
        node_loop loop;
        simulated_registry registry;
        simulated_workers workers;
        std::unique_ptr<simulated_scheduler> scheduler; ///< null after its end until the next one begins
        std::uint64_t schedulers = 0;                   ///< the number of schedulers that it has had
        std::map<std::uint32_t, simulated_scheduler::handle> handles;
        std::set<std::uint32_t> busy_with; ///< the jobs that it is joining or leaving now
        int calls = 0;                     ///< the number of pending blocking calls
        bool is_ending = false;            ///< the scheduler is ending
    };

    /// The state that survives the death of a process.
    struct machine {
        machine(simulated_cluster& s, std::uint32_t n, std::uint64_t seed);
        simulated_cluster& self;
        std::uint32_t number;
        wire line;
        std::unique_ptr<struct process> process;
        std::set<std::uint32_t> wants; ///< the jobs of which it should be a member
        std::uint32_t version = 0;     ///< of its next process
        std::chrono::nanoseconds wall_offset{};
        mono_time cut_until{}, deaf_until{}, paused_until{}, suspended_until{}, slow_until{}, behind_until{};
        std::chrono::milliseconds restart_after{};
        bool is_starting = false; ///< a start is planned
    };

    /// A planned action of the simulation itself.
    struct planned {
        enum class kind : std::uint8_t { begin, end, start, begin_scheduler, rejoin, deploy };
        kind what;
        fault f;
    };

    std::uint64_t seed_of(std::uint64_t purpose) const;

    // ---- Time.

    void at(mono_time when, planned p) { plan_.emplace(std::pair{when, ++planned_so_far_}, p); }

    struct boundary : timer {
        boundary() noexcept : timer{[](timer&) {}} {}
    };

    /// Makes one step of the world, or carries out one planned action. Returns false at that time, or if an invariant
    /// has failed.
    bool step_until(mono_time until);

    /// Runs one piece of work that is ready at this instant. Returns true if there was none.
    bool is_idle_now();

    bool after_step();

    /// The `world_stepper` of blocking calls.
    static bool step_on(void* context);

    /// Makes a call that blocks its process while the world continues. Other calls may begin before it has ended.
    template <class Call>
    auto blocking(process& p, Call call) {
        ++p.calls;
        ++calls_;
        deadlines_.push_back(world_.now() + options_.call);
        auto outcome = call();
        deadlines_.pop_back();
        --calls_;
        --p.calls;
        return outcome;
    }
    bool is_deep() const noexcept { return calls_ >= calls_most; }

    // ---- Actions.

    void carry_out(planned const& p);

    /// The job that a fault names. Precondition: there are jobs.
    std::uint32_t job_of(fault const& f) const { return f.job % static_cast<std::uint32_t>(jobs_.size()); }

    void begin(machine& n, fault const& f);
    void begin_in_job(machine& n, std::uint32_t j, fault const& f);

    /// Changes a field of the job's configuration.
    void edit(std::uint32_t j, fault const& f);

    /// Applies the node's current faults.
    void refresh(machine& n);
    void refresh_records();

    // ---- Processes.

    void start(machine& n);

    static void crash_now(void* context);
    void crash(machine& n);
    void kill(machine& n);

    /// Stops the process in order.
    void stop(machine& n);

    /// Leaves all jobs, one after another, and destroys the scheduler. Returns false if the process is dead.
    bool leave_all(machine& n);
    /// Ends the scheduler in order. Another one begins after `pause`, in the same session.
    void end_scheduler(machine& n, std::chrono::milliseconds pause);
    void begin_scheduler(machine& n);
    /// Ends the process in order, and starts one of the node's new version. If a call blocks the process, tries again
    /// later.
    void deploy(machine& n, fault const& f);
    void end_process(machine& n);

    void note_process(machine& n, observation::kind k);
    void note_instance(observation const& o);

    /// Moves running bodies to the session with which their process has joined again, if their marks belong to that
    /// session. If another run has followed a run, that run is stale for good. Unmonitored jobs have no marks.
    void take_over_runs(observation const& o);

    // ---- Members.

    /// If an operator has removed the job, the process's handle is useless, so the process restarts.
    void join(machine& n, std::uint32_t j);

    void leave(machine& n, std::uint32_t j);

    void trigger(machine& n, std::uint32_t j);
    void trigger_anywhere(std::uint32_t j);

    // ---- Operators.

    void note_command(std::uint32_t j, std::string text, std::optional<error> failure);
    template <class T>
    task<void> command(std::uint32_t j, std::string text, task<result<T>> what) {
        auto const done = co_await std::move(what);
        std::optional<error> failure;
        if (!done) failure = done.error();
        note_command(j, std::move(text), std::move(failure));
    }
    void order(std::uint32_t j, std::string text, node_path path, std::string data);
    void create(std::uint32_t j, node_path path);
    void remove(std::uint32_t j, node_path path);

    static constexpr int calls_most = 24;
    static constexpr char const* other_schedule = "2/6 * * * * ?"; ///< for every job

    std::uint64_t seed_;
    simulation_options options_;
    make_function* make_scheduler_;
    virtual_loop world_;
    simulated_server server_;
    observatory observatory_;
    wire operator_wire_;
    node_loop operator_loop_;
    simulated_registry operator_;
    std::vector<job_entry> jobs_;
    std::vector<library_version> versions_{library_version{}}; ///< the present one is the first
    std::vector<std::unique_ptr<machine>> nodes_;
    std::vector<std::unique_ptr<process>> dead_;
    std::map<std::pair<mono_time, std::uint64_t>, planned> plan_;
    std::uint64_t planned_so_far_ = 0, processes_so_far_ = 0;
    std::uint64_t steps_ = 0, steps_in_second_ = 0;
    std::int64_t second_ = -1;
    std::map<std::uint32_t, mono_time> read_only_until_; ///< the run records of a job
    std::vector<mono_time> deadlines_;                   ///< of the pending blocking calls
    int calls_ = 0;
    bool is_ending_ = false;
    task_scope operator_tasks_; ///< destroyed first
};

} // namespace elasticjob::testing

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/testing/simulated_cluster.ipp>
#endif
#endif // ELASTICJOB_TESTING_SIMULATED_CLUSTER_HPP
