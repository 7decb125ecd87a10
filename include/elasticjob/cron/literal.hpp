// SPDX-License-Identifier: Apache-2.0
/// \file \brief `"0/5 * * * * ?"_cron`: a cron expression that the compiler parses.
#ifndef ELASTICJOB_CRON_LITERAL_HPP
#define ELASTICJOB_CRON_LITERAL_HPP

#include <elasticjob/cron/expression.hpp>

#include <cstddef>
#include <string_view>

namespace elasticjob {

namespace detail {

/// The text of a literal as a template parameter.
template <std::size_t Size>
struct cron_literal {
    char text[Size]{};

    constexpr cron_literal(char const (&literal)[Size]) noexcept {
        for (std::size_t i = 0; i < Size; ++i) text[i] = literal[i];
    }
    constexpr std::string_view view() const noexcept { return {text, Size - 1}; }
};

/// Neither constexpr nor defined: the compiler rejects the call and prints its arguments.
template <cron_field Field, cron_problem Problem, std::size_t Column>
void this_cron_literal_is_wrong();

} // namespace detail

inline namespace literals {

/// The same dialect and checks as `parse_cron`. A wrong literal does not compile. The compiler's message contains
/// `this_cron_literal_is_wrong` with the field, the problem and the column.
template <detail::cron_literal Literal>
consteval cron_expression operator""_cron() {
    constexpr auto parsed = detail::cron_parser{Literal.view()}.parse();
    constexpr auto fault = parsed.fault;
    if constexpr (fault) detail::this_cron_literal_is_wrong<fault.field, fault.problem, fault.column()>();
    return cron_expression{parsed.fields};
}

} // namespace literals

} // namespace elasticjob
#endif // ELASTICJOB_CRON_LITERAL_HPP
