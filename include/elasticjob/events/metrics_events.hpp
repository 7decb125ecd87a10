// SPDX-License-Identifier: Apache-2.0
/// \file \brief Counts events for OpenMetrics and Prometheus.
#ifndef ELASTICJOB_EVENTS_METRICS_EVENTS_HPP
#define ELASTICJOB_EVENTS_METRICS_EVENTS_HPP

#include <elasticjob/core/decl.hpp>
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

/// The limit of series, and the buckets of the histograms.
struct metrics_options {
    /// The maximum number of jobs with their own series. All others share the job `(others)`, as does a job of that
    /// name.
    std::size_t jobs_max = 1000;
    /// Upper bounds in seconds, ascending.
    std::vector<double> lateness_buckets{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 300};
    std::vector<double> duration_buckets{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300, 1800, 3600};
};

/// The metrics that `expose` returns for each job:
///
/// | metric                         | kind      | labels    | counts                                                   |
/// |--------------------------------|-----------|-----------|----------------------------------------------------------|
/// | `elasticjob_runs_started`      | counter   | `source`  | runs that have begun: schedule, misfire, trigger, failover |
/// | `elasticjob_runs`              | counter   | `outcome` | runs that have ended: success, or the code of the error  |
/// | `elasticjob_runs_fenced`       | counter   |           | runs that another instance has taken over                |
/// | `elasticjob_retries`           | counter   |           | runs that failed, and are tried again                    |
/// | `elasticjob_failures`          | counter   |           | runs that failed for good                                |
/// | `elasticjob_skipped`           | counter   | `reason`  | due instants that were not run                           |
/// | `elasticjob_misfired`          | counter   |           | due instants at which the item was still running         |
/// | `elasticjob_reshards`          | counter   |           | assignments that this process has written as the leader  |
/// | `elasticjob_items_moved`       | counter   |           | items that these assignments have moved                  |
/// | `elasticjob_sessions`          | counter   |           | sessions under which an instance has registered          |
/// | `elasticjob_troubles`          | counter   | `reason`  | problems of the job other than failures of runs          |
/// | `elasticjob_running`           | gauge     |           | items that run now                                       |
/// | `elasticjob_progress_done`     | gauge     |           | the units that they have done so far, by their bodies    |
/// | `elasticjob_progress_expected` | gauge     |           | the units that they have to do, by their bodies          |
/// | `elasticjob_items`             | gauge     |           | items that this process owns                             |
/// | `elasticjob_leads`             | gauge     |           | instances of this process that lead the job: 0 or 1      |
/// | `elasticjob_session_changes`   | counter   | `state`   | transitions of the registry's session into a state       |
/// | `elasticjob_connected`         | gauge     |           | instances of this process whose session is connected     |
/// | `elasticjob_instances`         | gauge     |           | instances of this process that are in the job            |
/// | `elasticjob_lateness_seconds`  | histogram |           | from the due instant to the start, without orders        |
/// | `elasticjob_duration_seconds`  | histogram |           | durations of runs                                        |
///
/// A copy shares the numbers: give one copy to the scheduler and read another. The number of series is limited by
/// `jobs_max` and by labels with a fixed set of values. Threads: events on the loop, reading on any thread.
class MetricsEvents {
public:
    explicit MetricsEvents(metrics_options options = {}) : state_{std::make_shared<state>(std::move(options))} {}

    template <class E>
    void operator()(E const& e) const {
        std::lock_guard const lock{state_->mutex};
        state_->count(state_->job(e.from.job), e);
    }

    /// The present numbers in OpenMetrics' text format.
    std::string expose() const { return elasticjob::expose(*this); }

    /// Appends the present numbers, so that several sources can share a page.
    void write_to(openmetrics_writer& w) const;

private:
    struct work_numbers {
        std::uint64_t done, total;
    };
    struct instance_numbers {
        std::uint64_t running = 0, items = 0;
        std::map<item_index, work_numbers> progress{}; ///< of the items that are running and have reported any
        bool leads = false;
        bool is_connected = true; ///< initially true, because the instance has joined
    };
    struct job_numbers {
        std::map<run_source, std::uint64_t> started{};
        std::map<std::string_view, std::uint64_t> ended{}, skipped{}, troubles{},
            states{}; ///< the keys are string literals
        std::uint64_t retries = 0, failures = 0, fenced = 0, misfired = 0, reshards = 0, moved = 0, sessions = 0;
        detail::histogram lateness{}, duration{};
        std::map<std::string, instance_numbers, std::less<>> instances{}; ///< of this process, in the job
    };

    static constexpr std::string_view others_name = "(others)";

    /// All counted numbers. A page is written from a copy of them, so that no event waits for the writing.
    struct all_numbers {
        std::map<std::string, job_numbers, std::less<>> jobs{};
        job_numbers others{};
        bool has_others = false; ///< an event was counted there
    };

    struct state {
        explicit state(metrics_options o) : options{std::move(o)} {}

        all_numbers copy() const {
            std::lock_guard const lock{mutex};
            return numbers;
        }

        job_numbers& job(std::string_view name);
        static instance_numbers& instance(job_numbers& j, events::origin const& from);

        void count(job_numbers& j, events::joined const& e);
        void count(job_numbers& j, events::left const& e) { j.instances.erase(e.from.instance.str()); }
        void count(job_numbers& j, events::leadership_changed const& e) { instance(j, e.from).leads = e.leads; }
        void count(job_numbers& j, events::session_changed const& e);
        void count(job_numbers& j, events::resharded const& e);
        void count(job_numbers& j, events::share_changed const& e) { instance(j, e.from).items = e.items.size(); }
        void count(job_numbers& j, events::item_started const& e);
        void count(job_numbers& j, events::item_finished const& e);
        void count(job_numbers&, events::script_output const&) {}
        void count(job_numbers& j, events::item_progressed const& e) {
            instance(j, e.from).progress.insert_or_assign(e.item, work_numbers{e.done, e.total});
        }
        void count(job_numbers& j, events::item_fenced const&) { ++j.fenced; }
        void count(job_numbers& j, events::item_misfired const&) { ++j.misfired; }
        void count(job_numbers& j, events::item_skipped const& e);
        void count(job_numbers& j, events::trouble const& e) { ++j.troubles[name_of(e.what.code)]; }
        static void no_longer_runs(job_numbers& j, events::origin const& from, item_index item);

        metrics_options const options;
        mutable std::mutex mutex{};
        all_numbers numbers{};
    };

    /// Writes a page from a copy of the numbers.
    struct page {
        /// Calls `f(name, numbers)` for each job, in the order of their names; `(others)` comes last.
        template <class F>
        void for_each_job(F f) const {
            for (auto const& [name, of_job] : numbers.jobs) f(std::string_view{name}, of_job);
            if (numbers.has_others) f(others_name, numbers.others);
        }

        void write_to(openmetrics_writer& w) const;
        void counter(openmetrics_writer& w, char const* name, char const* help, std::uint64_t job_numbers::*of) const;
        void by_name(openmetrics_writer& w, char const* name, char const* help, char const* label,
                     std::map<std::string_view, std::uint64_t> job_numbers::*of) const;
        static std::uint64_t sum(instance_numbers const& i, std::uint64_t work_numbers::*of);
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
                     detail::histogram job_numbers::*of) const;

        metrics_options const& options;
        all_numbers const numbers;
    };

    std::shared_ptr<state> state_;
};

static_assert(event_sink<MetricsEvents> && metrics_source<MetricsEvents>);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/events/metrics_events.ipp>
#endif
#endif // ELASTICJOB_EVENTS_METRICS_EVENTS_HPP
