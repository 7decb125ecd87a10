// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONFIG_READ_TIMETABLE_IPP
#define ELASTICJOB_IMPL_CONFIG_READ_TIMETABLE_IPP

#include <elasticjob/config/read_timetable.hpp>
#include <elasticjob/core/line_text.hpp>
#include <elasticjob/cron/fields.hpp> // cron_year_last

#include <chrono> // the calendar

namespace elasticjob::detail {

ELASTICJOB_DECL bool is_schedulable(wall_time t) noexcept {
    return wall_time{} <= t && t < std::chrono::sys_days{std::chrono::year{cron_year_last + 1} / 1 / 1};
}

ELASTICJOB_DECL result<cron_expression> parse_exclusion(std::string_view given) {
    auto const text = trim(given);
    constexpr auto forms = "An exclusion is a date as 2026-01-05, weekdays as SAT,SUN, or a cron expression";
    if (text.empty()) return error{errc::invalid_cron, forms, {}};
    if (cron_scanner{text}.count_fields() == 5)
        return error{
            errc::invalid_cron, "An exclusion names seconds, so it has six fields. Write '* ' before the five", {}};
    if (text.find_first_of(" \t") != text.npos) return parse_cron(text);
    std::string whole = "* * * ? * " + std::string{text};
    if (text.size() == 10 && text[4] == '-' && text[7] == '-')
        whole = "* * * " + std::string{text.substr(8)} + " " + std::string{text.substr(5, 2)} + " ? " +
                std::string{text.substr(0, 4)};
    else if (text.size() > 1 && is_digit(text[0]) && is_digit(text[1])) // no weekday
        return error{errc::invalid_cron, forms, {}};
    auto expression = parse_cron(whole);
    if (expression) return expression;
    auto e = expression.error();
    e.where.clear(); // it is a column of another text
    return e;
}

ELASTICJOB_DECL std::string problem_of_following(job_config const& config, job_schedule const& s) {
    if (auto const name = job_name::parse(s.job); !name)
        return "must name a job to follow: " + name.error().what + ", but is " + in_quotes(s.job);
    if (s.job == config.name) return "a job cannot follow itself: name another one";
    if (config.schedules.size() != 1 || !(config.cron.empty() || config.cron == no_cron))
        return "a job that follows another is due by nothing else: leave out `cron` and the other schedules";
    if (!config.monitor_execution)
        return "following a job needs monitor_execution: otherwise nobody knows for which rounds items have run";
    if (config.starts != wall_time::min() || config.ends != wall_time::max() || !config.excluded.empty())
        return "`starts`, `ends` and `excluded` are for jobs with due times of their own: set them for the job that is "
               "followed";
    return {};
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CONFIG_READ_TIMETABLE_IPP
