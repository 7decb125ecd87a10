// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EVENTS_REGISTRY_METRICS_IPP
#define ELASTICJOB_IMPL_EVENTS_REGISTRY_METRICS_IPP

#include <elasticjob/events/registry_metrics.hpp>

namespace elasticjob {

ELASTICJOB_DECL RegistryMetrics::RegistryMetrics(registry_metrics_options options)
    : state_{std::make_shared<state>(std::move(options))} {}

ELASTICJOB_DECL void RegistryMetrics::operator()(registry_request const& r) const {
    std::lock_guard const lock{state_->mutex};
    auto& of = state_->operations[static_cast<std::size_t>(r.what)];
    ++of.outcomes[r.outcome];
    of.duration.add(state_->options.duration_buckets, r.took);
}

ELASTICJOB_DECL void RegistryMetrics::write_to(openmetrics_writer& w) const {
    std::lock_guard const lock{state_->mutex};
    w.family("elasticjob_registry_requests", "counter", "Requests to the registry that have ended, by outcome.");
    state_->for_each_used([&](auto name, auto const& of) {
        for (auto const& [outcome, n] : of.outcomes) w.sample("_total", {{"operation", name}, {"outcome", outcome}}, n);
    });
    w.family("elasticjob_registry_request_duration_seconds", "histogram", "How long requests to the registry take.",
             "seconds");
    state_->for_each_used([&](auto name, auto const& of) {
        of.duration.write_to(w, state_->options.duration_buckets, {"operation", name});
    });
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_EVENTS_REGISTRY_METRICS_IPP
