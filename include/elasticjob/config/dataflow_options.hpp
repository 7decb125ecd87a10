// SPDX-License-Identifier: Apache-2.0
/// \file \brief How a dataflow job fetches and processes on this instance.
#ifndef ELASTICJOB_CONFIG_DATAFLOW_OPTIONS_HPP
#define ELASTICJOB_CONFIG_DATAFLOW_OPTIONS_HPP

#include <elasticjob/core/chrono.hpp>

#include <cstdint>

namespace elasticjob {

/// The options with which an instance fetches, processes and counts the data of a dataflow job.
struct dataflow_options {
    /// The value of `sharding_context::fetch_count`: a hint for the body.
    std::uint32_t fetch_count = 1;

    /// The maximum number of threads of the pool that process one batch of an item.
    std::uint32_t threads = 1;

    /// The interval at which the numbers of processed elements are written to `ext/counts`, if there were any; 0 means
    /// never.
    std::chrono::seconds count_interval{300};

    friend bool operator==(dataflow_options const&, dataflow_options const&) = default;
};

} // namespace elasticjob
#endif // ELASTICJOB_CONFIG_DATAFLOW_OPTIONS_HPP
