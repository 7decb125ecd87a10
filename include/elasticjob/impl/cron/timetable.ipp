// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CRON_TIMETABLE_IPP
#define ELASTICJOB_IMPL_CRON_TIMETABLE_IPP

#include <elasticjob/cron/timetable.hpp>

namespace elasticjob {

ELASTICJOB_DECL wall_time timetable::last() const {
    return std::min<wall_time>(ends,
                               std::chrono::sys_seconds{std::chrono::seconds{detail::schedule_end}} - milliseconds{1});
}

ELASTICJOB_DECL wall_time timetable::next_of_rate(milliseconds span, wall_time after) const {
    auto const begin = starts == wall_time::min() ? wall_time{} : starts;
    if (after < begin) return begin;
    // The ticks between two instants may exceed the range of an instant, but not that of an unsigned number.
    using ticks = wall_time::duration;
    auto const number = [](ticks t) { return static_cast<std::uint64_t>(t.count()); };
    if (span > std::chrono::duration_cast<milliseconds>(ticks::max())) return wall_time::max();
    auto const from_begin = number(after.time_since_epoch()) - number(begin.time_since_epoch());
    auto const step = number(span) - from_begin % number(span);
    auto const room = number(wall_time::max().time_since_epoch()) - number(after.time_since_epoch());
    return step > room ? wall_time::max() : after + ticks{static_cast<ticks::rep>(step)};
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_CRON_TIMETABLE_IPP
