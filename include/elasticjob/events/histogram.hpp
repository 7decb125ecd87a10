// SPDX-License-Identifier: Apache-2.0
/// \file \brief Counts durations in buckets.
#ifndef ELASTICJOB_EVENTS_HISTOGRAM_HPP
#define ELASTICJOB_EVENTS_HISTOGRAM_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/events/openmetrics.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob::detail {

/// `bounds`: the upper bounds of the buckets, in seconds, ascending, the same in each call.
class histogram {
public:
    void add(std::vector<double> const& bounds, std::chrono::nanoseconds span);

    /// Writes the samples of one series of the current family.
    void write_to(openmetrics_writer& w, std::vector<double> const& bounds,
                  std::pair<std::string_view, std::string_view> label) const;

private:
    std::vector<std::uint64_t> counts_{}; ///< of each bucket alone, and of values beyond the last bound
    double sum_ = 0;
};

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/events/histogram.ipp>
#endif
#endif // ELASTICJOB_EVENTS_HISTOGRAM_HPP
