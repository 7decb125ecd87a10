// SPDX-License-Identifier: Apache-2.0
/// \file \brief One command of the program: its name, its arguments, and its function.
#ifndef ELASTICJOB_COMMAND_LINE_COMMAND_HPP
#define ELASTICJOB_COMMAND_LINE_COMMAND_HPP

#include <elasticjob/command_line/answer.hpp>
#include <elasticjob/command_line/arguments.hpp>
#include <elasticjob/registry/registry_ref.hpp>

#include <string>
#include <string_view>

namespace elasticjob::cli {

/// The properties of a command that its parser and its description need.
struct command_shape {
    std::string_view path; ///< such as `jobs shut-down`
    std::string_view text; ///< for the help, without a full stop
    takes arguments_taken = takes::nothing;

    /// For a command that stops work or removes something: the argument that the operator types to confirm it.
    /// Otherwise null.
    std::string arguments::*confirmed_by = nullptr;

    bool is_harmful() const noexcept { return confirmed_by != nullptr; }
    bool is_command() const noexcept { return has(arguments_taken, takes::a_command); }
};

/// A command on a registry.
///
/// A part of the program, such as `jobs`, is a header with a function that returns the commands of that part. To add a
/// command, add an element there; to add a part, add a line in `commands_of` (program.hpp). The parser, the help, the
/// completion and the manual page are made from these.
template <loop Loop>
struct command : command_shape {
    answer (*run)(registry_ref<Loop>, arguments const&);
};

} // namespace elasticjob::cli
#endif // ELASTICJOB_COMMAND_LINE_COMMAND_HPP
