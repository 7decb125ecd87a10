// SPDX-License-Identifier: Apache-2.0
/// \file \brief Instants in the nodes below `ext`: whole milliseconds since 1970, UTC.
#ifndef ELASTICJOB_CONFIG_INSTANT_TEXT_HPP
#define ELASTICJOB_CONFIG_INSTANT_TEXT_HPP

#include <elasticjob/config/text.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace elasticjob::detail {

std::string milliseconds_text(wall_time t);
/// Accepts any instant in the clock's range. For configurations, in which the ends of the range mean "no limit".
bool read_milliseconds(std::string_view word, wall_time& into);

/// Accepts only instants from 1969 to 2226, so that differences between them also fit into the clock's range.
bool read_instant(std::string_view word, wall_time& into);

/// The same, for an instant that is written as the milliseconds since another one.
bool read_instant_since(wall_time earlier, std::string_view word, wall_time& into);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/config/instant_text.ipp>
#endif
#endif // ELASTICJOB_CONFIG_INSTANT_TEXT_HPP
