// SPDX-License-Identifier: Apache-2.0
/// \file \brief How a dataflow job fetches and processes on this instance.
#ifndef ELASTICJOB_CONFIG_DATAFLOW_OPTIONS_HPP
#define ELASTICJOB_CONFIG_DATAFLOW_OPTIONS_HPP

#include <elasticjob/core/chrono.hpp>

#include <cstdint>

namespace elasticjob {

/// How the items of a dataflow job are fetched, processed and counted.
struct dataflow_options {
    /// What `sharding_context::fetch_count` says: a hint for the body.
    std::uint32_t fetch_count = 1;

    /// By how many threads of the pool what was fetched for one item is processed at most.
    std::uint32_t threads = 1;

    /// How often the numbers of processed elements are written to `ext/counts`; 0 is never. Only if there were any.
    std::chrono::seconds count_interval{300};

    friend bool operator==(dataflow_options const&, dataflow_options const&) = default;
};

} // namespace elasticjob
#endif // ELASTICJOB_CONFIG_DATAFLOW_OPTIONS_HPP
