// SPDX-License-Identifier: Apache-2.0
/// \file \brief The answers of the console in JSON: the members of each kind of row, as the interface's description has
/// them.
#ifndef ELASTICJOB_CONSOLE_ROWS_HPP
#define ELASTICJOB_CONSOLE_ROWS_HPP

#include <elasticjob/config/json_writer.hpp>
#include <elasticjob/console/job_row.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/events/event_history.hpp>
#include <elasticjob/operations/audit_query.hpp>
#include <elasticjob/operations/dead_letter_query.hpp>
#include <elasticjob/operations/item_overview.hpp>
#include <elasticjob/operations/plan.hpp>
#include <elasticjob/operations/round_overview.hpp>
#include <elasticjob/operations/server_overview.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob::detail {

/// A due instant of a job.
struct job_due {
    wall_time due;
    std::string job;
    std::string zone;
};

void put_members(json_writer& out, job_row const& row);
void put_members(json_writer& out, removed_job const& r);
void put_members(json_writer& out, round_overview const& r);
void put_members(json_writer& out, run_entry const& e);
void put_members(json_writer& out, item_overview const& i);
void put_members(json_writer& out, instance_overview const& i);
void put_members(json_writer& out, server_overview const& s);
void put_members(json_writer& out, server_in_job const& s);
void put_members(json_writer& out, job_due const& d);
void put_members(json_writer& out, dead_letter const& d);
void put_members(json_writer& out, audit_row const& a);
void put_members(json_writer& out, execution_row const& e);
void put_members(json_writer& out, state_row const& s);

inline void put_members(json_writer& out, std::shared_ptr<job_row const> const& row) { put_members(out, *row); }

/// Adds the members of a plan.
void put_plan(json_writer& out, job_plan const& plan);

/// Adds instants as a list of texts.
void put_instants(json_writer& out, std::string_view name, std::vector<wall_time> const& all);

/// Begins `{"rows": [...]`, with the cursor and the total if there are any. The caller may add members, and finishes
/// the object.
template <class Rows>
json_writer begin_list(Rows const& rows, std::string const& next, std::optional<std::uint64_t> total) {
    json_writer out;
    out.open_list("rows");
    for (auto const& row : rows) {
        put_members(out.open(), row);
        out.close();
    }
    out.close();
    if (!next.empty()) out.member("next", next);
    return std::move(out.member("total", total));
}

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/rows.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_ROWS_HPP
