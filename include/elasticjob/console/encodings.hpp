// SPDX-License-Identifier: Apache-2.0
/// \file \brief How bytes are written in headers and URLs: base64, and escapes in forms.
#ifndef ELASTICJOB_CONSOLE_ENCODINGS_HPP
#define ELASTICJOB_CONSOLE_ENCODINGS_HPP

#include <elasticjob/core/decl.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace elasticjob::detail {

/// RFC 4648, section 4, with padding; and section 5, for URLs, without it.
std::string base64(std::string_view bytes);
std::string base64_url(std::string_view bytes);

/// Nothing if the text is not exactly what `base64_url` makes of some bytes.
std::optional<std::string> from_base64_url(std::string_view text);

/// As the value of a field in a form or a query: everything but letters, digits and `-._~` is escaped.
std::string form_escaped(std::string_view text);

/// As text in HTML, and as the value of an attribute in double quotes.
std::string html_escaped(std::string_view text);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/encodings.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_ENCODINGS_HPP
