// SPDX-License-Identifier: Apache-2.0
/// \file \brief The routes for the jobs of a registry: lists, details, configurations, and commands.
#ifndef ELASTICJOB_CONSOLE_JOB_ROUTES_HPP
#define ELASTICJOB_CONSOLE_JOB_ROUTES_HPP

#include <elasticjob/allocation/all_strategies.hpp>
#include <elasticjob/config/config_file.hpp>
#include <elasticjob/console/rows.hpp>
#include <elasticjob/console/site.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/wait_within.hpp>
#include <elasticjob/operations/add_job.hpp>
#include <elasticjob/operations/job_settings.hpp>
#include <elasticjob/operations/pauses.hpp>
#include <elasticjob/operations/plan.hpp>
#include <elasticjob/operations/remove_job.hpp>
#include <elasticjob/operations/restore_job.hpp>
#include <elasticjob/operations/round_overview.hpp>
#include <elasticjob/operations/shut_down.hpp>
#include <elasticjob/operations/switches.hpp>
#include <elasticjob/operations/trigger.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob::detail {

/// In a list, the last round of a job is read from the records of at most this many of its items; a list that needs the
/// rounds of all jobs has a limit for all records.
inline constexpr std::uint32_t listed_round_items_max = 100;
inline constexpr std::size_t listed_records_max = 20'000;

/// The configuration in the request's body, for the job in the path, if there is one. Errors: those of
/// `parse_job_config`; invalid_argument for another name.
result<job_config> read_draft(console_call const& c);

/// A body `{"name": …}`, with the schedules in words and the next due instants.
console_reply reply_for(job_row const& row, wall_time now, zone_ref zone);

/// The schedules of a configuration, one sentence for each.
std::vector<std::string> schedules_in_words(job_config const& config);

/// The name in the interface for a field of a configuration that an error names as 2.1.5 does: `sharding_total_count`
/// for `shardingTotalCount`.
std::string interface_field(std::string_view where);

/// The reason for which a draft was refused, if it is a problem of the draft. It names no jobs that the operator must
/// not see. Nothing: it was refused for another reason, or not at all.
std::optional<error> draft_problem(result<command_result> const& done, job_config const& draft, console_call const& c);

/// Begins the answer of a check: the problems of a configuration, with those for which the registry refuses it, or if
/// there are none, the next due instants.
json_writer begin_review(result<job_config> const& draft, std::optional<error> refusal, wall_time now, zone_ref zone);

/// Whether `If-None-Match` contains the tag, or is `*`.
bool has_tag(std::string_view header, std::string const& tag);

/// Computes due instants again that have passed since the rows were read.
void renew_due_instants(job_rows& rows, wall_time now, zone_ref zone);

/// The rows that the operator may see.
template <loop Loop>
result<job_rows> visible_rows(console_site<Loop>& s, console_call const& c) {
    ELASTICJOB_TRY(auto rows, s.index.rows());
    std::erase_if(rows, [&](auto const& row) { return !c.may_see(row->overview.name); });
    renew_due_instants(rows, s.registry.loop().wall_now(), s.zone);
    return rows;
}

/// Adds the last round of each job. Errors: too_large.
template <loop Loop>
result<void> read_last_rounds(console_site<Loop>& s, job_rows& rows) {
    std::size_t records = 0;
    for (auto const& row : rows) records += std::min(row->overview.item_count, listed_round_items_max);
    if (records > listed_records_max)
        return error{errc::too_large, "there are too many jobs to read the last round of each: filter them by name",
                     "last_round"};
    auto const read_one =
        [&](std::shared_ptr<job_row const> const& row) -> task<result<std::shared_ptr<job_row const>>> {
        auto const rounds =
            co_await find_rounds(s.registry, *job_name::parse(row->overview.name), listed_round_items_max);
        if (!rounds && !(rounds.error() == errc::no_node)) co_return rounds.error();
        auto fresh = std::make_shared<job_row>(*row);
        if (rounds && !rounds->empty()) fresh->last = rounds->front();
        co_return std::shared_ptr<job_row const>{std::move(fresh)};
    };
    auto& l = s.registry.loop();
    constexpr std::size_t at_once = 8; // jobs, for each of which several records are read at once
    for (std::size_t begin = 0; begin < rows.size(); begin += at_once) {
        auto const end = std::min(rows.size(), begin + at_once);
        job_rows const some(rows.begin() + static_cast<std::ptrdiff_t>(begin),
                            rows.begin() + static_cast<std::ptrdiff_t>(end));
        auto const read_some = [&]() -> task<result<std::vector<result<std::shared_ptr<job_row const>>>>> {
            co_return co_await gather_each(l, some, read_one);
        };
        ELASTICJOB_TRY(auto read, wait_within(l, std::chrono::seconds{10}, read_some()));
        for (std::size_t i = 0; i < read.size(); ++i) {
            if (!read[i]) return read[i].error();
            rows[begin + i] = *std::move(read[i]);
        }
    }
    return success();
}

template <loop Loop>
console_reply show_jobs(console_site<Loop>& s, console_call const& c) {
    auto const selection = read_selection(c.request, s.registry.loop().wall_now());
    if (!selection) return problem(selection.error());
    auto rows = visible_rows(s, c);
    if (!rows) return problem(rows.error());
    if (selection->needs_rounds()) {
        auto others = *selection;
        others.last_round.clear();
        std::erase_if(*rows, [&](auto const& row) { return !is_wanted(*row, others); });
        if (auto const read = read_last_rounds(s, *rows); !read) return problem(read.error());
    }
    auto page = page_of(*std::move(rows), *selection);
    if (!selection->needs_rounds())
        if (auto const read = read_last_rounds(s, page.rows); !read) return problem(read.error());
    return json_reply(begin_list(page.rows, page.next, page.total).finish());
}

template <loop Loop>
console_reply count_jobs(console_site<Loop>& s, console_call const& c) {
    auto const selection = read_selection(c.request, s.registry.loop().wall_now());
    if (!selection) return problem(selection.error());
    auto rows = visible_rows(s, c);
    if (!rows) return problem(rows.error());
    if (selection->needs_rounds())
        if (auto const read = read_last_rounds(s, *rows); !read) return problem(read.error());
    json_writer out;
    out.open("counts");
    for (auto const& [what, count] : count_by_health(*rows, *selection)) out.member(what, count);
    return json_reply(out.close().finish());
}

template <loop Loop>
console_reply show_job(console_site<Loop>& s, console_call const& c) {
    auto rows = s.index.rows();
    if (!rows) return problem(rows.error());
    std::erase_if(*rows, [&](auto const& row) { return row->overview.name != c["job"]; });
    if (rows->empty()) return problem({errc::no_node, "there is no job of that name", std::string{c["job"]}});
    if (auto const read = read_last_rounds(s, *rows); !read) return problem(read.error());
    auto const now = s.registry.loop().wall_now();
    renew_due_instants(*rows, now, s.zone);
    return reply_for(*rows->front(), now, s.zone);
}

/// The names of removed jobs, which cannot be used until the jobs are restored.
template <loop Loop>
console_reply show_removed(console_site<Loop>& s, console_call const& c) {
    auto found = s.index.removed();
    if (!found) return problem(found.error());
    std::erase_if(*found, [&](removed_job const& one) { return !c.may_see(one.name); });
    return json_reply(begin_list(*found, {}, found->size()).finish());
}

template <loop Loop>
console_reply show_configuration(console_site<Loop>& s, console_call const& c) {
    auto const found = read_settings(s.registry, c["job"]);
    if (!found) { // a configuration that cannot be read may be replaced
        auto reply = problem(found.error());
        if (auto const tag = read_settings_tag(s.registry, c["job"]))
            reply.headers.emplace_back("ETag", '"' + *tag + '"');
        return reply;
    }
    auto reply = json_reply(write_job_config(found->config));
    if (has_tag(c.request.header("if-none-match"), found->tag)) reply = {304, {}, {}};
    reply.headers.emplace_back("ETag", '"' + found->tag + '"');
    return reply;
}

template <loop Loop>
console_reply change_configuration(console_site<Loop>& s, console_call const& c) {
    auto const& r = c.request;
    bool const is_new = r.header("if-none-match") == "*";
    std::string expected{r.header("if-match")};
    std::erase(expected, '"');
    if (is_new == !expected.empty())
        return problem({errc::invalid_argument,
                        "say which configuration is changed with If-Match and its ETag, or with If-None-Match: * that "
                        "the job is new",
                        "If-Match"},
                       428);
    auto const draft = read_draft(c);
    if (!draft) return problem(draft.error());
    settings_change change{*draft, expected, is_new, s.strategies, !is_new};
    auto const done = change_settings(s.registry, std::move(change), c.by());
    bool const is_outdated = !done && (done.error() == errc::version_conflict || done.error() == errc::node_exists);
    if (is_outdated) return problem(done.error(), 412);
    if (auto wrong = draft_problem(done, *draft, c)) return problem(*wrong);
    return reply_for(done);
}

/// The effect of a draft: its problems, its due instants, the changes, and the items that would move.
template <loop Loop>
console_reply check_configuration(console_site<Loop>& s, console_call const& c) {
    auto const draft = read_draft(c);
    if (draft && !draft->name.empty() && !c.may_see(draft->name)) // a path without a job does not check this
        return problem(lacks_role(c.by_whom.name, console_role::viewer), 403);
    auto const now = s.registry.loop().wall_now();
    if (!draft) return json_reply(begin_review(draft, {}, now, s.zone).member("text", "").finish());
    bool const is_known = !c["job"].empty();
    std::string expected{c.request.header("if-match")};
    std::erase(expected, '"');
    auto by = c.by();
    by.is_dry_run = true;
    auto const planned =
        change_settings(s.registry, {*draft, std::move(expected), !is_known, s.strategies, is_known}, std::move(by));
    auto const refusal = draft_problem(planned, *draft, c);
    auto out = begin_review(draft, refusal, now, s.zone);
    if (is_known && planned) {
        job_change change;
        change.item_count = static_cast<std::uint32_t>(draft->sharding_total_count);
        change.item_labels = draft->item_labels;
        auto const moves = plan<AllStrategies>(s.registry, c["job"], std::move(change));
        if (moves && AllStrategies::has(moves->strategy_now)) put_plan(out, *moves);
    }
    auto const text = planned ? planned->text : to_string(refusal ? *refusal : planned.error());
    return json_reply(out.member("text", text).finish());
}

template <loop Loop>
console_reply show_rounds(console_site<Loop>& s, console_call const& c) {
    auto rounds = list_rounds(s.registry, c["job"]);
    if (!rounds && rounds.error() == errc::no_node) { // a job without records has no rounds
        auto const there = describe_job(s.registry, c["job"]);
        if (!there) return problem(there.error());
        rounds = std::vector<round_overview>{};
    }
    return rounds ? json_reply(begin_list(*rounds, {}, rounds->size()).finish()) : problem(rounds.error());
}

template <loop Loop>
std::vector<site_route<Loop>> job_routes() {
    using S = console_site<Loop>;
    using C = console_call const;
    constexpr auto viewer = console_role::viewer, op = console_role::operator_, admin = console_role::administrator;
    return {
        {{"GET", "jobs", viewer}, &show_jobs<Loop>},
        {{"GET", "jobs-by-health", viewer}, &count_jobs<Loop>},
        {{"GET", "removed-jobs", viewer}, &show_removed<Loop>},
        {{"GET", "jobs/{job}", viewer}, &show_job<Loop>},
        {{"GET", "jobs/{job}/configuration", viewer}, &show_configuration<Loop>},
        {{"PUT", "jobs/{job}/configuration", admin}, &change_configuration<Loop>},
        {{"POST", "check", viewer}, &check_configuration<Loop>},
        {{"POST", "jobs/{job}/check", viewer}, &check_configuration<Loop>},
        {{"GET", "jobs/{job}/rounds", viewer}, &show_rounds<Loop>},
        {{"POST", "jobs/{job}/trigger", op},
         +[](S& s, C& c) { return reply_for(trigger_job(s.registry, c["job"], c.by())); }},
        {{"POST", "jobs/{job}/disable", op},
         +[](S& s, C& c) { return reply_for(switch_job(s.registry, c["job"], switched::off, c.by())); }},
        {{"POST", "jobs/{job}/enable", op},
         +[](S& s, C& c) { return reply_for(switch_job(s.registry, c["job"], switched::on, c.by())); }},
        {{"POST", "jobs/{job}/pause", op},
         +[](S& s, C& c) { return reply_for(pause_job(s.registry, c["job"], c.by())); }},
        {{"POST", "jobs/{job}/resume", op},
         +[](S& s, C& c) { return reply_for(resume_job(s.registry, c["job"], c.by())); }},
        {{"POST", "jobs/{job}/shut-down", op},
         +[](S& s, C& c) { return reply_for(shut_down_job(s.registry, c["job"], c.by())); }},
        {{"POST", "jobs/{job}/remove", admin},
         +[](S& s, C& c) { return reply_for(remove_job(s.registry, c["job"], c.by())); }},
        {{"POST", "jobs/{job}/restore", admin},
         +[](S& s, C& c) { return reply_for(restore_job(s.registry, c["job"], c.by())); }},
    };
}

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/job_routes.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_JOB_ROUTES_HPP
