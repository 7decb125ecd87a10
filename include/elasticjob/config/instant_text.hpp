// SPDX-License-Identifier: Apache-2.0
/// \file \brief Instants as our nodes hold them: whole milliseconds since 1970, UTC.
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
/// Any instant that a clock can have: of a configuration, where the ends of the range mean always.
bool read_milliseconds(std::string_view word, wall_time& into);

/// Only instants that something may have happened at, or be due at: from 1969 to 2226. So the differences between them
/// fit into a clock's range, too.
bool read_instant(std::string_view word, wall_time& into);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/config/instant_text.ipp>
#endif
#endif // ELASTICJOB_CONFIG_INSTANT_TEXT_HPP
