// SPDX-License-Identifier: Apache-2.0
/// \file \brief The output streams of a script.
#ifndef ELASTICJOB_EVENTS_SCRIPT_STREAM_HPP
#define ELASTICJOB_EVENTS_SCRIPT_STREAM_HPP

#include <cstdint>
#include <string_view>

namespace elasticjob {

enum class script_stream : std::uint8_t { out, err };

constexpr std::string_view name_of(script_stream s) noexcept { return s == script_stream::out ? "stdout" : "stderr"; }

} // namespace elasticjob
#endif // ELASTICJOB_EVENTS_SCRIPT_STREAM_HPP
