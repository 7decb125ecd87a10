// SPDX-License-Identifier: Apache-2.0
/// \file \brief The text of a cron expression in a form that Java members understand.
#ifndef ELASTICJOB_CRON_QUARTZ_TEXT_HPP
#define ELASTICJOB_CRON_QUARTZ_TEXT_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/cron/expression.hpp>

#include <string>
#include <string_view>

namespace elasticjob {

/// Six fields, or seven if the expression names years: `0 0/15 9-17 ? * MON-FRI`. `parse_cron` parses it to an equal
/// expression. Quartz does too, unless there is a list of several `L`, `W` or `#`, which it does not support. Time:
/// linear in the text.
std::string quartz_text(cron_expression const& expression);

namespace detail {

/// Converts five fields or a name to six fields. Returns any other text unchanged, even a wrong one.
std::string with_six_fields(std::string_view text);

} // namespace detail

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/cron/quartz_text.ipp>
#endif
#endif // ELASTICJOB_CRON_QUARTZ_TEXT_HPP
