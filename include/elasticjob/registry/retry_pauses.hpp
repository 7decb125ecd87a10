// SPDX-License-Identifier: Apache-2.0
/// \file \brief The pauses before a failed request is repeated.
#ifndef ELASTICJOB_REGISTRY_RETRY_PAUSES_HPP
#define ELASTICJOB_REGISTRY_RETRY_PAUSES_HPP

#include <elasticjob/core/algorithm.hpp>
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

/// After the first failure in a row, which has the number 0, this is `retry_pause`; after each further one it is twice
/// as long, up to `max`.
constexpr std::chrono::milliseconds growing_pause(unsigned number,
                                                  std::chrono::milliseconds max = std::chrono::minutes{1}) noexcept {
    return std::min(retry_pause * (1 << std::min(number, 20U)), max);
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_REGISTRY_RETRY_PAUSES_HPP
