// SPDX-License-Identifier: Apache-2.0
/// \file \brief Counts a registry's requests and measures how long they take, for OpenMetrics and Prometheus.
#ifndef ELASTICJOB_EVENTS_REGISTRY_METRICS_HPP
#define ELASTICJOB_EVENTS_REGISTRY_METRICS_HPP

#include <elasticjob/core/decl.hpp>
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

/// The buckets of the histogram.
struct registry_metrics_options {
    /// Upper bounds in seconds, ascending.
    std::vector<double> duration_buckets{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                         0.1,    0.25,  0.5,    1,     2.5,  5,     10};
};

/// The meter of a `MeasuredRegistry`. It writes these metrics:
///
/// | metric                                         | kind      | labels                 | counts                           |
/// |------------------------------------------------|-----------|------------------------|----------------------------------|
/// | `elasticjob_registry_requests`                 | counter   | `operation`, `outcome` | requests that have ended         |
/// | `elasticjob_registry_request_duration_seconds` | histogram | `operation`            | of these, with any outcome       |
///
/// Operations are those of the concept `registry`, outcomes those of `registry_request`. `no_node` is often a normal
/// outcome. An operation that has not been used has no series. A copy shares the numbers: give one copy to the registry
/// and read another. If two registries have copies of one meter, it counts both together. Threads: requests on the
/// loop, reading on any thread.
class RegistryMetrics {
public:
    explicit RegistryMetrics(registry_metrics_options options = {});

    void operator()(registry_request const& r) const;

    void write_to(openmetrics_writer& w) const;

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

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/events/registry_metrics.ipp>
#endif
#endif // ELASTICJOB_EVENTS_REGISTRY_METRICS_HPP
