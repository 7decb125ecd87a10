// SPDX-License-Identifier: Apache-2.0
/// \file \brief The commands `elasticjob items …`, `runs …` and `dead-letters …`.
#ifndef ELASTICJOB_COMMAND_LINE_ITEM_COMMANDS_HPP
#define ELASTICJOB_COMMAND_LINE_ITEM_COMMANDS_HPP

#include <elasticjob/command_line/command.hpp>
#include <elasticjob/command_line/job_commands.hpp> // trigger
#include <elasticjob/core/decl.hpp>
#include <elasticjob/cron/system_zone.hpp>
#include <elasticjob/operations/dead_letters.hpp>
#include <elasticjob/operations/explain.hpp>
#include <elasticjob/operations/item_overview.hpp>
#include <elasticjob/operations/stop_run.hpp>
#include <elasticjob/operations/switches.hpp>
#include <elasticjob/operations/trigger.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace elasticjob::cli {

namespace detail {

report table_of(item_page const& page);
report table_of(run_record const& record);
report table_of(std::vector<dead_letter> const& letters);
answer answer_for(arguments const& a, explanation const& e);

inline wall_time letter_of(arguments const& a) { return wall_time{std::chrono::milliseconds{a.due_ms}}; }

template <loop Loop>
answer list_items(registry_ref<Loop> r, arguments const& a) {
    auto const page = elasticjob::list_items(r, a.job, {.first = a.first, .items_max = a.limit});
    if (!page) return failure(page.error());
    answer all{.rows = table_of(*page)};
    if (page->next) all.messages = "next: more items with --first " + std::to_string(*page->next) + "\n";
    return all;
}

template <loop Loop>
answer explain_item(registry_ref<Loop> r, arguments const& a) {
    auto const e = explain(r, a.job, a.item);
    return e ? answer_for(a, *e) : failure(e.error());
}

template <loop Loop>
answer list_runs(registry_ref<Loop> r, arguments const& a) {
    auto const e = explain(r, a.job, a.item);
    return e ? answer{.rows = table_of(e->record)} : failure(e.error());
}

template <loop Loop>
answer list_dead_letters(registry_ref<Loop> r, arguments const& a) {
    auto const all = elasticjob::list_dead_letters(r, a.job);
    return all ? answer{.rows = table_of(*all)} : failure(all.error());
}

} // namespace detail

template <loop Loop>
std::vector<command<Loop>> item_commands() {
    using R = registry_ref<Loop>;
    using A = arguments const;
    constexpr auto an_item = takes::job | takes::item;
    constexpr auto a_letter = an_item | takes::due | takes::a_command;
    constexpr auto named = &arguments::job;
    return {
        {{"items list", "a page of the items of a job", takes::job | takes::item_range | takes::watching},
         &detail::list_items<Loop>},
        {{"items explain", "in words, why an item ran or did not run", an_item}, &detail::explain_item<Loop>},
        {{"items trigger", "have an item run once, now", an_item | takes::a_command | takes::may_wait},
         +[](R r, A& a) {
             return detail::trigger(r, a, a.item, [&] { return trigger_item(r, a.job, a.item, a.by()); });
         }},
        {{"items disable", "disable an item: it does not run", an_item | takes::a_command, named},
         +[](R r, A& a) { return answer_for(switch_item(r, a.job, a.item, switched::off, a.by())); }},
        {{"items enable", "enable an item", an_item | takes::a_command},
         +[](R r, A& a) { return answer_for(switch_item(r, a.job, a.item, switched::on, a.by())); }},
        {{"runs list", "what became of the last due instants of an item", an_item | takes::watching},
         &detail::list_runs<Loop>},
        {{"runs stop", "ask the live run of an item to stop", an_item | takes::a_command, named},
         +[](R r, A& a) { return answer_for(stop_run(r, a.job, a.item, a.by())); }},
        {{"dead-letters list", "the runs of a job that failed for good", takes::job | takes::watching},
         &detail::list_dead_letters<Loop>},
        {{"dead-letters run-again", "have a dead letter run again", a_letter},
         +[](R r, A& a) { return answer_for(run_again(r, a.job, a.item, detail::letter_of(a), a.by())); }},
        {{"dead-letters discard", "throw a dead letter away", a_letter, named},
         +[](R r, A& a) { return answer_for(discard(r, a.job, a.item, detail::letter_of(a), a.by())); }},
    };
}

} // namespace elasticjob::cli

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/command_line/item_commands.ipp>
#endif
#endif // ELASTICJOB_COMMAND_LINE_ITEM_COMMANDS_HPP
