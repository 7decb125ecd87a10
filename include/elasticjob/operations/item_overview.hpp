// SPDX-License-Identifier: Apache-2.0
/// \file \brief Lists the items of a job with their owners, their states and their next due instants; from any process.
#ifndef ELASTICJOB_OPERATIONS_ITEM_OVERVIEW_HPP
#define ELASTICJOB_OPERATIONS_ITEM_OVERVIEW_HPP

#include <elasticjob/config/due_times.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/wait_within.hpp>
#include <elasticjob/execution/run_record.hpp>
#include <elasticjob/membership/stored_job.hpp>
#include <elasticjob/operations/no_such_job.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/read_paced.hpp>
#include <elasticjob/sharding/in_force.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// The status of an item as the console of 2.1.5 shows it. The first status that applies counts.
enum class console_item_status : std::uint8_t {
    disabled,      ///< an operator has disabled it
    running,       ///< it has a running mark
    sharding_flag, ///< it has no live owner
    pending,
};

/// The names are `DISABLED`, `RUNNING`, `SHARDING_FLAG` and `PENDING`.
std::string_view name_of(console_item_status s) noexcept;

/// The state in more detail. The first state that applies counts.
enum class item_health : std::uint8_t {
    unreadable, ///< its record cannot be read; `item_overview::fault` has the reason
    running,
    interrupted, ///< its instance died while it ran, and no other instance has taken it over
    disabled,
    retrying, ///< it waits for another attempt
    unowned,
    orphaned, ///< its owner is gone
    idle,
};

/// The name of the enumerator.
std::string_view name_of(item_health h) noexcept;

/// An item in a list.
struct item_overview {
    item_index item = 0;
    std::string owner{}; ///< an instance id; empty: nobody
    console_item_status status{};
    item_health health{};
    bool is_failover = false; ///< it runs again because its instance died
    bool is_disabled = false;
    std::optional<run_begin> running{};     ///< the run that has begun and not ended; Java members record none
    std::optional<run_progress> progress{}; ///< of that run
    std::optional<run_retry> retry{};       ///< the next attempt
    std::vector<run_entry> ledger{};        ///< the outcomes of its last due instants and orders, the oldest first
    std::optional<wall_time> next_due{};
    std::size_t dead_letters = 0;
    std::optional<error> fault{}; ///< the reason why its record cannot be read
};

/// The wanted items.
struct item_query {
    item_index first = 0;
    std::uint32_t items_max = 100; ///< at least 1

    /// The zone of the job's schedulers, unless the configuration names one. Without it, `next_due` is the one that the
    /// last run recorded.
    std::optional<zone_ref> zone{};

    /// The maximum number of simultaneous requests; at least 1.
    std::size_t requests_max = paced_requests_max;
};

/// Items in ascending order.
struct item_page {
    std::vector<item_overview> items;
    std::uint32_t item_count = 0;     ///< of the job
    std::optional<item_index> next{}; ///< the first item of the next page; nothing: this is the last page
};

namespace detail {

/// The contents of the nodes that determine an item's state.
struct item_reading {
    std::string owner;
    std::optional<node> record, mark, disabled, failover;
};

item_overview overview_of(item_index item, item_reading const& read, std::vector<std::string> const& instances,
                          job_layout const& at);

} // namespace detail

/// A page of the items of a job. Five requests for the job, and four for each item of the page; one more for each item
/// if a Java member has sharded the job. `next_due` is computed with the clock of this process. If a record cannot be
/// read, the other items are listed nevertheless. Errors: no_node if there is no such job; malformed_data and those of
/// `validate` for a configuration that cannot be used; those of the registry.
template <registry Registry>
task<result<item_page>> find_items(Registry& r, job_name job, item_query query) {
    job_layout const at{job};
    std::vector<node_path> const base{at.config(), at.schedule(), at.assignment(), at.item_instance(0)};
    ELASTICJOB_CO_TRY(auto const nodes, co_await read_all(r, base));
    ELASTICJOB_CO_TRY(auto const config,
                      detail::read_stored(nodes[0] ? &*nodes[0] : nullptr, nodes[1] ? &*nodes[1] : nullptr, at,
                                          sharding_total_count_max));
    if (!config) co_return detail::no_such_job(at.root());
    ELASTICJOB_CO_TRY(auto const names, co_await list_sorted(r, at.instances()));

    item_page page;
    page.item_count = static_cast<std::uint32_t>(config->config().sharding_total_count);
    auto const first = std::min(query.first, page.item_count);
    auto const end = first + std::min(page.item_count - first, std::max(query.items_max, std::uint32_t{1}));
    if (end < page.item_count) page.next = end;

    ELASTICJOB_CO_TRY(auto const in_force, assignment_in_force(nodes[2], nodes[3]));
    std::vector<node_path> paths;
    for (auto i = first; i < end; ++i) {
        paths.push_back(at.run_record(i));
        paths.push_back(at.item_running(i));
        paths.push_back(at.item_disabled(i));
        paths.push_back(at.item_failover(i));
        if (!in_force) paths.push_back(at.item_instance(i));
    }
    ELASTICJOB_CO_TRY(auto read, co_await read_paced(r, std::move(paths), query.requests_max));

    std::optional<wall_time> next_due;
    if (query.zone) {
        ELASTICJOB_CO_TRY(auto const due, preview(config->config(), r.loop().wall_now(), 1, *query.zone));
        if (!due.empty()) next_due = due.front();
    }
    std::size_t const nodes_each = in_force ? 4 : 5;
    for (auto i = first; i < end; ++i) {
        auto* const n = &read[(i - first) * nodes_each];
        auto owner = owner_of(in_force, in_force ? std::nullopt : std::move(n[4]), i);
        detail::item_reading const one{std::move(owner), std::move(n[0]), std::move(n[1]), std::move(n[2]),
                                       std::move(n[3])};
        page.items.push_back(detail::overview_of(i, one, names, at));
        auto& item = page.items.back();
        if (next_due && !item.retry) item.next_due = next_due;
    }
    co_return page;
}

/// As a blocking call. Waits up to `timeout`. Errors: as above, and timed_out; invalid_argument for an invalid job
/// name. Threads: any but the loop's.
template <registry Registry>
result<item_page> list_items(Registry& r, std::string_view job, item_query query = {},
                             std::chrono::milliseconds timeout = std::chrono::seconds{60}) {
    ELASTICJOB_TRY(auto name, job_name::parse(job));
    return detail::wait_within(r.loop(), timeout, find_items(r, std::move(name), std::move(query)));
}

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/operations/item_overview.ipp>
#endif
#endif // ELASTICJOB_OPERATIONS_ITEM_OVERVIEW_HPP
