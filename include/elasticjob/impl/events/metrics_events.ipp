// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EVENTS_METRICS_EVENTS_IPP
#define ELASTICJOB_IMPL_EVENTS_METRICS_EVENTS_IPP

#include <elasticjob/events/metrics_events.hpp>

namespace elasticjob {

ELASTICJOB_DECL void MetricsEvents::write_to(openmetrics_writer& w) const {
    page{state_->options, state_->copy()}.write_to(w);
}

ELASTICJOB_DECL auto MetricsEvents::state::job(std::string_view name) -> job_numbers& {
    auto& jobs = numbers.jobs;
    auto at = jobs.find(name);
    if (name == others_name || (at == jobs.end() && jobs.size() >= options.jobs_max)) {
        numbers.has_others = true;
        return numbers.others;
    }
    if (at == jobs.end()) at = jobs.emplace(name, job_numbers{}).first;
    return at->second;
}

ELASTICJOB_DECL auto MetricsEvents::state::instance(job_numbers& j, events::origin const& from) -> instance_numbers& {
    auto const at = j.instances.find(std::string_view{from.instance.str()});
    return at != j.instances.end() ? at->second : j.instances[from.instance.str()];
}

ELASTICJOB_DECL void MetricsEvents::state::count(job_numbers& j, events::joined const& e) {
    ++j.sessions;
    instance(j, e.from).is_connected = true;
}

ELASTICJOB_DECL void MetricsEvents::state::count(job_numbers& j, events::session_changed const& e) {
    ++j.states[name_of(e.state)];
    instance(j, e.from).is_connected = e.state == session_state::connected;
}

ELASTICJOB_DECL void MetricsEvents::state::count(job_numbers& j, events::resharded const& e) {
    ++j.reshards;
    j.moved += e.moved;
}

ELASTICJOB_DECL void MetricsEvents::state::count(job_numbers& j, events::item_started const& e) {
    ++j.started[e.source];
    ++instance(j, e.from).running;
    if (e.source != run_source::trigger) j.lateness.add(options.lateness_buckets, e.from.at - e.due);
}

ELASTICJOB_DECL void MetricsEvents::state::count(job_numbers& j, events::item_finished const& e) {
    ++j.ended[e.failure ? name_of(e.failure->code) : std::string_view{"success"}];
    j.duration.add(options.duration_buckets, e.took);
    if (e.failure) ++(e.retry_at ? j.retries : j.failures);
    no_longer_runs(j, e.from, e.item);
}

ELASTICJOB_DECL void MetricsEvents::state::count(job_numbers& j, events::item_skipped const& e) {
    j.skipped[name_of(e.why)] += e.count;
    if (e.run.number != 0) no_longer_runs(j, e.from, e.item);
}

ELASTICJOB_DECL void MetricsEvents::state::no_longer_runs(job_numbers& j, events::origin const& from,
                                                          item_index item) {
    auto& i = instance(j, from);
    if (i.running > 0) --i.running;
    i.progress.erase(item);
}

ELASTICJOB_DECL std::uint64_t MetricsEvents::page::sum(instance_numbers const& i, std::uint64_t work_numbers::*of) {
    std::uint64_t sum = 0;
    for (auto const& [item, work] : i.progress) sum += work.*of;
    return sum;
}

ELASTICJOB_DECL void MetricsEvents::page::write_to(openmetrics_writer& w) const {
    w.family("elasticjob_runs_started", "counter", "Runs that have begun.");
    for_each_job([&](auto name, auto const& j) {
        for (auto const s : {run_source::schedule, run_source::misfire, run_source::trigger, run_source::failover}) {
            auto const at = j.started.find(s);
            w.sample("_total", {{"job", name}, {"source", name_of(s)}}, at == j.started.end() ? 0 : at->second);
        }
    });
    by_name(w, "elasticjob_runs", "Runs that have ended, by outcome.", "outcome", &job_numbers::ended);
    by_name(w, "elasticjob_skipped", "Due instants that were not run, by reason.", "reason", &job_numbers::skipped);
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
    gauge(w, "elasticjob_progress_done", "What the items that run now have done so far, as their bodies report it.",
          [](auto const& i) { return sum(i, &work_numbers::done); });
    gauge(w, "elasticjob_progress_expected", "What the items that run now are to do, as their bodies report it.",
          [](auto const& i) { return sum(i, &work_numbers::total); });
    gauge(w, "elasticjob_items", "Items that this process owns.", [](auto const& i) { return i.items; });
    gauge(w, "elasticjob_leads", "Instances of this process that lead.", [](auto const& i) { return i.leads; });
    gauge(w, "elasticjob_instances", "Instances of this process in the job.", [](auto const&) { return 1; });
    buckets(w, "elasticjob_lateness_seconds", "From the due instant to the beginning of the run.",
            options.lateness_buckets, &job_numbers::lateness);
    buckets(w, "elasticjob_duration_seconds", "How long runs take.", options.duration_buckets, &job_numbers::duration);
}

ELASTICJOB_DECL void MetricsEvents::page::counter(openmetrics_writer& w, char const* name, char const* help,
                                                  std::uint64_t job_numbers::*of) const {
    w.family(name, "counter", help);
    for_each_job([&](auto job, auto const& j) { w.sample("_total", {{"job", job}}, j.*of); });
}

ELASTICJOB_DECL void MetricsEvents::page::by_name(openmetrics_writer& w, char const* name, char const* help,
                                                  char const* label,
                                                  std::map<std::string_view, std::uint64_t> job_numbers::*of) const {
    w.family(name, "counter", help);
    for_each_job([&](auto job, auto const& j) {
        for (auto const& [reason, n] : j.*of) w.sample("_total", {{"job", job}, {label, reason}}, n);
    });
}

ELASTICJOB_DECL void MetricsEvents::page::buckets(openmetrics_writer& w, char const* name, char const* help,
                                                  std::vector<double> const& bounds,
                                                  detail::histogram job_numbers::*of) const {
    w.family(name, "histogram", help, "seconds");
    for_each_job([&](auto job, auto const& j) { (j.*of).write_to(w, bounds, {"job", job}); });
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_EVENTS_METRICS_EVENTS_IPP
