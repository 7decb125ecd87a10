// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EVENTS_EVENT_DATABASE_IPP
#define ELASTICJOB_IMPL_EVENTS_EVENT_DATABASE_IPP

#include <elasticjob/events/event_database.hpp>

namespace elasticjob::detail::sql {

ELASTICJOB_DECL std::array<std::string, 2> removals(std::string const& is_one_of, std::string const& end) {
    auto const removal = [&](std::string const& table, std::string const& time) {
        return "DELETE FROM " + table + " WHERE " + is_one_of + " FROM " + table + " WHERE " + time +
               " < :before ORDER BY " + time + " LIMIT :count" + end;
    };
    return {removal("JOB_EXECUTION_LOG", "start_time"), removal("JOB_STATUS_TRACE_LOG", "creation_time")};
}

} // namespace elasticjob::detail::sql
#endif // ELASTICJOB_IMPL_EVENTS_EVENT_DATABASE_IPP
