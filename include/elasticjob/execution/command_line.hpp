// SPDX-License-Identifier: Apache-2.0
/// \file \brief Splits the command line of a script job as ElasticJob-Lite 2.1.5 does.
#ifndef ELASTICJOB_EXECUTION_COMMAND_LINE_HPP
#define ELASTICJOB_EXECUTION_COMMAND_LINE_HPP

#include <elasticjob/config/text.hpp> // trim
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// The form in which the program receives a quoted argument.
enum class argument_quoting : std::uint8_t {
    as_parsed, ///< the argument, without its quotes
    literal,   ///< as in 2.1.5: an argument that contains a blank or a quote is passed with quotes around it
};

struct command_line {
    std::string program;
    std::vector<std::string> arguments;

    friend bool operator==(command_line const&, command_line const&) = default;
};

namespace detail {

/// Errors: invalid_config if the quotes are unbalanced.
result<std::vector<std::string>> split_command_line(std::string_view text);

/// Errors: invalid_config if the argument contains both kinds of quotes.
result<std::string> quoted_literally(std::string_view argument);

} // namespace detail

/// JT-6. Only spaces separate words. `"…"` and `'…'` group the characters between them, also in the middle of a word;
/// the other kind of quote is an ordinary character there. There is no escape character, no expansion and no shell. In
/// the program's name `\` counts as `/`. Errors: invalid_config, with the message of 2.1.5.
result<command_line> parse_command_line(std::string_view text, argument_quoting quoting = argument_quoting::as_parsed);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/command_line.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_COMMAND_LINE_HPP
