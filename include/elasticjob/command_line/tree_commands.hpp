// SPDX-License-Identifier: Apache-2.0
/// \file \brief The commands `elasticjob audit …` and `dump`.
#ifndef ELASTICJOB_COMMAND_LINE_TREE_COMMANDS_HPP
#define ELASTICJOB_COMMAND_LINE_TREE_COMMANDS_HPP

#include <elasticjob/command_line/command.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/operations/audit_trail.hpp>
#include <elasticjob/operations/dump.hpp>

#include <string>
#include <vector>

namespace elasticjob::cli {

namespace detail {

report table_of(audit_trail const& trail);
answer answer_for_dump(std::vector<std::string> const& lines);

template <registry Registry>
answer list_commands(Registry& r, arguments const& a) {
    auto const trail = elasticjob::list_commands(r, a.job);
    return trail ? answer{.rows = table_of(*trail)} : failure(trail.error());
}

template <registry Registry>
answer dump_job(Registry& r, arguments const& a) {
    auto const lines = dump(r, a.job);
    return lines ? answer_for_dump(*lines) : failure(lines.error());
}

} // namespace detail

template <registry Registry>
std::vector<command<Registry>> tree_commands() {
    return {
        {{"audit list", "the last commands that operators gave for a job", takes::job | takes::watching},
         &detail::list_commands<Registry>},
        {{"dump", "all nodes of a job as text, with addresses masked", takes::job}, &detail::dump_job<Registry>},
    };
}

} // namespace elasticjob::cli

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/command_line/tree_commands.ipp>
#endif
#endif // ELASTICJOB_COMMAND_LINE_TREE_COMMANDS_HPP
