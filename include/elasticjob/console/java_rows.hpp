// SPDX-License-Identifier: Apache-2.0
/// \file \brief The JSON of the console of 2.1.5: the rows of its answers, and its requests.
#ifndef ELASTICJOB_CONSOLE_JAVA_ROWS_HPP
#define ELASTICJOB_CONSOLE_JAVA_ROWS_HPP

#include <elasticjob/config/job_config.hpp>
#include <elasticjob/console/message.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/cron/zone_ref.hpp>
#include <elasticjob/events/event_history.hpp>
#include <elasticjob/operations/item_overview.hpp>
#include <elasticjob/operations/job_overview.hpp>
#include <elasticjob/operations/job_settings.hpp>
#include <elasticjob/operations/server_overview.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace elasticjob::detail {

/// A JSON list with `text_of(row)` for each row.
template <class Rows, class Text>
std::string java_list(Rows const& rows, Text text_of) {
    std::string out = "[";
    for (auto const& row : rows) (out += out.size() == 1 ? "" : ",") += text_of(row);
    return out + "]";
}

std::string java_text(job_overview const& job);
std::string java_text(server_overview const& server);
std::string java_text(server_in_job const& one);
std::string java_text(item_overview const& item);
std::string java_text(job_config const& config);
std::string java_text(execution_row const& row, zone_ref zone);
std::string java_text(state_row const& row, zone_ref zone);

/// Such as `Jun 1, 2017 10:15:30 AM`, in the zone.
std::string java_date(wall_time t, zone_ref zone);

/// Reads `2017-06-01 10:15:30`, which is local time in the zone. Returns false for any other form.
bool read_java_date(std::string_view text, zone_ref zone, wall_time& into);

/// The job to which the settings in a request belong. Errors: malformed_data; invalid_config if the name, the cron
/// expression or the number of items is missing.
result<std::string> job_of_java_settings(std::string_view body);

/// The configuration with the changes of the settings in a request. Members that the settings lack, and those that
/// 2.1.5 does not know, stay as they are. Errors: as above.
result<job_config> with_java_settings(job_config const& now, std::string_view body);

/// The two histories of 2.1.5, which have different filters.
enum class java_history : std::uint8_t { executions, states };

/// The query in the parameters of a request. Ignores unknown parameters. Errors: invalid_argument.
result<history_query> read_java_query(console_request const& r, java_history of, zone_ref zone);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/java_rows.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_JAVA_ROWS_HPP
