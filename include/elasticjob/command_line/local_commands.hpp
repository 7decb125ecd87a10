// SPDX-License-Identifier: Apache-2.0
/// \file \brief The commands that need no registry: `elasticjob cron`, `contexts …`, `completion`, `manual`.
#ifndef ELASTICJOB_COMMAND_LINE_LOCAL_COMMANDS_HPP
#define ELASTICJOB_COMMAND_LINE_LOCAL_COMMANDS_HPP

#include <elasticjob/command_line/answer.hpp>
#include <elasticjob/command_line/command.hpp>
#include <elasticjob/command_line/terminal.hpp>
#include <elasticjob/core/decl.hpp>

#include <array>

namespace elasticjob::cli {

class command_tree;

/// A command that uses only the machine and the program itself.
struct local_command : command_shape {
    answer (*run)(terminal const&, command_tree const&, arguments const&);
};

namespace detail {

answer show_cron(terminal const&, command_tree const&, arguments const& a);
answer list_contexts(terminal const& t, command_tree const&, arguments const&);
answer show_completion(terminal const&, command_tree const&, arguments const& a);
answer show_manual(terminal const&, command_tree const& tree, arguments const&);

} // namespace detail

inline constexpr std::array local_commands{
    local_command{{"cron", "a cron expression in words, and when it is due next", takes::expression},
                  &detail::show_cron},
    local_command{{"contexts list", "the registries of the file of contexts, without their secrets"},
                  &detail::list_contexts},
    local_command{{"completion", "a script that makes a shell complete this program's arguments", takes::shell},
                  &detail::show_completion},
    local_command{{"manual", "the manual page, for man(1)"}, &detail::show_manual},
};

} // namespace elasticjob::cli

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/command_line/local_commands.ipp>
#endif
#endif // ELASTICJOB_COMMAND_LINE_LOCAL_COMMANDS_HPP
