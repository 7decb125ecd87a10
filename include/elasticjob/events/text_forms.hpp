// SPDX-License-Identifier: Apache-2.0
/// \file \brief Makes any text fit for a log or a database.
#ifndef ELASTICJOB_EVENTS_TEXT_FORMS_HPP
#define ELASTICJOB_EVENTS_TEXT_FORMS_HPP

#include <elasticjob/config/utc_text.hpp>
#include <elasticjob/core/algorithm.hpp> // find_if_not
#include <elasticjob/core/decl.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace elasticjob::detail {

/// Appends the text as it stands between quotes in JSON and logfmt: valid UTF-8, with `"`, `\` and all characters that
/// are unfit for a line escaped.
void append_escaped(std::string& out, std::string_view text);

/// The text shortened to `utf16_units_max` UTF-16 code units, as valid UTF-8 without NUL, which databases do not
/// accept.
std::string clean_text(std::string_view text, std::size_t utf16_units_max);

/// Appends seconds with six decimal places: `1.250000`.
void append_seconds(std::string& out, std::chrono::nanoseconds span);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/events/text_forms.ipp>
#endif
#endif // ELASTICJOB_EVENTS_TEXT_FORMS_HPP
