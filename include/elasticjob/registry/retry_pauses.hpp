// SPDX-License-Identifier: Apache-2.0
/// \file \brief The pauses before a failed request is repeated.
#ifndef ELASTICJOB_REGISTRY_RETRY_PAUSES_HPP
#define ELASTICJOB_REGISTRY_RETRY_PAUSES_HPP

#include <elasticjob/core/error.hpp>

#include <chrono>

namespace elasticjob::detail {

/// After a failure that may pass by itself.
inline constexpr std::chrono::milliseconds retry_pause{200};

/// After a failure that lasts (`is_lasting`).
inline constexpr std::chrono::milliseconds trouble_pause{5'000};

inline std::chrono::milliseconds pause_before_retry(error const& why) noexcept {
    return is_lasting(why) ? trouble_pause : retry_pause;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_REGISTRY_RETRY_PAUSES_HPP
