// SPDX-License-Identifier: Apache-2.0
/// \file \brief A cron expression in Quartz's dialect, as a value.
#ifndef ELASTICJOB_CRON_EXPRESSION_HPP
#define ELASTICJOB_CRON_EXPRESSION_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/cron/fields.hpp>
#include <elasticjob/cron/parser.hpp>

#include <string>
#include <string_view>

namespace elasticjob {

/// The times at which a job is due, on the wall clock of a zone that is chosen later (cron/next.hpp). Made by
/// `parse_cron`, or at compile time by the literal `"0/5 * * * * ?"_cron` (cron/literal.hpp). So it is due at least
/// once between 1970 and 2225. A literal type of 88 bytes without heap memory, trivially copyable.
///
/// Equal expressions are due at the same times, however they are written: `0/30 * * * * ?` equals `0,30 * * ? * 1-7`.
class cron_expression {
public:
    /// For the parser. Precondition: the fields match some local time.
    constexpr explicit cron_expression(detail::cron_fields const& fields) noexcept : fields_{fields} {}

    /// Whether the hour is `*`. Such a schedule follows another rule for clock changes than a schedule that names its
    /// hours.
    constexpr bool fires_in_every_hour() const noexcept { return fields_.hours == detail::all_hours; }

    /// For the search.
    constexpr detail::cron_fields const& fields() const noexcept { return fields_; }

    friend constexpr bool operator==(cron_expression const&, cron_expression const&) = default;

private:
    detail::cron_fields fields_;
};

namespace detail {

/// An error such as `Invalid Month value: 'Foo'. Months are 1 to 12 or JAN to DEC`, at `column 9`.
error error_of(cron_fault const& fault, std::string_view text);

} // namespace detail

/// Parses six or seven fields, separated by blanks: seconds minutes hours day-of-month month day-of-week [year]; or
/// five fields as in Unix's crontab; or a name such as `@daily`. docs/cron.md describes the whole dialect. Mistakes
/// that Quartz silently ignores are errors here.
///
/// Errors: invalid_cron; cron_never_fires if the text is well formed but no date from 1970 to 2225 matches. `what`
/// names the fault and the correct form, `where` is `column N` of the first wrong character, counted from 1. Time:
/// linear in the text, 0.1 to 0.4 us for usual expressions; allocates memory only for an error.
result<cron_expression> parse_cron(std::string_view text);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/cron/expression.ipp>
#endif
#endif // ELASTICJOB_CRON_EXPRESSION_HPP
