// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONFIG_READ_TIMETABLE_IPP
#define ELASTICJOB_IMPL_CONFIG_READ_TIMETABLE_IPP

#include <elasticjob/config/read_timetable.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL result<cron_expression> parse_exclusion(std::string_view text) {
    if (cron_scanner{text}.count_fields() == 5)
        return error{
            errc::invalid_cron, "An exclusion names seconds, so it has six fields. Write '* ' before the five", {}};
    if (text.find(' ') != text.npos) return parse_cron(text);
    std::string whole = "* * * ? * " + std::string{text};
    if (text.size() == 10 && text[4] == '-' && text[7] == '-')
        whole = "* * * " + std::string{text.substr(8)} + " " + std::string{text.substr(5, 2)} + " ? " +
                std::string{text.substr(0, 4)};
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
