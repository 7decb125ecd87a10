// SPDX-License-Identifier: Apache-2.0
/// \file \brief Lists jobs and their states, from any process.
#ifndef ELASTICJOB_OPERATIONS_JOB_OVERVIEW_HPP
#define ELASTICJOB_OPERATIONS_JOB_OVERVIEW_HPP

#include <elasticjob/config/job_config.hpp>
#include <elasticjob/config/text.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/wait_within.hpp>
#include <elasticjob/execution/job_pauses.hpp>
#include <elasticjob/membership/stored_job.hpp>
#include <elasticjob/operations/no_such_job.hpp>
#include <elasticjob/operations/wait_for_job.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/read_paced.hpp>
#include <elasticjob/sharding/assignment.hpp>
#include <elasticjob/sharding/in_force.hpp>
#include <elasticjob/sharding/item_nodes.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// The status of a job as the console of 2.1.5 shows it. The first status that applies counts.
enum class console_status : std::uint8_t {
    crashed,       ///< it has no instance
    disabled,      ///< all its servers are disabled, including those without an instance
    sharding_flag, ///< no item has an owner, or an item's owner is gone
    ok,
};

/// The names are `CRASHED`, `DISABLED`, `SHARDING_FLAG` and `OK`.
std::string_view name_of(console_status s) noexcept;

/// The state in more detail. The first state that applies counts.
enum class job_health : std::uint8_t {
    unreadable, ///< its configuration cannot be read; `job_overview::fault` has the reason
    no_instances,
    disabled,     ///< the servers of all its instances are disabled
    sharding_due, ///< a sharding has been requested, and no leader has carried it out yet
    orphaned,     ///< the owner of an item is gone
    unowned,      ///< an item has no owner
    ok,
};

/// The name of the enumerator.
std::string_view name_of(job_health h) noexcept;

/// A job in a list.
struct job_overview {
    std::string name;
    console_status status{};
    job_health health{};
    std::string cron{};
    std::string description{};
    std::uint32_t item_count = 0;
    std::uint32_t instance_count = 0;
    bool is_paused = false;                    ///< the whole job is paused
    std::vector<std::string> paused_servers{}; ///< those that are paused one by one, sorted
    std::optional<error> fault{}; ///< the reason why the configuration cannot be read; then its fields are empty
};

/// The wanted jobs, and the size of a page.
struct job_query {
    std::string name_contains{};            ///< empty: any
    std::optional<console_status> status{}; ///< nothing: any
    std::optional<job_health> health{};     ///< nothing: any
    std::string after{};                    ///< the cursor of the previous page; empty: from the beginning
    std::size_t jobs_max = 100;             ///< at least 1

    /// The maximum number of simultaneous requests; at least 1.
    std::size_t requests_max = paced_requests_max;
};

/// Jobs in ascending order of their names.
struct job_page {
    std::vector<job_overview> jobs;
    std::string next{}; ///< the cursor of the next page; empty: this is the last page
};

namespace detail {

/// The contents of the nodes that determine a job's state.
struct job_facts {
    std::string name;
    std::string config;
    bool sharding_is_due = false;
    std::vector<std::string> instances{};
    std::vector<std::string> owners{}; ///< of its items, without duplicates, sorted; an empty one: no owner
    bool has_enabled_instance = false; ///< the server of an instance is enabled
    bool has_enabled_server = false;
    job_pauses pauses{};
};

/// The pauses in a job's node. None if there is no node, or if it cannot be read; `check_job` reports the latter.
job_pauses readable_pauses(std::optional<node> const& n);

/// The owners in the assignment, sorted, without duplicates. Nothing if the assignment is not in force: then the items'
/// nodes count.
std::optional<std::vector<std::string>> owners_by_assignment(std::optional<node> const& assignment_node,
                                                             std::optional<node> const& first_item);

/// Sorts the names and removes duplicates.
void keep_each_once(std::vector<std::string>& names);

job_overview overview_of(job_facts const& facts);

bool is_wanted(job_overview const& job, job_query const& query);

inline node_path server_of(job_layout const& at, std::string_view instance) {
    return at.server(instance.substr(0, instance.find(identity_delimiter)));
}

/// The owner of each item, from the items' nodes, in no order; empty: none. One request for each item.
template <registry Registry>
task<result<std::vector<std::pair<item_index, std::string>>>> read_owners(Registry& r, job_layout at,
                                                                          std::size_t requests_max) {
    ELASTICJOB_CO_TRY(auto const names, co_await list_sorted(r, at.sharding()));
    std::vector<std::pair<item_index, std::string>> owners;
    std::vector<node_path> paths;
    for (auto const& name : names)
        if (auto const item = parse_number<item_index>(name)) {
            owners.emplace_back(*item, std::string{});
            paths.push_back(at.item_instance(*item));
        }
    ELASTICJOB_CO_TRY(auto nodes, co_await read_paced(r, std::move(paths), requests_max));
    for (std::size_t i = 0; i < nodes.size(); ++i)
        if (nodes[i]) owners[i].second = owner_in(std::move(nodes[i]->data));
    co_return owners;
}

/// Determines for each job whether a server is enabled. Reads the servers of the instances first, because one of them
/// is nearly always enabled.
template <registry Registry>
task<result<void>> look_for_enabled_servers(Registry& r, std::vector<job_facts>& jobs, std::size_t requests_max) {
    std::vector<node_path> paths;
    std::vector<job_facts*> asked;
    for (auto& job : jobs) {
        if (job.instances.empty()) continue;
        paths.push_back(server_of(job_layout{*job_name::parse(job.name)}, job.instances.front()));
        asked.push_back(&job);
    }
    ELASTICJOB_CO_TRY(auto const first, co_await read_paced(r, std::move(paths), requests_max));
    for (std::size_t i = 0; i < asked.size(); ++i) {
        auto& job = *asked[i];
        job.has_enabled_instance = !first[i] || first[i]->data != server_disabled;
        job.has_enabled_server = job.has_enabled_instance;
        if (job.has_enabled_instance) continue;
        job_layout const at{*job_name::parse(job.name)};
        ELASTICJOB_CO_TRY(auto const names, co_await list_sorted(r, at.servers()));
        std::vector<node_path> servers;
        for (auto const& name : names) servers.push_back(at.server(name));
        ELASTICJOB_CO_TRY(auto const nodes, co_await read_paced(r, std::move(servers), requests_max));
        for (std::size_t n = 0; n < nodes.size(); ++n) {
            if (!nodes[n] || nodes[n]->data == server_disabled) continue;
            job.has_enabled_server = true;
            auto const here = names[n] + std::string{identity_delimiter};
            for (auto const& id : job.instances) job.has_enabled_instance |= id.starts_with(here);
        }
    }
    co_return success();
}

/// The nodes of each job that `read_overviews` reads at once.
inline constexpr std::size_t overview_nodes = 5;

/// Reads the input of `overview_of`. Leaves out names of jobs without a configuration.
template <registry Registry>
task<result<std::vector<job_overview>>> read_overviews(Registry& r, std::vector<std::string> names,
                                                       std::size_t requests_max) {
    std::vector<node_path> paths, lists;
    for (auto const& name : names) {
        job_layout const at{*job_name::parse(name)};
        paths.push_back(at.config());
        paths.push_back(at.assignment());
        paths.push_back(at.item_instance(0));
        paths.push_back(at.sharding_necessary());
        paths.push_back(at.pauses());
        lists.push_back(at.instances());
    }
    ELASTICJOB_CO_TRY(auto nodes, co_await read_paced(r, std::move(paths), requests_max));
    ELASTICJOB_CO_TRY(auto instances, co_await list_paced(r, std::move(lists), requests_max));
    std::vector<job_facts> jobs;
    for (std::size_t i = 0; i < names.size(); ++i) {
        auto* const n = &nodes[i * overview_nodes];
        if (!n[0] || n[0]->data.empty()) continue;
        job_layout const at{*job_name::parse(names[i])};
        jobs.push_back({std::move(names[i]), std::move(n[0]->data), n[3].has_value(), std::move(instances[i])});
        auto& job = jobs.back();
        job.pauses = readable_pauses(n[4]);
        if (job.instances.empty()) continue;
        if (auto owners = owners_by_assignment(n[1], n[2])) {
            job.owners = *std::move(owners);
        } else {
            ELASTICJOB_CO_TRY(auto read, co_await read_owners(r, at, requests_max));
            for (auto& one : read) job.owners.push_back(std::move(one.second));
            keep_each_once(job.owners);
        }
    }
    ELASTICJOB_CO_CHECK(co_await look_for_enabled_servers(r, jobs, requests_max));
    std::vector<job_overview> all;
    for (auto const& job : jobs) all.push_back(overview_of(job));
    co_return all;
}

} // namespace detail

/// Accepts all jobs. Queries also take another predicate of the jobs' names in its place, a copyable one: then neither
/// rows nor cursors show that the other jobs exist.
struct any_job {
    constexpr bool operator()(std::string_view) const noexcept { return true; }
};

/// The names of all nodes at the registry's root, which are jobs and others, sorted. One request. Errors: those of the
/// registry.
template <registry Registry>
task<result<std::vector<std::string>>> find_job_names(Registry& r) {
    ELASTICJOB_CO_TRY(auto names, co_await r.children(node_path{}));
    std::erase_if(names, [](auto const& name) { return !job_name::parse(name); });
    std::sort(names.begin(), names.end());
    co_return names;
}

/// A page of the jobs that have a configuration. One request for all names, and seven for each job that is read: those
/// whose names fit, up to the end of the page. If a Java member has sharded a job, one more for each of its items; if
/// the first instance of a job is disabled, one more for each of its servers. If a configuration cannot be read, the
/// other jobs are listed nevertheless. The nodes are read one by one, so the parts of the page may be of different
/// moments. Errors: those of the registry.
template <registry Registry>
task<result<job_page>> find_jobs(Registry& r, job_query query) {
    ELASTICJOB_CO_TRY(auto names, co_await find_job_names(r));
    std::erase_if(names, [&](auto const& name) {
        return name <= query.after || name.find(query.name_contains) == std::string::npos;
    });
    auto const page_size = std::max(query.jobs_max, std::size_t{1});
    auto const batch_size = std::max(query.requests_max / detail::overview_nodes, std::size_t{1});
    job_page page;
    for (std::size_t begin = 0; begin < names.size(); begin += batch_size) {
        auto const first = names.begin() + static_cast<std::ptrdiff_t>(begin);
        auto const size = std::min(batch_size, names.size() - begin);
        std::vector<std::string> batch(first, first + static_cast<std::ptrdiff_t>(size));
        ELASTICJOB_CO_TRY(auto jobs, co_await detail::read_overviews(r, std::move(batch), query.requests_max));
        for (auto& job : jobs) {
            if (!detail::is_wanted(job, query)) continue;
            if (page.jobs.size() == page_size) {
                page.next = page.jobs.back().name;
                co_return page;
            }
            page.jobs.push_back(std::move(job));
        }
    }
    co_return page;
}

/// One job. Errors: no_node if there is no such job; removed if it has been removed for good; those of the registry.
template <registry Registry>
task<result<job_overview>> find_job(Registry& r, job_name job) {
    job_layout const at{job};
    std::vector<std::string> const name{job.str()};
    ELASTICJOB_CO_TRY(auto found, co_await detail::read_overviews(r, name, paced_requests_max));
    if (!found.empty()) co_return std::move(found.front());
    ELASTICJOB_CO_TRY(auto const tombstone, co_await r.exists(at.removed()));
    if (tombstone) co_return detail::removed_error(at);
    co_return detail::no_such_job(at.root());
}

// The functions above as blocking calls. Threads: any but the loop's.

/// A page of the jobs. Waits up to `timeout`. Errors: as `find_jobs`, and timed_out.
template <registry Registry>
result<job_page> list_jobs(Registry& r, job_query query = {},
                           std::chrono::milliseconds timeout = std::chrono::seconds{60}) {
    return detail::wait_within(r.loop(), timeout, find_jobs(r, std::move(query)));
}

/// One job. Waits up to ten seconds. Errors: as `find_job`, and timed_out; invalid_argument for an invalid job name.
template <registry Registry>
result<job_overview> describe_job(Registry& r, std::string_view job) {
    return detail::wait_for_job(r, job, [&](job_name name) { return find_job(r, std::move(name)); });
}

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/operations/job_overview.ipp>
#endif
#endif // ELASTICJOB_OPERATIONS_JOB_OVERVIEW_HPP
