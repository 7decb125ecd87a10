// SPDX-License-Identifier: Apache-2.0
/// \file \brief The command line of a script job, taken apart as ElasticJob-Lite 2.1.5 takes it apart.
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

/// What the program sees of an argument that was quoted.
enum class argument_quoting : std::uint8_t {
    as_parsed, ///< the argument, without its quotes
    literal,   ///< as under 2.1.5: an argument with a blank or a quote in it arrives with quotes around it
};

struct command_line {
    std::string program;
    std::vector<std::string> arguments;

    friend bool operator==(command_line const&, command_line const&) = default;
};

namespace detail {

/// Errors: invalid_config, the quotes are unbalanced.
result<std::vector<std::string>> split_command_line(std::string_view text);

/// Errors: invalid_config, both kinds of quotes are in it.
result<std::string> quoted_literally(std::string_view argument);

} // namespace detail

/// JT-6. Words are separated by spaces, and by nothing else. `"…"` and `'…'` keep what is between them together, also in the
/// middle of a word; the other kind of quote is an ordinary character there. There is no escape character, nothing is
/// expanded, and no shell has a look at it. In the program's name `\` counts as `/`.
/// Errors: invalid_config, with the words of 2.1.5.
result<command_line> parse_command_line(std::string_view text, argument_quoting quoting = argument_quoting::as_parsed);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/command_line.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_COMMAND_LINE_HPP
