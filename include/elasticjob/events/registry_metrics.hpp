// SPDX-License-Identifier: Apache-2.0
/// \file \brief Counts a registry's requests and measures how long they take, for OpenMetrics and Prometheus.
#ifndef ELASTICJOB_EVENTS_REGISTRY_METRICS_HPP
#define ELASTICJOB_EVENTS_REGISTRY_METRICS_HPP

#include <elasticjob/core/memory.hpp>
#include <elasticjob/events/histogram.hpp>
#include <elasticjob/events/metrics_source.hpp>
#include <elasticjob/registry/measured_registry.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

struct registry_metrics_options {
    /// Upper bounds in seconds, ascending.
    std::vector<double> duration_buckets{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                         0.1,    0.25,  0.5,    1,     2.5,  5,     10};
};

/// The meter of a `MeasuredRegistry`. What it writes:
///
/// | metric                                         | kind      | labels                 | counts                           |
/// |------------------------------------------------|-----------|------------------------|----------------------------------|
/// | `elasticjob_registry_requests`                 | counter   | `operation`, `outcome` | requests that have ended         |
/// | `elasticjob_registry_request_duration_seconds` | histogram | `operation`            | of these, whatever their outcome |
///
/// Operations are those of the concept `registry`, outcomes those of `registry_request`; `no_node` is one that is often well.
/// An operation that has not been used has no series. A copy shares the numbers: one is the registry's, another is asked; two
/// registries with copies of one are counted together. Threads: told on the loop, asked from any thread.
class RegistryMetrics {
public:
    explicit RegistryMetrics(registry_metrics_options options = {})
        : state_{std::make_shared<state>(std::move(options))} {}

    void operator()(registry_request const& r) const {
        std::lock_guard const lock{state_->mutex};
        auto& of = state_->operations[static_cast<std::size_t>(r.what)];
        ++of.outcomes[r.outcome];
        of.duration.add(state_->options.duration_buckets, r.took);
    }

    void write_to(openmetrics_writer& w) const {
        std::lock_guard const lock{state_->mutex};
        w.family("elasticjob_registry_requests", "counter", "Requests to the registry that have ended, by outcome.");
        state_->for_each_used([&](auto name, auto const& of) {
            for (auto const& [outcome, n] : of.outcomes)
                w.sample("_total", {{"operation", name}, {"outcome", outcome}}, n);
        });
        w.family("elasticjob_registry_request_duration_seconds", "histogram", "How long requests to the registry take.",
                 "seconds");
        state_->for_each_used([&](auto name, auto const& of) {
            of.duration.write_to(w, state_->options.duration_buckets, {"operation", name});
        });
    }

private:
    struct numbers {
        std::map<std::string_view, std::uint64_t> outcomes{};
        detail::histogram duration{};
    };
    struct state {
        explicit state(registry_metrics_options o) : options{std::move(o)} {}

        template <class F>
        void for_each_used(F f) const {
            for (std::size_t n = 0; n != operations.size(); ++n)
                if (!operations[n].outcomes.empty()) f(name_of(static_cast<registry_operation>(n)), operations[n]);
        }

        registry_metrics_options const options;
        std::mutex mutex{};
        std::array<numbers, 7> operations{};
    };

    std::shared_ptr<state> state_;
};

static_assert(registry_meter<RegistryMetrics> && metrics_source<RegistryMetrics>);

} // namespace elasticjob
#endif // ELASTICJOB_EVENTS_REGISTRY_METRICS_HPP
