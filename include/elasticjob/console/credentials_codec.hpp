// SPDX-License-Identifier: Apache-2.0
/// \file \brief What an operator signs in with.
#ifndef ELASTICJOB_CONSOLE_CREDENTIALS_CODEC_HPP
#define ELASTICJOB_CONSOLE_CREDENTIALS_CODEC_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>

#include <string>
#include <string_view>

namespace elasticjob::detail {

struct credentials {
    std::string operator_name, password;
};

/// Reads `{"operator": "ann", "password": "…"}`. Errors: malformed_data, which does not repeat the text.
result<credentials> read_credentials(std::string_view json);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/credentials_codec.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_CREDENTIALS_CODEC_HPP
