// SPDX-License-Identifier: Apache-2.0
/// \file \brief Lists servers and instances, and their states in each job; from any process.
#ifndef ELASTICJOB_OPERATIONS_SERVER_OVERVIEW_HPP
#define ELASTICJOB_OPERATIONS_SERVER_OVERVIEW_HPP

#include <elasticjob/core/wait_within.hpp>
#include <elasticjob/membership/traits.hpp>
#include <elasticjob/operations/job_overview.hpp>
#include <elasticjob/operations/no_such_job.hpp>
#include <elasticjob/operations/wait_for_job.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// A server, in all jobs.
struct server_overview {
    std::string server;
    std::vector<std::string> instances{};     ///< ids, sorted; one for each job that it is a member of
    std::vector<std::string> jobs{};          ///< the jobs in which it has a node or an instance, sorted
    std::vector<std::string> disabled_jobs{}; ///< the jobs in which it is disabled, sorted
    std::vector<std::string> paused_jobs{};   ///< the jobs that are paused there, or as a whole, sorted
    std::vector<std::string> idle_jobs{};     ///< the jobs in which it has a node and no instance, sorted
    std::string host{};                       ///< as `server_in_job::host`, from the job in which it was written last
};

/// A server in one job.
struct server_in_job {
    std::string job;
    bool has_node = false; ///< false: only the server's instances show the job that it exists, and it is enabled
    bool is_disabled = false;
    bool is_paused = false;               ///< there, or the whole job
    std::vector<std::string> instances{}; ///< ids, sorted

    /// The host name of the process that joined last from this address. Empty if no process has written its name; Java
    /// members do not.
    std::string host{};
};

/// An instance of a job.
struct instance_overview {
    std::string id;
    bool is_java = false;
    bool is_leader = false;
    bool is_disabled = false;  ///< its server is disabled
    bool is_paused = false;    ///< its server, or the whole job
    bool is_left_over = false; ///< its node is persistent, so no process owns it
    bool is_triggered = false; ///< it has not obeyed a TRIGGER yet
    std::uint32_t weight = 1;
    std::string labels{};
    std::uint32_t item_count = 0; ///< the number of items that it owns
    std::string host{};           ///< of its server, as `server_in_job::host`
};

namespace detail {

/// The number of items of each instance.
std::map<std::string, std::uint32_t> count_items(assignment const& a);

/// Errors: invalid_argument for an invalid server name.
result<void> check_server(std::string_view name);

/// The host name in a node `ext/hosts/{ip}`. Empty if there is no node, or if its content is no host name.
std::string stored_host(std::optional<node> const& n);

/// Those of the instances that run on that server.
std::vector<std::string> instances_on(std::string_view server, std::vector<std::string> const& instances);

} // namespace detail

/// All servers, sorted by name. One request for the names of the jobs, three for each job, and two for each server of
/// each job; at most `requests_max` at once. Errors: those of the registry.
template <registry Registry>
task<result<std::vector<server_overview>>> find_servers(Registry& r, std::size_t requests_max = paced_requests_max) {
    ELASTICJOB_CO_TRY(auto const jobs, co_await find_job_names(r));
    std::vector<node_path> instance_lists, server_lists, pause_nodes, paths;
    for (auto const& job : jobs) {
        job_layout const at{*job_name::parse(job)};
        instance_lists.push_back(at.instances());
        server_lists.push_back(at.servers());
        pause_nodes.push_back(at.pauses());
    }
    ELASTICJOB_CO_TRY(auto const instances, co_await list_paced(r, std::move(instance_lists), requests_max));
    ELASTICJOB_CO_TRY(auto const servers, co_await list_paced(r, std::move(server_lists), requests_max));
    ELASTICJOB_CO_TRY(auto const paused, co_await read_paced(r, std::move(pause_nodes), requests_max));
    for (std::size_t i = 0; i < jobs.size(); ++i)
        for (auto const& server : servers[i]) {
            job_layout const at{*job_name::parse(jobs[i])};
            paths.push_back(at.server(server));
            paths.push_back(at.host(server));
        }
    ELASTICJOB_CO_TRY(auto const nodes, co_await read_paced(r, std::move(paths), requests_max));

    std::map<std::string, server_overview> all;
    std::map<std::string, revision> hosts_written;
    std::size_t next = 0;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        std::map<std::string, std::vector<std::string>> here;
        for (auto const& id : instances[i])
            if (auto const read = instance_id::parse(id)) here[std::string{read->server()}].push_back(id);
        for (auto const& server : servers[i]) {
            auto const& there = nodes[next];
            auto const& host = nodes[next + 1];
            next += 2;
            if (!there) continue;
            if (auto name = detail::stored_host(host); !name.empty() && host->stat.modified > hosts_written[server]) {
                all[server].host = std::move(name);
                hosts_written[server] = host->stat.modified;
            }
            if (there->data == server_disabled) all[server].disabled_jobs.push_back(jobs[i]);
            if (!here.contains(server)) all[server].idle_jobs.push_back(jobs[i]);
            (void)here[server];
        }
        auto const pauses = detail::readable_pauses(paused[i]);
        for (auto& [server, ids] : here) {
            if (pauses.in_force(server)) all[server].paused_jobs.push_back(jobs[i]);
            all[server].jobs.push_back(jobs[i]);
            all[server].instances.insert(all[server].instances.end(), ids.begin(), ids.end());
        }
    }
    std::vector<server_overview> sorted;
    for (auto& [name, one] : all) {
        one.server = name;
        detail::keep_each_once(one.instances);
        sorted.push_back(std::move(one));
    }
    co_return sorted;
}

/// One server in all jobs that have a node or an instance for it, sorted by job. One request for the names of the jobs,
/// and four for each job. Errors: no_node if no job has either; invalid_argument for an invalid server name; those of
/// the registry.
template <registry Registry>
task<result<std::vector<server_in_job>>> find_server(Registry& r, std::string server,
                                                     std::size_t requests_max = paced_requests_max) {
    ELASTICJOB_CO_CHECK(detail::check_server(server));
    ELASTICJOB_CO_TRY(auto const jobs, co_await find_job_names(r));
    std::vector<node_path> lists, paths;
    for (auto const& job : jobs) {
        job_layout const at{*job_name::parse(job)};
        lists.push_back(at.instances());
        paths.push_back(at.server(server));
        paths.push_back(at.host(server));
        paths.push_back(at.pauses());
    }
    ELASTICJOB_CO_TRY(auto const nodes, co_await read_paced(r, std::move(paths), requests_max));
    ELASTICJOB_CO_TRY(auto const instances, co_await list_paced(r, std::move(lists), requests_max));
    std::vector<server_in_job> all;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        auto here = detail::instances_on(server, instances[i]);
        auto const* const n = &nodes[3 * i];
        if (!n[0] && here.empty()) continue;
        bool const is_disabled = n[0] && n[0]->data == server_disabled;
        bool const is_paused = detail::readable_pauses(n[2]).in_force(server) != nullptr;
        all.push_back({jobs[i], n[0].has_value(), is_disabled, is_paused, std::move(here), detail::stored_host(n[1])});
    }
    if (all.empty()) co_return error{errc::no_node, "no job has a server of that name", server};
    co_return all;
}

/// The instances of a job, sorted by id. Six requests, and four for each instance; one more for each item if a Java
/// member has sharded the job. Errors: no_node if there is no such job; malformed_data for an assignment or traits that
/// cannot be read; those of the registry.
template <registry Registry>
task<result<std::vector<instance_overview>>> find_instances(Registry& r, job_name job,
                                                            std::size_t requests_max = paced_requests_max) {
    job_layout const at{job};
    std::vector<node_path> const base{at.config(), at.assignment(), at.item_instance(0), at.leader_instance(),
                                      at.pauses()};
    ELASTICJOB_CO_TRY(auto const nodes, co_await read_all(r, base));
    if (!nodes[0]) co_return detail::no_such_job(at.root());
    ELASTICJOB_CO_TRY(auto const names, co_await list_sorted(r, at.instances()));
    std::vector<instance_id> ids;
    std::vector<node_path> paths;
    for (auto const& name : names)
        if (auto id = instance_id::parse(name)) {
            paths.push_back(at.instance(*id));
            paths.push_back(at.server(id->server()));
            paths.push_back(at.traits_of(*id));
            paths.push_back(at.host(id->server()));
            ids.push_back(*std::move(id));
        }
    ELASTICJOB_CO_TRY(auto const told, co_await read_paced(r, std::move(paths), requests_max));

    std::map<std::string, std::uint32_t> counts;
    ELASTICJOB_CO_TRY(auto const in_force, assignment_in_force(nodes[1], nodes[2]));
    if (in_force) {
        counts = detail::count_items(*in_force);
    } else if (!ids.empty()) {
        ELASTICJOB_CO_TRY(auto const owners, co_await detail::read_owners(r, at, requests_max));
        for (auto const& [item, owner] : owners) ++counts[owner];
    }
    auto const pauses = detail::readable_pauses(nodes[4]);
    std::vector<instance_overview> all;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        auto const* const n = &told[4 * i];
        if (!n[0]) continue; // the instance has left meanwhile
        instance_overview one{ids[i].str()};
        one.is_java = ids[i].is_java();
        one.is_leader = nodes[3] && nodes[3]->data == one.id;
        one.is_disabled = n[1] && n[1]->data == server_disabled;
        one.is_paused = pauses.in_force(ids[i].server()) != nullptr;
        one.is_left_over = n[0]->stat.owner == 0;
        one.is_triggered = n[0]->data == trigger_order;
        if (n[2]) {
            ELASTICJOB_CO_TRY(auto traits, stored_traits::parse(n[2]->data));
            one.weight = traits.weight;
            one.labels = std::move(traits.labels);
        }
        one.item_count = counts[one.id];
        one.host = detail::stored_host(n[3]);
        all.push_back(std::move(one));
    }
    co_return all;
}

// The functions above as blocking calls. Threads: any but the loop's.

/// All servers. Waits up to `timeout`. Errors: as `find_servers`, and timed_out.
template <registry Registry>
result<std::vector<server_overview>> list_servers(Registry& r,
                                                  std::chrono::milliseconds timeout = std::chrono::seconds{60}) {
    return detail::wait_within(r.loop(), timeout, find_servers(r));
}

/// One server in all jobs. Waits up to `timeout`. Errors: as `find_server`, and timed_out.
template <registry Registry>
result<std::vector<server_in_job>> describe_server(Registry& r, std::string_view server,
                                                   std::chrono::milliseconds timeout = std::chrono::seconds{60}) {
    return detail::wait_within(r.loop(), timeout, find_server(r, std::string{server}));
}

/// The instances of a job. Waits up to ten seconds. Errors: as `find_instances`, and timed_out; invalid_argument for an
/// invalid job name.
template <registry Registry>
result<std::vector<instance_overview>> list_instances(Registry& r, std::string_view job) {
    return detail::wait_for_job(r, job, [&](job_name name) { return find_instances(r, std::move(name)); });
}

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/operations/server_overview.ipp>
#endif
#endif // ELASTICJOB_OPERATIONS_SERVER_OVERVIEW_HPP
