// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_COMMAND_LINE_ITEM_COMMANDS_IPP
#define ELASTICJOB_IMPL_COMMAND_LINE_ITEM_COMMANDS_IPP

#include <elasticjob/command_line/item_commands.hpp>

namespace elasticjob::cli::detail {

ELASTICJOB_DECL report table_of(item_page const& page) {
    report table{{"item", "status", "health", "owner", "begun", "outcome", "next_due", "dead_letters", "note"}};
    for (auto const& i : page.items) {
        auto const* const last = i.ledger.empty() ? nullptr : &i.ledger.back();
        auto const begun = i.running ? std::optional{i.running->begun} : std::nullopt;
        table.rows.push_back({i.item, name_of(i.status), name_of(i.health), i.owner, begun,
                              last ? name_of(last->outcome) : std::string_view{}, i.next_due, i.dead_letters,
                              i.fault ? to_string(*i.fault)
                              : last  ? last->note
                                      : std::string{}});
    }
    return table;
}

ELASTICJOB_DECL report table_of(run_record const& record) {
    report table{{"due", "attempt", "outcome", "instance", "begun", "ended", "count", "note"}, {}, 2};
    for (auto const& e : record.ledger)
        table.rows.push_back(
            {e.run.due, e.run.attempt, name_of(e.outcome), e.run.instance, e.run.begun, e.ended, e.count, e.note});
    return table;
}

ELASTICJOB_DECL report table_of(std::vector<dead_letter> const& letters) {
    report table{{"item", "due_ms", "attempt", "due", "instance", "ended", "note"}, {}, 3};
    for (auto const& l : letters)
        table.rows.push_back({l.item,
                              std::chrono::floor<std::chrono::milliseconds>(l.run.run.due).time_since_epoch().count(),
                              l.run.run.attempt, l.run.run.due, l.run.run.instance, l.run.ended, l.run.note});
    return table;
}

ELASTICJOB_DECL answer answer_for(arguments const& a, explanation const& e) {
    return {.rows =
                report{{"job", "item", "owner", "disabled", "text"}, {{a.job, a.item, e.owner, e.is_disabled, e.text}}},
            .text = e.text + "\n"};
}

} // namespace elasticjob::cli::detail
#endif // ELASTICJOB_IMPL_COMMAND_LINE_ITEM_COMMANDS_IPP
