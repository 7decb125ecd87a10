// SPDX-License-Identifier: Apache-2.0
/// \file \brief Reads a small body of a request: an object with a few texts.
#ifndef ELASTICJOB_CONSOLE_TEXTS_CODEC_HPP
#define ELASTICJOB_CONSOLE_TEXTS_CODEC_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace elasticjob::detail {

/// Reads an object with exactly these members, all of them texts: `{"operator": "ann", "password": "…"}`. Returns the
/// texts in the order of the names. A text must not be empty, contain a zero byte, or have more than 1,024 bytes.
/// Errors: malformed_data, which does not repeat the body.
result<std::vector<std::string>> read_texts(std::string_view body, std::vector<std::string_view> const& names);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/texts_codec.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_TEXTS_CODEC_HPP
