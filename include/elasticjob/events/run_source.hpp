// SPDX-License-Identifier: Apache-2.0
/// \file \brief The reason why an item runs.
#ifndef ELASTICJOB_EVENTS_RUN_SOURCE_HPP
#define ELASTICJOB_EVENTS_RUN_SOURCE_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace elasticjob {

enum class run_source : std::uint8_t {
    schedule, ///< it is due
    misfire,  ///< it could not run when it was due, and runs now instead
    trigger,  ///< an operator or the program ordered it
    failover, ///< the instance that ran it is gone
};

namespace detail {
inline constexpr std::array<std::string_view, 4> run_source_names{"schedule", "misfire", "trigger", "failover"};
}

constexpr std::string_view name_of(run_source s) noexcept {
    return detail::run_source_names[static_cast<std::size_t>(s)];
}

} // namespace elasticjob
#endif // ELASTICJOB_EVENTS_RUN_SOURCE_HPP
