// SPDX-License-Identifier: Apache-2.0
/// \file \brief The jobs of a list: filtered, sorted, and page by page.
#ifndef ELASTICJOB_CONSOLE_JOB_ROW_HPP
#define ELASTICJOB_CONSOLE_JOB_ROW_HPP

#include <elasticjob/config/due_times.hpp>
#include <elasticjob/config/job_config.hpp>
#include <elasticjob/console/message.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/cron/zone_ref.hpp>
#include <elasticjob/operations/job_overview.hpp>
#include <elasticjob/operations/round_overview.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace elasticjob::detail {

/// A job in the console's memory.
struct job_row {
    job_overview overview;
    job_config config{};                  ///< with its schedules; empty if it cannot be read
    std::vector<std::string> servers{};   ///< those with a node in the job, sorted
    std::optional<wall_time> next_due{};  ///< when the row was read; nothing: never
    std::optional<round_overview> last{}; ///< the last round, if it was requested
};
using job_rows = std::vector<std::shared_ptr<job_row const>>;

/// A job that has been removed for good. Its name cannot be used.
struct removed_job {
    std::string name;
    wall_time since{};
};

/// The next due instant of the job after `now`, in the zone of its configuration, or otherwise in `zone`.
std::optional<wall_time> next_due_of(job_row const& row, wall_time now, zone_ref zone);

/// The column by which a list is sorted.
enum class job_column : std::uint8_t { name, health, cron, next_due, last_round, items, instances, description };

/// Numbers from `min` to `max`, both of them included.
struct number_range {
    std::uint32_t min = 0;
    std::uint32_t max = std::numeric_limits<std::uint32_t>::max();
    bool has(std::uint32_t n) const noexcept { return min <= n && n <= max; }
};

/// Reads `5`, `2-10`, `2-` or `-10`; an empty text means any number. Errors: invalid_argument, with `where`.
result<number_range> read_range(std::string_view text, std::string_view where);

/// The wanted jobs and their order.
struct job_selection {
    std::string name{}, cron{}, description{}; ///< parts of these texts
    std::string server{};                      ///< the whole address
    std::string last_round{};                  ///< the name of an outcome
    std::string status{}, health{};            ///< names of these enumerators, in lower case
    number_range items{}, instances{};
    std::optional<wall_time> due_until{}; ///< only jobs that are due by then
    std::optional<bool> is_paused{};      ///< true: only paused jobs; false: only the others; nothing: both
    job_column sort = job_column::name;
    bool is_descending = false;
    std::string after{}; ///< the place in the cursor of the previous page, decoded; empty: from the beginning
    std::size_t rows_max = 100;

    /// Whether the selection depends on the last rounds.
    bool needs_rounds() const noexcept { return !last_round.empty() || sort == job_column::last_round; }
};

/// Errors: invalid_argument, which names the parameter.
result<job_selection> read_selection(console_request const& r, wall_time now);

/// Whether the row fits the selection, ignoring `health` and `is_paused`, so that rows can be counted by these.
bool is_wanted(job_row const& row, job_selection const& s);

/// The name in a parameter, such as `crashed`.
std::string lower_name_of(console_status s);

struct job_row_page {
    job_rows rows{};
    std::string next{}; ///< the cursor of the next page; empty: this is the last page
    std::size_t total = 0;
};

/// The page of these rows that the selection wants. O(n log n).
job_row_page page_of(job_rows rows, job_selection const& s);

/// The number of rows of each health, and under `paused` the number of paused jobs.
std::map<std::string, std::size_t> count_by_health(job_rows const& rows, job_selection const& s);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/job_row.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_JOB_ROW_HPP
