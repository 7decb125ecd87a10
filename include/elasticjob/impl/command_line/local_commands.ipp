// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_COMMAND_LINE_LOCAL_COMMANDS_IPP
#define ELASTICJOB_IMPL_COMMAND_LINE_LOCAL_COMMANDS_IPP

#include <elasticjob/command_line/command_tree.hpp>
#include <elasticjob/command_line/contexts_codec.hpp>
#include <elasticjob/command_line/local_commands.hpp>
#include <elasticjob/config/due_times.hpp>
#include <elasticjob/cron/describe.hpp>
#include <elasticjob/cron/system_zone.hpp>

#include <chrono>
#include <string>

namespace elasticjob::cli::detail {

// Each script passes the words up to the cursor to the program. It gets the candidates, each with a tabulator and a
// description after it.

inline constexpr std::string_view bash_script = R"(# bash completion for elasticjob
_elasticjob() {
    local line
    COMPREPLY=()
    while IFS=$'\t' read -r line _; do
        printf -v line %q "$line" # a job's name may have characters that the shell would act upon
        COMPREPLY+=("$line")
    done < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _elasticjob elasticjob
)";

inline constexpr std::string_view zsh_script = R"(#compdef elasticjob
# zsh completion for elasticjob
_elasticjob() {
    local line name
    local -a all
    while IFS= read -r line; do
        name=${line%%$'\t'*}
        all+=("${name//:/\\:}${line#"$name"}")
    done < <("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)
    all=("${(@)all/$'\t'/:}")
    _describe elasticjob all || _files
}
if [ "$funcstack[1]" = _elasticjob ]; then _elasticjob "$@"; else compdef _elasticjob elasticjob; fi
)";

inline constexpr std::string_view fish_script = R"(# fish completion for elasticjob
function __elasticjob_complete
    set -l words (commandline --tokenize --cut-at-cursor --current-process)
    set -l current (commandline --current-token --cut-at-cursor)
    $words[1] __complete $words[2..-1] "$current" 2>/dev/null
end
complete --command elasticjob --no-files --arguments '(__elasticjob_complete)'
complete --command elasticjob --short-option f --long-option file --require-parameter --force-files
)";

ELASTICJOB_DECL answer show_cron(terminal const&, command_tree const&, arguments const& a) {
    auto const words = describe_cron(a.expression);
    if (!words) return failure(words.error());
    auto const zone = SystemZone::load();
    if (!zone) return failure(zone.error());
    auto const due = preview({.name = "cron", .cron = a.expression}, std::chrono::system_clock::now(), a.count, *zone);
    if (!due) return failure(due.error());
    answer shown{.rows = report{{"due", "expression"}}};
    for (auto const t : *due) shown.rows->rows.push_back({t, *words});
    return shown;
}

ELASTICJOB_DECL answer list_contexts(terminal const& t, command_tree const&, arguments const&) {
    auto const file = contexts_file(t.lookup());
    auto const all = read_contexts(file);
    if (!all) return failure(all.error());
    answer shown{.rows = report{{"context", "servers", "namespace", "has_digest"}}};
    for (auto const& [name, c] : *all) shown.rows->rows.push_back({name, c.servers, c.name_space, !c.digest.empty()});
    if (all->empty()) shown.messages = "next: write " + file + ", as docs/operations.md shows\n";
    return shown;
}

ELASTICJOB_DECL answer show_completion(terminal const&, command_tree const&, arguments const& a) {
    auto const script = a.shell == "bash" ? bash_script : a.shell == "zsh" ? zsh_script : fish_script;
    return {.text = std::string{script}};
}

ELASTICJOB_DECL answer show_manual(terminal const&, command_tree const& tree, arguments const&) {
    return {.text = tree.manual_page()};
}

} // namespace elasticjob::cli::detail
#endif // ELASTICJOB_IMPL_COMMAND_LINE_LOCAL_COMMANDS_IPP
