// SPDX-License-Identifier: Apache-2.0
/// \file \brief The encodings of bytes in headers, URLs and HTML.
#ifndef ELASTICJOB_CONSOLE_ENCODINGS_HPP
#define ELASTICJOB_CONSOLE_ENCODINGS_HPP

#include <elasticjob/core/decl.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace elasticjob::detail {

/// RFC 4648, section 4, with padding; `base64_url` follows section 5, without padding.
std::string base64(std::string_view bytes);
std::string base64_url(std::string_view bytes);

/// Decodes the text. Nothing if `base64_url` cannot have made it.
std::optional<std::string> from_base64_url(std::string_view text);

/// The text as the value of a field in a form or a query: escapes everything but letters, digits and `-._~`.
std::string form_escaped(std::string_view text);

/// The text as HTML, also for an attribute's value in double quotes.
std::string html_escaped(std::string_view text);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/encodings.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_ENCODINGS_HPP
