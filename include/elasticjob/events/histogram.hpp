// SPDX-License-Identifier: Apache-2.0
/// \file \brief Counts spans of time in buckets.
#ifndef ELASTICJOB_EVENTS_HISTOGRAM_HPP
#define ELASTICJOB_EVENTS_HISTOGRAM_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/events/openmetrics.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob::detail {

/// `bounds`: of the buckets, in seconds, ascending, the same in each call.
class histogram {
public:
    void add(std::vector<double> const& bounds, std::chrono::nanoseconds span) {
        // A clock that was put back is no negative span.
        auto const seconds = std::max(0.0, std::chrono::duration<double>{span}.count());
        counts_.resize(bounds.size() + 1);
        auto const at = std::lower_bound(bounds.begin(), bounds.end(), seconds) - bounds.begin();
        ++counts_[static_cast<std::size_t>(at)];
        sum_ += seconds;
    }

    /// The samples of one series of the family in hand.
    void write_to(openmetrics_writer& w, std::vector<double> const& bounds,
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

private:
    std::vector<std::uint64_t> counts_{}; ///< of each bucket alone, and of what is beyond the last
    double sum_ = 0;
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_EVENTS_HISTOGRAM_HPP
