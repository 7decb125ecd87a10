// SPDX-License-Identifier: Apache-2.0
/// \file \brief The role of a source of metrics for `/metrics`, and a combination of several sources.
#ifndef ELASTICJOB_EVENTS_METRICS_SOURCE_HPP
#define ELASTICJOB_EVENTS_METRICS_SOURCE_HPP

#include <elasticjob/events/openmetrics.hpp>

#include <concepts>
#include <string>
#include <tuple>
#include <utility>

namespace elasticjob {

/// | expression      | must hold                                                                    |
/// |-----------------|------------------------------------------------------------------------------|
/// | `m.write_to(w)` | writes its current families completely, and none that another source has     |
/// A copy shares the numbers. Models: MetricsEvents, RegistryMetrics, AllMetrics. Threads: any.
template <class M>
concept metrics_source = std::copy_constructible<M> && requires(M const& m, openmetrics_writer& w) {
    m.write_to(w);
};

/// All current numbers, in OpenMetrics' text format.
template <metrics_source M>
std::string expose(M const& m) {
    openmetrics_writer w;
    m.write_to(w);
    return w.finish();
}

/// Several sources for one endpoint: `MetricsEndpoint::start(AllMetrics{events, requests})`.
template <metrics_source... M>
class AllMetrics {
public:
    explicit AllMetrics(M... all) : all_{std::move(all)...} {}

    void write_to(openmetrics_writer& w) const {
        std::apply([&](auto const&... each) { (each.write_to(w), ...); }, all_);
    }

private:
    std::tuple<M...> all_;
};

} // namespace elasticjob
#endif // ELASTICJOB_EVENTS_METRICS_SOURCE_HPP
