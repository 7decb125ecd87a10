// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_COMMAND_LINE_TREE_COMMANDS_IPP
#define ELASTICJOB_IMPL_COMMAND_LINE_TREE_COMMANDS_IPP

#include <elasticjob/command_line/tree_commands.hpp>

namespace elasticjob::cli::detail {

ELASTICJOB_DECL report table_of(audit_trail const& trail) {
    report table{{"number", "at", "operator", "verb", "subject", "outcome", "note", "key"}};
    for (auto const& c : trail.entries())
        table.rows.push_back({c.number, c.at, c.operator_name, c.verb, c.subject, name_of(c.outcome), c.note, c.key});
    return table;
}

ELASTICJOB_DECL report table_of(std::vector<tree_finding> const& findings) {
    report table{{"path", "fault", "repairable", "text", "repair"}};
    for (auto const& f : findings)
        table.rows.push_back({f.path, name_of(f.what), f.is_repairable, f.text, f.repair});
    return table;
}

ELASTICJOB_DECL answer answer_for_dump(std::vector<std::string> const& lines) {
    constexpr std::string_view separator = " | "; // between the path and the value
    answer a{.rows = report{{"path", "value"}}, .text = dump_text(lines)};
    for (auto const& line : lines) {
        auto const end = line.find(separator);
        a.rows->rows.push_back({line.substr(0, end), line.substr(end + separator.size())});
    }
    return a;
}

} // namespace elasticjob::cli::detail
#endif // ELASTICJOB_IMPL_COMMAND_LINE_TREE_COMMANDS_IPP
