// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CRON_TIMETABLE_IPP
#define ELASTICJOB_IMPL_CRON_TIMETABLE_IPP

#include <elasticjob/cron/timetable.hpp>

namespace elasticjob {

ELASTICJOB_DECL wall_time timetable::last() const {
    return std::min<wall_time>(ends,
                               std::chrono::sys_seconds{std::chrono::seconds{detail::schedule_end}} - milliseconds{1});
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_CRON_TIMETABLE_IPP
