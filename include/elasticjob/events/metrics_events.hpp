// SPDX-License-Identifier: Apache-2.0
/// \file \brief Counts what happens, for OpenMetrics and Prometheus.
#ifndef ELASTICJOB_EVENTS_METRICS_EVENTS_HPP
#define ELASTICJOB_EVENTS_METRICS_EVENTS_HPP

#include <elasticjob/core/memory.hpp>
#include <elasticjob/events/event_sink.hpp>
#include <elasticjob/events/histogram.hpp>
#include <elasticjob/events/metrics_source.hpp>

#include <cstddef>
#include <cstdint>
#include <functional> // less
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace elasticjob {

struct metrics_options {
    /// Jobs that have numbers of their own; those beyond are counted together, as job `(others)`.
    std::size_t jobs_max = 1000;
    /// Upper bounds in seconds, ascending.
    std::vector<double> lateness_buckets{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 300};
    std::vector<double> duration_buckets{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300, 1800, 3600};
};

/// What `expose` gives, each per job:
///
/// | metric                         | kind      | labels    | counts                                                   |
/// |--------------------------------|-----------|-----------|----------------------------------------------------------|
/// | `elasticjob_runs_started`      | counter   | `source`  | runs that have begun: schedule, misfire, trigger, failover |
/// | `elasticjob_runs`              | counter   | `outcome` | runs that have ended: success, or the code of the error  |
/// | `elasticjob_runs_fenced`       | counter   |           | runs that another instance has taken over                |
/// | `elasticjob_skipped`           | counter   | `reason`  | due instants that were not run                           |
/// | `elasticjob_misfired`          | counter   |           | due instants that found their item running               |
/// | `elasticjob_reshards`          | counter   |           | assignments that this process has written as the leader  |
/// | `elasticjob_items_moved`       | counter   |           | items that got another owner by these                    |
/// | `elasticjob_sessions`          | counter   |           | sessions under which an instance has registered          |
/// | `elasticjob_troubles`          | counter   | `reason`  | what went wrong with the job, not with a run             |
/// | `elasticjob_running`           | gauge     |           | items that run now                                       |
/// | `elasticjob_items`             | gauge     |           | items that this process owns                             |
/// | `elasticjob_leads`             | gauge     |           | instances of this process that lead the job: 0 or 1      |
/// | `elasticjob_session_changes`   | counter   | `state`   | times that the registry's session came into a state      |
/// | `elasticjob_connected`         | gauge     |           | instances of this process whose session is connected     |
/// | `elasticjob_instances`         | gauge     |           | instances of this process that are in the job            |
/// | `elasticjob_lateness_seconds`  | histogram |           | from the due instant to the beginning, orders left out   |
/// | `elasticjob_duration_seconds`  | histogram |           | of the runs                                              |
///
/// A copy shares the numbers: one is the scheduler's, another is asked. How many series there are is bounded: by `jobs_max`,
/// and by labels that have a fixed set of values. Threads: told on the loop, asked from any thread.
class MetricsEvents {
public:
    explicit MetricsEvents(metrics_options options = {}) : state_{std::make_shared<state>(std::move(options))} {}

    template <class E>
    void operator()(E const& e) const {
        std::lock_guard const lock{state_->mutex};
        state_->count(state_->job(e.from.job), e);
    }

    /// All numbers as they are now, in OpenMetrics' text format.
    std::string expose() const { return elasticjob::expose(*this); }

    /// The same behind, and before, what other sources write.
    void write_to(openmetrics_writer& w) const {
        std::lock_guard const lock{state_->mutex};
        state_->write_to(w);
    }

private:
    struct instance_numbers {
        std::uint64_t running = 0, items = 0;
        bool leads = false;
        bool is_connected = true; ///< or it could not have joined
    };
    struct job_numbers {
        std::map<run_source, std::uint64_t> started{};
        std::map<std::string_view, std::uint64_t> ended{}, skipped{}, troubles{},
            states{}; ///< by names of the code's own
        std::uint64_t retries = 0, failures = 0, fenced = 0, misfired = 0, reshards = 0, moved = 0, sessions = 0;
        detail::histogram lateness{}, duration{};
        std::map<std::string, instance_numbers, std::less<>> instances{}; ///< that are in the job, of this process
    };

    struct state {
        explicit state(metrics_options o) : options{std::move(o)} {}

        job_numbers& job(std::string_view name) {
            auto at = jobs.find(name);
            if (at == jobs.end() && jobs.size() >= options.jobs_max) return others;
            if (at == jobs.end()) at = jobs.emplace(name, job_numbers{}).first;
            return at->second;
        }
        static instance_numbers& instance(job_numbers& j, events::origin const& from) {
            auto const at = j.instances.find(std::string_view{from.instance.str()});
            return at != j.instances.end() ? at->second : j.instances[from.instance.str()];
        }

        void count(job_numbers& j, events::joined const& e) {
            ++j.sessions;
            instance(j, e.from).is_connected = true;
        }
        void count(job_numbers& j, events::left const& e) { j.instances.erase(e.from.instance.str()); }
        void count(job_numbers& j, events::leadership_changed const& e) { instance(j, e.from).leads = e.leads; }
        void count(job_numbers& j, events::session_changed const& e) {
            ++j.states[name_of(e.state)];
            instance(j, e.from).is_connected = e.state == session_state::connected;
        }
        void count(job_numbers& j, events::resharded const& e) {
            ++j.reshards;
            j.moved += e.moved;
        }
        void count(job_numbers& j, events::share_changed const& e) { instance(j, e.from).items = e.items.size(); }
        void count(job_numbers& j, events::item_started const& e) {
            ++j.started[e.source];
            ++instance(j, e.from).running;
            if (e.source != run_source::trigger) j.lateness.add(options.lateness_buckets, e.from.at - e.due);
        }
        void count(job_numbers& j, events::item_finished const& e) {
            ++j.ended[e.failure ? name_of(e.failure->code) : std::string_view{"success"}];
            j.duration.add(options.duration_buckets, e.took);
            if (e.failure) ++(e.retry_at ? j.retries : j.failures);
            no_longer_runs(j, e.from);
        }
        void count(job_numbers&, events::script_output const&) {}
        void count(job_numbers& j, events::item_fenced const&) { ++j.fenced; }
        void count(job_numbers& j, events::item_misfired const&) { ++j.misfired; }
        void count(job_numbers& j, events::item_skipped const& e) {
            j.skipped[name_of(e.why)] += e.count;
            if (e.run.number != 0) no_longer_runs(j, e.from);
        }
        void count(job_numbers& j, events::trouble const& e) { ++j.troubles[name_of(e.what.code)]; }
        static void no_longer_runs(job_numbers& j, events::origin const& from) {
            auto& n = instance(j, from).running;
            if (n > 0) --n;
        }

        /// `f(name, numbers)` for each job in the order of their names, the others last.
        template <class F>
        void for_each_job(F f) const {
            for (auto const& [name, numbers] : jobs) f(std::string_view{name}, numbers);
            if (jobs.size() >= options.jobs_max) f(std::string_view{"(others)"}, others);
        }

        void write_to(openmetrics_writer& w) const {
            w.family("elasticjob_runs_started", "counter", "Runs that have begun.");
            for_each_job([&](auto name, auto const& j) {
                for (auto const s :
                     {run_source::schedule, run_source::misfire, run_source::trigger, run_source::failover}) {
                    auto const at = j.started.find(s);
                    w.sample("_total", {{"job", name}, {"source", name_of(s)}}, at == j.started.end() ? 0 : at->second);
                }
            });
            by_name(w, "elasticjob_runs", "Runs that have ended, by outcome.", "outcome", &job_numbers::ended);
            by_name(w, "elasticjob_skipped", "Due instants that were not run, by reason.", "reason",
                    &job_numbers::skipped);
            by_name(w, "elasticjob_troubles", "What went wrong with a job.", "reason", &job_numbers::troubles);
            by_name(w, "elasticjob_session_changes", "States that the registry's session came into.", "state",
                    &job_numbers::states);
            gauge(w, "elasticjob_connected", "Instances of this process whose session is connected.",
                  [](auto const& i) { return i.is_connected; });
            counter(w, "elasticjob_retries", "Runs that failed, and are tried again.", &job_numbers::retries);
            counter(w, "elasticjob_failures", "Runs that failed for good.", &job_numbers::failures);
            counter(w, "elasticjob_runs_fenced", "Runs that another instance has taken over.", &job_numbers::fenced);
            counter(w, "elasticjob_misfired", "Due instants that found their item running.", &job_numbers::misfired);
            counter(w, "elasticjob_reshards", "Assignments written as the leader.", &job_numbers::reshards);
            counter(w, "elasticjob_items_moved", "Items that got another owner by these.", &job_numbers::moved);
            counter(w, "elasticjob_sessions", "Sessions under which an instance registered.", &job_numbers::sessions);
            gauge(w, "elasticjob_running", "Items that run now.", [](auto const& i) { return i.running; });
            gauge(w, "elasticjob_items", "Items that this process owns.", [](auto const& i) { return i.items; });
            gauge(w, "elasticjob_leads", "Instances of this process that lead.", [](auto const& i) { return i.leads; });
            gauge(w, "elasticjob_instances", "Instances of this process in the job.", [](auto const&) { return 1; });
            buckets(w, "elasticjob_lateness_seconds", "From the due instant to the beginning of the run.",
                    options.lateness_buckets, &job_numbers::lateness);
            buckets(w, "elasticjob_duration_seconds", "How long runs take.", options.duration_buckets,
                    &job_numbers::duration);
        }
        void counter(openmetrics_writer& w, char const* name, char const* help, std::uint64_t job_numbers::*of) const {
            w.family(name, "counter", help);
            for_each_job([&](auto job, auto const& j) { w.sample("_total", {{"job", job}}, j.*of); });
        }
        void by_name(openmetrics_writer& w, char const* name, char const* help, char const* label,
                     std::map<std::string_view, std::uint64_t> job_numbers::*of) const {
            w.family(name, "counter", help);
            for_each_job([&](auto job, auto const& j) {
                for (auto const& [reason, n] : j.*of) w.sample("_total", {{"job", job}, {label, reason}}, n);
            });
        }
        template <class F>
        void gauge(openmetrics_writer& w, char const* name, char const* help, F f) const {
            w.family(name, "gauge", help);
            for_each_job([&](auto job, auto const& j) {
                std::uint64_t sum = 0;
                for (auto const& [id, i] : j.instances) sum += static_cast<std::uint64_t>(f(i));
                w.sample("", {{"job", job}}, sum);
            });
        }
        void buckets(openmetrics_writer& w, char const* name, char const* help, std::vector<double> const& bounds,
                     detail::histogram job_numbers::*of) const {
            w.family(name, "histogram", help, "seconds");
            for_each_job([&](auto job, auto const& j) { (j.*of).write_to(w, bounds, {"job", job}); });
        }

        metrics_options const options;
        std::mutex mutex{};
        std::map<std::string, job_numbers, std::less<>> jobs{};
        job_numbers others{};
    };

    std::shared_ptr<state> state_;
};

static_assert(event_sink<MetricsEvents> && metrics_source<MetricsEvents>);

} // namespace elasticjob
#endif // ELASTICJOB_EVENTS_METRICS_EVENTS_HPP
