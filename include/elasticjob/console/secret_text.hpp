// SPDX-License-Identifier: Apache-2.0
/// \file \brief Unguessable texts, and their comparison.
#ifndef ELASTICJOB_CONSOLE_SECRET_TEXT_HPP
#define ELASTICJOB_CONSOLE_SECRET_TEXT_HPP

#include <elasticjob/core/decl.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace elasticjob::detail {

/// 256 random bits, in 64 hexadecimal digits. Nothing if the system has no random bytes.
std::optional<std::string> random_token();

/// Compares the texts in a time that does not depend on their first difference.
bool is_same_secret(std::string_view a, std::string_view b);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/secret_text.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_SECRET_TEXT_HPP
