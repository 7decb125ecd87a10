// SPDX-License-Identifier: Apache-2.0
/// \file \brief Lists the recent rounds of a job for people: their begins, ends and outcomes.
#ifndef ELASTICJOB_OPERATIONS_ROUND_OVERVIEW_HPP
#define ELASTICJOB_OPERATIONS_ROUND_OVERVIEW_HPP

#include <elasticjob/config/text.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/wait_within.hpp>
#include <elasticjob/execution/run_record.hpp>
#include <elasticjob/operations/dead_letters.hpp> // no_records
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/read_paced.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// The outcome of a round. The first outcome that applies to one of its items counts.
enum class round_outcome : std::uint8_t {
    running,
    failed,
    interrupted,
    retrying, ///< an item waits for another attempt
    completed,
    coalesced, ///< the run of a later instant also counted for it
    skipped,
};

/// The name of the enumerator.
std::string_view name_of(round_outcome s) noexcept;

/// The runs of a job's items for one due instant.
struct round_overview {
    wall_time due{};
    round_outcome outcome{};
    std::optional<wall_time> begun{}; ///< the begin of the first of its runs
    std::optional<wall_time> ended{}; ///< the end of the last of its runs; nothing while one is running
    std::uint32_t items = 0;          ///< the number of items whose records contain the round
};

/// The rounds in those records, the newest first. Ignores runs that an operator or the program ordered. O(n log n) in
/// the number of entries.
std::vector<round_overview> rounds_of(std::vector<run_record> const& records);

/// The recent rounds of a job, from the records of its first `items_max` items: about the last twelve. One request for
/// the list of records, and one for each. Records that cannot be read are left out; `check_job` finds them. Errors:
/// no_node if there is no such job, or no instance of it keeps records; those of the registry.
template <registry Registry>
task<result<std::vector<round_overview>>> find_rounds(Registry& r, job_name job, std::uint32_t items_max = 1'000) {
    job_layout const at{job};
    auto const names = co_await r.children(at.run_records());
    if (!names && names.error() == errc::no_node) co_return detail::no_records(at);
    if (!names) co_return names.error();
    std::vector<node_path> paths;
    for (auto const& name : *names)
        if (item_index i = 0; detail::read_number(std::string_view{name}, i) && i < items_max)
            paths.push_back(at.run_record(i));
    ELASTICJOB_CO_TRY(auto const nodes, co_await read_paced(r, std::move(paths), paced_requests_max));
    std::vector<run_record> records;
    for (auto const& n : nodes) {
        if (!n) continue;
        if (auto read = run_record::parse(n->data)) records.push_back(*std::move(read));
    }
    co_return rounds_of(records);
}

/// As a blocking call. Waits up to `timeout`. Errors: as above, and timed_out; invalid_argument for an invalid job
/// name. Threads: any but the loop's.
template <registry Registry>
result<std::vector<round_overview>> list_rounds(Registry& r, std::string_view job, std::uint32_t items_max = 1'000,
                                                std::chrono::milliseconds timeout = std::chrono::seconds{10}) {
    ELASTICJOB_TRY(auto name, job_name::parse(job));
    return detail::wait_within(r.loop(), timeout, find_rounds(r, std::move(name), items_max));
}

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/operations/round_overview.ipp>
#endif
#endif // ELASTICJOB_OPERATIONS_ROUND_OVERVIEW_HPP
