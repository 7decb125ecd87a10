// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EVENTS_HISTOGRAM_IPP
#define ELASTICJOB_IMPL_EVENTS_HISTOGRAM_IPP

#include <elasticjob/events/histogram.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL void histogram::add(std::vector<double> const& bounds, std::chrono::nanoseconds span) {
    // If the clock was set back, the duration is negative; count it as 0.
    auto const seconds = std::max(0.0, std::chrono::duration<double>{span}.count());
    counts_.resize(bounds.size() + 1);
    auto const at = std::lower_bound(bounds.begin(), bounds.end(), seconds) - bounds.begin();
    ++counts_[static_cast<std::size_t>(at)];
    sum_ += seconds;
}

ELASTICJOB_DECL void histogram::write_to(openmetrics_writer& w, std::vector<double> const& bounds,
                                         std::pair<std::string_view, std::string_view> label) const {
    std::uint64_t sum = 0;
    for (std::size_t n = 0; n <= bounds.size(); ++n) {
        if (!counts_.empty()) sum += counts_[n];
        auto const le = n < bounds.size() ? openmetrics_writer::number(bounds[n]) : std::string{"+Inf"};
        w.sample("_bucket", {label, {"le", le}}, sum);
    }
    w.sample("_count", {label}, sum);
    w.sample("_sum", {label}, sum_);
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_EVENTS_HISTOGRAM_IPP
