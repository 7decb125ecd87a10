// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONSOLE_JOB_ROUTES_IPP
#define ELASTICJOB_IMPL_CONSOLE_JOB_ROUTES_IPP

#include <elasticjob/config/due_times.hpp>
#include <elasticjob/config/utc_text.hpp>
#include <elasticjob/config/validation.hpp>
#include <elasticjob/console/job_routes.hpp>
#include <elasticjob/cron/describe.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL result<job_config> read_draft(console_call const& c) {
    ELASTICJOB_TRY(auto config, parse_job_config(c.request.body, nullptr));
    auto const job = c["job"];
    if (config.name.empty()) config.name = job;
    if (!job.empty() && config.name != job)
        return error{errc::invalid_argument, "a job keeps its name: " + config.name + " would be another job", "name"};
    return config;
}

inline std::string span_in_words(std::chrono::milliseconds span) {
    auto const ms = span.count();
    for (auto const& [unit, name] : {std::pair{86'400'000, "days"}, std::pair{3'600'000, "hours"},
                                     std::pair{60'000, "minutes"}, std::pair{1'000, "seconds"}})
        if (ms % unit == 0) return std::to_string(ms / unit) + " " + name;
    return std::to_string(ms) + " milliseconds";
}

/// The expression in words, or the expression itself if it cannot be read.
inline std::string cron_in_words(std::string const& expression) {
    auto const words = describe_cron(expression);
    return words ? *words : expression;
}

inline std::string in_words(job_schedule const& s) {
    using kind = job_schedule::kind;
    switch (s.is) {
    case kind::cron:
        return cron_in_words(s.expression);
    case kind::fixed_rate:
        return "every " + span_in_words(s.span);
    case kind::fixed_delay:
        return span_in_words(s.span) + " after the end of a run";
    case kind::once_at:
        return "once, at " + format_instant(s.at);
    case kind::once_now:
        return "once, when it is registered";
    case kind::after_job:
        return "after each round of " + s.job;
    }
    return {};
}

/// The next due instants; none for a configuration that cannot be run.
inline std::vector<wall_time> next_dues(job_config const& config, wall_time now, zone_ref zone) {
    auto const found = preview(config, now, 5, zone);
    return found ? *found : std::vector<wall_time>{};
}

ELASTICJOB_DECL std::vector<std::string> schedules_in_words(job_config const& config) {
    std::vector<std::string> all;
    if (!config.cron.empty() && config.cron != no_cron) all.push_back(cron_in_words(config.cron));
    for (auto const& s : config.schedules) all.push_back(in_words(s));
    return all;
}

ELASTICJOB_DECL void renew_due_instants(job_rows& rows, wall_time now, zone_ref zone) {
    for (auto& row : rows) {
        if (!row->next_due || *row->next_due > now) continue;
        auto fresh = std::make_shared<job_row>(*row);
        fresh->next_due = next_due_of(*row, now, zone);
        row = std::move(fresh);
    }
}

ELASTICJOB_DECL console_reply reply_for(job_row const& row, wall_time now, zone_ref zone) {
    json_writer out;
    put_members(out, row);
    std::string words;
    for (auto const& one : schedules_in_words(row.config)) words += (words.empty() ? "" : "; ") + one;
    put_instants(out.member("in_words", words), "next_dues", next_dues(row.config, now, zone));
    return json_reply(out.finish());
}

ELASTICJOB_DECL std::string interface_field(std::string_view where) {
    if (where == "jobName" || where == "jobType") where.remove_prefix(3);
    std::string field;
    for (char const c : where) {
        bool const is_capital = 'A' <= c && c <= 'Z';
        if (is_capital && !field.empty()) field += '_';
        field += is_capital ? static_cast<char>(c | 0x20) : c;
    }
    return field;
}

ELASTICJOB_DECL std::optional<error> draft_problem(result<command_result> const& done, job_config const& draft,
                                                   console_call const& c) {
    if (done) return std::nullopt;
    auto wrong = done.error();
    constexpr std::array codes{errc::invalid_config, errc::invalid_cron, errc::cron_never_fires,
                               errc::unknown_strategy};
    if (std::find(codes.begin(), codes.end(), wrong.code) == codes.end()) return std::nullopt;
    wrong.where = interface_field(wrong.where);
    auto const own = problems_of(draft);
    bool const is_own = std::any_of(own.begin(), own.end(), [](error const& e) { return e.where == "schedules"; });
    bool const names_jobs = wrong.where == "schedules" && !is_own; // a chain of jobs, which other jobs belong to
    if (names_jobs && !c.may_see_all())
        wrong.what =
            "jobs that follow each other would wait forever, or are too many in a row; have one of them follow "
            "another job, or none";
    return wrong;
}

ELASTICJOB_DECL json_writer begin_review(result<job_config> const& draft, std::optional<error> refusal, wall_time now,
                                         zone_ref zone) {
    std::vector<error> problems;
    if (!draft)
        problems.push_back(draft.error());
    else
        problems = problems_of(*draft);
    std::vector<wall_time> dues;
    if (problems.empty()) {
        if (auto found = preview(*draft, now, 5, zone))
            dues = *std::move(found);
        else
            problems.push_back(std::move(found).error());
        if (refusal && problems.empty()) problems.push_back(*std::move(refusal));
    }
    json_writer out;
    out.open_list("problems");
    for (auto const& e : problems) out.open().member("field", interface_field(e.where)).member("text", e.what).close();
    out.close().open_list("in_words");
    if (draft)
        for (auto const& words : schedules_in_words(*draft)) out.element(words);
    out.close();
    put_instants(out, "next_dues", dues);
    return out;
}

ELASTICJOB_DECL bool has_tag(std::string_view header, std::string const& tag) {
    return header == "*" || header.find('"' + tag + '"') != header.npos;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CONSOLE_JOB_ROUTES_IPP
