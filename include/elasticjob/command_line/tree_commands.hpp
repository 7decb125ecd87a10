// SPDX-License-Identifier: Apache-2.0
/// \file \brief The commands `elasticjob audit …`, `tree …` and `dump`.
#ifndef ELASTICJOB_COMMAND_LINE_TREE_COMMANDS_HPP
#define ELASTICJOB_COMMAND_LINE_TREE_COMMANDS_HPP

#include <elasticjob/command_line/command.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/error.hpp>
#include <elasticjob/core/hash.hpp>
#include <elasticjob/operations/audit_trail.hpp>
#include <elasticjob/operations/command_in_job.hpp>
#include <elasticjob/operations/dump.hpp>
#include <elasticjob/operations/tree_health.hpp>

#include <string>
#include <utility>
#include <vector>

namespace elasticjob::cli {

namespace detail {

report table_of(audit_trail const& trail);
report table_of(std::vector<tree_finding> const& findings);
answer answer_for_dump(std::vector<std::string> const& lines);

template <loop Loop>
answer list_commands(registry_ref<Loop> r, arguments const& a) {
    auto const trail = elasticjob::list_commands(r, a.job);
    return trail ? answer{.rows = table_of(*trail)} : failure(trail.error());
}

template <loop Loop>
answer dump_job(registry_ref<Loop> r, arguments const& a) {
    auto const lines = dump(r, a.job);
    return lines ? answer_for_dump(*lines) : failure(lines.error());
}

template <loop Loop>
answer check_tree(registry_ref<Loop> r, arguments const& a) {
    auto const found = check_job(r, a.job);
    return found ? answer{.rows = table_of(*found)} : failure(found.error());
}

/// Repairs all findings that can be repaired, one after the other, and shows the others. The exit code is that of the
/// first repair whose effect is unknown, or else of the first one that failed, unless the fault is gone, as when the
/// node above it was removed.
template <loop Loop>
answer repair_tree(registry_ref<Loop> r, arguments const& a) {
    auto const found = check_job(r, a.job);
    if (!found) return failure(found.error());
    std::string messages;
    std::vector<std::pair<tree_finding, error>> failed;
    bool has_begun = false;
    for (auto const& finding : *found) {
        if (!finding.is_repairable) continue;
        auto by = a.by();
        // When the command is repeated, the findings that are left have the same keys as before.
        by.key += "/" + std::to_string(elasticjob::detail::fnv_1a(finding.path));
        auto const done = repair(r, finding, std::move(by));
        messages += finding.path + ": " + (done ? done->text : to_string(done.error())) + "\n";
        if (done)
            has_begun = true;
        else
            failed.emplace_back(finding, done.error());
    }
    auto const left = check_job(r, a.job);
    auto shown = left ? answer{.rows = table_of(*left)} : failure(left.error());
    shown.messages.insert(0, messages);
    error const* worst = nullptr;
    for (auto const& [finding, why] : failed) {
        auto const is_same = [&f = finding](tree_finding const& now) {
            return now.path == f.path && now.what == f.what;
        };
        if (left && std::none_of(left->begin(), left->end(), is_same)) continue;
        if (elasticjob::detail::is_worse(why, worst)) worst = &why;
    }
    if (worst && (left || is_effect_unknown(worst->code))) shown.code = exit_code_of(worst->code);
    shown.has_begun = has_begun && shown.code != exit_code::done;
    return shown;
}

} // namespace detail

template <loop Loop>
std::vector<command<Loop>> tree_commands() {
    return {
        {{"audit list", "the last commands that operators gave for a job", takes::job | takes::watching},
         &detail::list_commands<Loop>},
        {{"tree check", "which nodes of a job are wrong, and what would repair them", takes::job | takes::watching},
         &detail::check_tree<Loop>},
        {{"tree repair", "repair the nodes of a job that can be repaired, and show the others",
          takes::job | takes::a_command, &arguments::job},
         &detail::repair_tree<Loop>},
        {{"dump", "all nodes of a job as text, with addresses masked", takes::job}, &detail::dump_job<Loop>},
    };
}

} // namespace elasticjob::cli

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/command_line/tree_commands.ipp>
#endif
#endif // ELASTICJOB_COMMAND_LINE_TREE_COMMANDS_HPP
