// SPDX-License-Identifier: Apache-2.0
/// \file \brief The jobs of a list: filtered, sorted and page by page.
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

/// A job as the console keeps it in memory.
struct job_row {
    job_overview overview;
    job_config config{};                       ///< with its schedules; empty if it cannot be read
    std::vector<std::string> servers{};        ///< that have a node in the job, sorted
    bool is_paused = false;                    ///< the whole job is
    std::vector<std::string> paused_servers{}; ///< sorted
    std::optional<wall_time> next_due{};       ///< as of when the row was read; for all times if nothing
    std::optional<round_overview> last{};      ///< the last round, where it was asked for
};
using job_rows = std::vector<std::shared_ptr<job_row const>>;

/// A job that is gone for good, and whose name is still taken.
struct removed_job {
    std::string name;
    wall_time since{};
};

/// When the job is due next after `now`, in the zone of its configuration, or else in `zone`.
std::optional<wall_time> next_due_of(job_row const& row, wall_time now, zone_ref zone);

/// What a list is sorted by.
enum class job_column : std::uint8_t { name, health, cron, next_due, last_round, items, instances, description };

/// Numbers from `min` to `max`, both of them included.
struct number_range {
    std::uint32_t min = 0;
    std::uint32_t max = std::numeric_limits<std::uint32_t>::max();
    bool has(std::uint32_t n) const noexcept { return min <= n && n <= max; }
};

/// `5`, `2-10`, `2-` or `-10`; an empty text is any number. Errors: invalid_argument, with that place.
result<number_range> read_range(std::string_view text, std::string_view where);

/// Which jobs are wanted, and in which order.
struct job_selection {
    std::string name{}, cron{}, description{}; ///< parts of these texts
    std::string server{};                      ///< whole
    std::string last_round{};                  ///< the name of an outcome
    std::string status{}, health{};            ///< names of these enumerators, in lower case
    number_range items{}, instances{};
    std::optional<wall_time> due_until{}; ///< only jobs that are due by then
    std::optional<bool> is_paused{};      ///< only jobs that are paused, or only others; nothing: both
    job_column sort = job_column::name;
    bool is_descending = false;
    std::string after{}; ///< the cursor of the page before; empty: from the beginning
    std::size_t rows_max = 100;

    /// Whether rows are wanted whose last round is not known.
    bool needs_rounds() const noexcept { return !last_round.empty() || sort == job_column::last_round; }
};

/// Errors: invalid_argument, naming the parameter.
result<job_selection> read_selection(console_request const& r, wall_time now);

/// Without `health` and `is_paused`, so that the others can be counted by them.
bool is_wanted(job_row const& row, job_selection const& s);

/// `crashed`, as a parameter says it.
std::string lower_name_of(console_status s);

struct job_row_page {
    job_rows rows{};
    std::string next{}; ///< the cursor of the next page; empty: this is the last one
    std::size_t total = 0;
};

/// The page of those rows. O(n log n).
job_row_page page_of(job_rows rows, job_selection const& s);

/// How many of the rows have which health; as `paused`, how many are paused.
std::map<std::string, std::size_t> count_by_health(job_rows const& rows, job_selection const& s);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/job_row.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_JOB_ROW_HPP
