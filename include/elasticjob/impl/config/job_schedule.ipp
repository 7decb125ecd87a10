// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONFIG_JOB_SCHEDULE_IPP
#define ELASTICJOB_IMPL_CONFIG_JOB_SCHEDULE_IPP

#include <elasticjob/config/job_schedule.hpp>

namespace elasticjob {

ELASTICJOB_DECL job_schedule job_schedule::by_cron(std::string text) {
    job_schedule s;
    s.expression = std::move(text);
    return s;
}

ELASTICJOB_DECL job_schedule job_schedule::once_at(wall_time t) {
    job_schedule s;
    s.is = kind::once_at;
    s.at = t - t.time_since_epoch() % std::chrono::milliseconds{1}; // `floor` would overflow at the clock's beginning
    return s;
}

ELASTICJOB_DECL job_schedule job_schedule::once_now() {
    job_schedule s;
    s.is = kind::once_now;
    return s;
}

ELASTICJOB_DECL job_schedule job_schedule::after_job(std::string name, round_end end) {
    job_schedule s;
    s.is = kind::after_job;
    s.job = std::move(name);
    s.after = end;
    return s;
}

ELASTICJOB_DECL job_schedule job_schedule::of_span(kind what, std::chrono::milliseconds length) {
    job_schedule s;
    s.is = what;
    s.span = length;
    return s;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_CONFIG_JOB_SCHEDULE_IPP
