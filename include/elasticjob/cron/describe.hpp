// SPDX-License-Identifier: Apache-2.0
/// \file \brief Describes a cron expression in English: "at 09:00 from Monday to Friday".
#ifndef ELASTICJOB_CRON_DESCRIBE_HPP
#define ELASTICJOB_CRON_DESCRIBE_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/cron/expression.hpp>

#include <string>
#include <string_view>

namespace elasticjob {

/// A description of the times at which the expression is due. The words are for people and may change from version to
/// version. Equal expressions get equal words, however they are written.
///
/// | expression                | words                                                        |
/// |---------------------------|--------------------------------------------------------------|
/// | `0 0/15 9-17 ? * MON-FRI` | every 15 minutes from 09:00 to 17:59, from Monday to Friday  |
/// | `@daily`                  | at 00:00 every day                                           |
/// | `0 30 6 L * ?`            | at 06:30 on the last day of the month                        |
/// | `0 0 12 ? 1,7 FRI#3`      | at 12:00 on the third Friday of the month, in January and July |
std::string describe(cron_expression const& expression);

/// As above, for the text of an expression. Errors: those of `parse_cron`.
result<std::string> describe_cron(std::string_view text);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/cron/describe.ipp>
#endif
#endif // ELASTICJOB_CRON_DESCRIBE_HPP
