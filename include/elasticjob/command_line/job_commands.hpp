// SPDX-License-Identifier: Apache-2.0
/// \file \brief The commands `elasticjob jobs …` and `elasticjob wait`.
#ifndef ELASTICJOB_COMMAND_LINE_JOB_COMMANDS_HPP
#define ELASTICJOB_COMMAND_LINE_JOB_COMMANDS_HPP

#include <elasticjob/allocation/all_strategies.hpp>
#include <elasticjob/command_line/command.hpp>
#include <elasticjob/command_line/run_end.hpp>
#include <elasticjob/config/config_file.hpp>
#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/config/schedule_text.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/operations/add_job.hpp>
#include <elasticjob/operations/audit_trail.hpp>
#include <elasticjob/operations/job_overview.hpp>
#include <elasticjob/operations/job_settings.hpp>
#include <elasticjob/operations/pauses.hpp>
#include <elasticjob/operations/plan.hpp>
#include <elasticjob/operations/remove_job.hpp>
#include <elasticjob/operations/restore_job.hpp>
#include <elasticjob/operations/shut_down.hpp>
#include <elasticjob/operations/switches.hpp>
#include <elasticjob/operations/trigger.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob::cli {

namespace detail {

report table_of(job_page const& page);
report table_of(job_plan const& p);
answer answer_for(awaited_runs const& runs, wanted_end wanted);
wanted_end wanted_by(arguments const& a);

/// The answer if the file of a configuration cannot be used.
answer refuse_file(error const& why);

/// A message that names the fields in the file that are an instance's own, so the registry does not store them. Empty
/// if there are none.
std::string unstored_text(job_config const& given);

/// Whether a stored configuration cannot be used. Then the job may be given another one.
bool is_damage(error const& why);

/// The time from which the runs count that the order with this key has started. Nothing: there is no such order. The
/// clocks of the instances may be behind the operator's: they have a minute, unless another such order was given in it.
std::optional<wall_time> begin_of_runs(audit_trail const& trail, std::string_view key);

template <loop Loop>
answer list_jobs(registry_ref<Loop> r, arguments const& a) {
    job_query query{.name_contains = a.contains, .after = a.after, .jobs_max = a.limit};
    for (auto const s :
         {console_status::crashed, console_status::disabled, console_status::sharding_flag, console_status::ok})
        if (a.status == name_of(s)) query.status = s;
    auto const page = elasticjob::list_jobs(r, std::move(query));
    if (!page) return failure(page.error());
    answer all{.rows = table_of(*page)};
    if (!page->next.empty()) all.messages = "next: more jobs with --after " + page->next + "\n";
    return all;
}

template <loop Loop>
answer show_job(registry_ref<Loop> r, arguments const& a) {
    auto const found = read_settings(r, a.job);
    return found ? answer{.text = without_variables(elasticjob::to_json(found->config)) + "\n"}
                 : failure(found.error());
}

template <loop Loop>
answer add_job(registry_ref<Loop> r, arguments const& a) {
    auto config = read_job_config(a.file);
    if (!config) return refuse_file(config.error());
    auto const unstored = unstored_text(*config);
    auto added = cli::answer_for(elasticjob::add_job(r, *std::move(config), a.by()));
    added.messages += unstored;
    return added;
}

template <loop Loop>
answer apply(registry_ref<Loop> r, arguments const& a) {
    auto config = read_job_config(a.file);
    if (!config) return refuse_file(config.error());
    auto const unstored = unstored_text(*config);
    settings_change change{*std::move(config), {}, true};
    change.may_drop = a.drops_schedules;
    auto const stored = read_settings(r, change.config.name);
    if (stored)
        change.expected = stored->tag;
    else if (stored.error() == errc::no_node)
        change.expected = no_settings_tag; // somebody may add it meanwhile
    else if (!is_damage(stored.error()))
        return failure(stored.error());
    auto applied = cli::answer_for(change_settings(r, std::move(change), a.by()));
    applied.messages += unstored;
    return applied;
}

template <loop Loop>
answer plan_job(registry_ref<Loop> r, arguments const& a) {
    job_change change{.leaving = a.leaving, .item_count = a.item_count, .item_labels = a.labels};
    for (auto const& instance : a.joining) change.joining.push_back({instance});
    auto const planned = plan<AllStrategies>(r, a.job, std::move(change));
    if (!planned) return failure(planned.error());
    answer moves{.rows = table_of(*planned), .text = to_text(*planned)};
    if (!AllStrategies::has(planned->strategy_now))
        moves.messages = "elasticjob: this program does not have the job's strategy, so this is a plan for " +
                         std::string{AllStrategies::name} + "\n";
    return moves;
}

template <loop Loop>
answer await_end(registry_ref<Loop> r, arguments const& a, awaited_runs runs) {
    auto const name = job_name::parse(a.job);
    if (!name) return failure(name.error());
    auto const wanted = wanted_by(a);
    auto const due = end_of_wait(r.loop().now(), a.timeout());
    auto ended = block_on(r.loop(), wait_for_runs(r, *name, std::move(runs), wanted, due));
    return ended ? answer_for(*ended, wanted) : failure(ended.error());
}

/// Carries out `order`. With --wait, waits for the runs that it starts.
template <loop Loop, class Order>
answer trigger(registry_ref<Loop> r, arguments const& a, std::optional<item_index> item, Order order) {
    if (!a.is_waiting || a.is_dry_run) return cli::answer_for(order());
    auto begun = elasticjob::detail::wait_for_job(
        r, a.job, [&](job_name name) { return begin_to_wait(r, std::move(name), item, run_source::trigger); });
    if (!begun) return failure(begun.error());
    auto const done = order();
    if (!done) return failure(done.error());
    if (done->what == command_result::effect::repeated) { // the runs of the earlier call may have ended
        auto const trail = elasticjob::list_commands(r, a.job);
        if (!trail) return failure(trail.error());
        if (auto const since = begin_of_runs(*trail, done->key)) begun->count_since(*since);
    }
    auto ended = await_end(r, a, *std::move(begun));
    ended.has_begun = ended.code == exit_code::failed;
    return ended;
}

template <loop Loop>
answer wait_for(registry_ref<Loop> r, arguments const& a) {
    auto begun = elasticjob::detail::wait_for_job(
        r, a.job, [&](job_name name) { return begin_to_wait(r, std::move(name), a.one_item, std::nullopt); });
    return begun ? await_end(r, a, *std::move(begun)) : failure(begun.error());
}

} // namespace detail

template <loop Loop>
std::vector<command<Loop>> job_commands() {
    using R = registry_ref<Loop>;
    using A = arguments const;
    constexpr auto named = &arguments::job;
    return {
        {{"jobs list", "a page of the jobs", takes::job_filter | takes::watching}, &detail::list_jobs<Loop>},
        {{"jobs show", "the configuration of a job that Java members share, as JSON", takes::job},
         &detail::show_job<Loop>},
        {{"jobs add", "add a job", takes::file | takes::a_command}, &detail::add_job<Loop>},
        {{"jobs apply", "change the configuration of a job, or add the job",
          takes::file | takes::dropping | takes::a_command},
         &detail::apply<Loop>},
        {{"jobs plan", "what would move if instances joined or left, or if the items changed",
          takes::job | takes::job_change},
         &detail::plan_job<Loop>},
        {{"jobs remove", "remove a job for good; its instances leave", takes::job | takes::a_command, named},
         +[](R r, A& a) { return answer_for(remove_job(r, a.job, a.by())); }},
        {{"jobs restore", "free the name of a removed job", takes::job | takes::a_command},
         +[](R r, A& a) { return answer_for(restore_job(r, a.job, a.by())); }},
        {{"jobs trigger", "have every item run once, now", takes::job | takes::a_command | takes::may_wait},
         +[](R r, A& a) { return detail::trigger(r, a, std::nullopt, [&] { return trigger_job(r, a.job, a.by()); }); }},
        {{"jobs disable", "disable all servers of a job", takes::job | takes::a_command, named},
         +[](R r, A& a) { return answer_for(switch_job(r, a.job, switched::off, a.by())); }},
        {{"jobs enable", "enable all servers of a job", takes::job | takes::a_command},
         +[](R r, A& a) { return answer_for(switch_job(r, a.job, switched::on, a.by())); }},
        {{"jobs pause", "let no run of a job begin; its items stay where they are", takes::job | takes::a_command,
          named},
         +[](R r, A& a) { return answer_for(pause_job(r, a.job, a.by())); }},
        {{"jobs resume", "end the pause of a job", takes::job | takes::a_command},
         +[](R r, A& a) { return answer_for(resume_job(r, a.job, a.by())); }},
        {{"jobs shut-down", "have all instances leave a job", takes::job | takes::a_command, named},
         +[](R r, A& a) { return answer_for(shut_down_job(r, a.job, a.by())); }},
        {{"wait", "wait until a run of each item of a job, or of one item, has ended",
          takes::job | takes::any_item | takes::waiting},
         &detail::wait_for<Loop>},
    };
}

} // namespace elasticjob::cli

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/command_line/job_commands.ipp>
#endif
#endif // ELASTICJOB_COMMAND_LINE_JOB_COMMANDS_HPP
