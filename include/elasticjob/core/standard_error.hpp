// SPDX-License-Identifier: Apache-2.0
/// \file \brief Writes lines to standard error without waiting.
#ifndef ELASTICJOB_CORE_STANDARD_ERROR_HPP
#define ELASTICJOB_CORE_STANDARD_ERROR_HPP

#include <elasticjob/core/decl.hpp>

#include <string_view>

namespace elasticjob::detail {

/// Writes one line, which is passed without its line end. Escapes unfit characters (core/line_text.hpp). If standard
/// error does not accept the whole line at once, the line is lost; the next accepted line states how many were lost.
/// Threads: any.
void tell_standard_error(std::string_view text);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/core/standard_error.ipp>
#endif
#endif // ELASTICJOB_CORE_STANDARD_ERROR_HPP
