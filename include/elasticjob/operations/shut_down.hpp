// SPDX-License-Identifier: Apache-2.0
/// \file \brief Makes instances leave a job, and removes servers without instances; from any process.
#ifndef ELASTICJOB_OPERATIONS_SHUT_DOWN_HPP
#define ELASTICJOB_OPERATIONS_SHUT_DOWN_HPP

#include <elasticjob/core/wait_within.hpp>
#include <elasticjob/operations/command_in_job.hpp>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

namespace detail {

/// Removes the nodes of those instances, which makes members of both languages leave (SD-1).
template <registry Registry>
task<result<command_plan>> plan_shut_down(Registry& r, job_layout at, std::vector<std::string> ids, transaction& t) {
    std::vector<node_path> paths;
    for (auto const& id : ids) paths.push_back(at.instances() / id);
    ELASTICJOB_CO_TRY(auto const nodes, co_await read_paced(r, paths, paced_requests_max));
    std::size_t count = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (!nodes[i]) continue;
        t.remove(paths[i], nodes[i]->stat.version);
        ++count;
    }
    if (count == 0) co_return error{errc::no_node, "there is no such instance", at.instances().str()};
    co_return command_plan{std::to_string(count) + (count == 1 ? " instance leaves" : " instances leave")};
}

/// Makes the registry refuse the transaction if a sharding has been requested since the read. If nodes above the mark
/// were missing, checks that the uppermost of them is still missing.
inline void check_no_sharding(transaction& t, job_layout const& at, bool has_leader, bool has_flags) {
    t.check_absent(!has_leader ? at.leader() : has_flags ? at.sharding_necessary() : at.sharding_flags());
}

/// Adds the removal of a server without instances. Errors: those of `order_server_removal`.
template <registry Registry>
task<result<command_plan>> plan_server_removal(Registry& r, job_layout at, std::string server, transaction& t) {
    std::vector<node_path> const paths{at.server(server), at.assignment(),     at.sharding_necessary(), at.instances(),
                                       at.leader(),       at.sharding_flags(), at.host(server)};
    ELASTICJOB_CO_TRY(auto const nodes, co_await read_all(r, paths));
    ELASTICJOB_CO_TRY(auto const names, co_await list_sorted(r, at.instances()));
    if (!nodes[0])
        co_return error{errc::no_node, "the job has no server of that name: list its servers", paths[0].str()};
    auto const here = instances_on(server, names);
    if (!here.empty())
        co_return error{errc::version_conflict, "the server has an instance: shut it down first",
                        (at.instances() / here.front()).str()};
    t.remove(at.server(server), nodes[0]->stat.version);
    if (nodes[6]) t.remove(at.host(server));
    if (nodes[3] && names.empty()) { // no instance is registered: if one joins, the removal of their parent fails
        t.remove(at.instances(), nodes[3]->stat.version).create(at.instances(), nodes[3]->data);
    } else if (nodes[3]) { // an instance that joins requests a sharding, and then the assignment changes
        if (nodes[2])
            co_return error{errc::version_conflict, "a sharding is pending: repeat the command after it",
                            at.sharding_necessary().str()};
        check_no_sharding(t, at, nodes[4].has_value(), nodes[5].has_value());
        if (nodes[1]) t.check(at.assignment(), nodes[1]->stat.version);
    }
    co_return command_plan{"the server is removed"};
}

} // namespace detail

/// Makes one instance leave the job: it starts no more runs, lets its live runs end, and releases its items (SD-2). Its
/// process continues, and stays out of the job until it schedules the job again. Errors: no_node if there is no such
/// job or instance; invalid_argument for an invalid instance id; those of `carry_out`.
template <registry Registry>
task<result<command_result>> order_instance_out(Registry& r, job_name job, std::string instance, command_by by) {
    job_layout const at{job};
    auto const id = instance_id::parse(instance);
    if (!id) co_return error{errc::invalid_argument, id.error().what, id.error().where};
    auto const plan = [&r, at, id = *id](transaction& t) -> task<result<detail::command_plan>> {
        std::vector<std::string> const ids{id.str()};
        co_return co_await detail::plan_shut_down(r, at, ids, t);
    };
    detail::command_title title{"shut down", "instance " + instance};
    co_return co_await detail::carry_out(r, std::move(job), std::move(by), std::move(title), plan);
}

/// As above, for all instances of one server. Errors: no_node if there is no such job, or no instance of it on that
/// server; invalid_argument for an invalid server name; those of `carry_out`.
template <registry Registry>
task<result<command_result>> order_server_out(Registry& r, job_name job, std::string server, command_by by) {
    job_layout const at{job};
    ELASTICJOB_CO_CHECK(detail::check_server(server));
    auto const plan = [&r, at, server](transaction& t) -> task<result<detail::command_plan>> {
        ELASTICJOB_CO_TRY(auto const names, co_await list_sorted(r, at.instances()));
        co_return co_await detail::plan_shut_down(r, at, detail::instances_on(server, names), t);
    };
    detail::command_title title{"shut down", "server " + server};
    co_return co_await detail::carry_out(r, std::move(job), std::move(by), std::move(title), plan);
}

/// As above, for all instances of the job, which stays configured. Errors: no_node if there is no such job, or no
/// instance of it; those of `carry_out`.
template <registry Registry>
task<result<command_result>> order_job_out(Registry& r, job_name job, command_by by) {
    job_layout const at{job};
    auto const plan = [&r, at](transaction& t) -> task<result<detail::command_plan>> {
        ELASTICJOB_CO_TRY(auto const names, co_await list_sorted(r, at.instances()));
        co_return co_await detail::plan_shut_down(r, at, names, t);
    };
    detail::command_title title{"shut down"};
    co_return co_await detail::carry_out(r, std::move(job), std::move(by), std::move(title), plan);
}

/// Removes a server without instances from a job: its node, and with it the note that an operator has disabled the
/// server. The transaction ensures that no instance joins meanwhile. Errors: no_node if there is no such job or server;
/// version_conflict if the server has an instance, which the error names, or if a sharding is pending because an
/// instance has just joined or left; invalid_argument for an invalid server name; those of `carry_out`.
template <registry Registry>
task<result<command_result>> order_server_removal(Registry& r, job_name job, std::string server, command_by by) {
    job_layout const at{job};
    ELASTICJOB_CO_CHECK(detail::check_server(server));
    auto const plan = [&r, at, server](transaction& t) -> task<result<detail::command_plan>> {
        co_return co_await detail::plan_server_removal(r, at, server, t);
    };
    detail::command_title title{"remove", "server " + server};
    co_return co_await detail::carry_out(r, std::move(job), std::move(by), std::move(title), plan);
}

/// Makes all instances of a server leave all their jobs: one command for each job, under the same key. The result has
/// the outcome for each job. Errors: as `find_server`.
template <registry Registry>
task<result<std::vector<command_in_job>>> order_server_out_everywhere(Registry& r, std::string server, command_by by) {
    ELASTICJOB_CO_TRY(auto const origin, detail::checked(std::move(by)));
    auto const command = [&](job_name job) { return order_server_out(r, std::move(job), server, origin); };
    co_return co_await detail::for_each_job_of(r, server, command);
}

/// Removes a server without instances from all jobs: one command for each job, under the same key. The result has the
/// outcome for each job. Errors: as `find_server`; so a call that repeats a complete removal fails with no_node.
template <registry Registry>
task<result<std::vector<command_in_job>>> order_server_removal_everywhere(Registry& r, std::string server,
                                                                          command_by by) {
    ELASTICJOB_CO_TRY(auto const origin, detail::checked(std::move(by)));
    auto const command = [&](job_name job) { return order_server_removal(r, std::move(job), server, origin); };
    auto all = co_await detail::for_each_job_of(r, server, command);
    if (!all && all.error() == errc::no_node)
        co_return error{errc::no_node, all.error().what + "; if this repeats its removal, the removal is complete",
                        all.error().where};
    co_return all;
}

// The functions above as blocking calls. Errors: as above, and timed_out: repeat the call with the same key;
// invalid_argument for an invalid job name. Threads: any but the loop's.

/// Makes one instance leave. Waits up to ten seconds for the order, but not for the instance. Errors: as
/// `order_instance_out`.
template <registry Registry>
result<command_result> shut_down_instance(Registry& r, std::string_view job, std::string_view instance, command_by by) {
    return detail::wait_for_job(
        r, job, [&](job_name name) { return order_instance_out(r, std::move(name), std::string{instance}, by); });
}

/// Makes all instances of a server leave one job. Waits as `shut_down_instance`. Errors: as `order_server_out`.
template <registry Registry>
result<command_result> shut_down_server(Registry& r, std::string_view job, std::string_view server, command_by by) {
    return detail::wait_for_job(
        r, job, [&](job_name name) { return order_server_out(r, std::move(name), std::string{server}, by); });
}

/// Makes all instances leave a job. Waits as `shut_down_instance`. Errors: as `order_job_out`.
template <registry Registry>
result<command_result> shut_down_job(Registry& r, std::string_view job, command_by by) {
    return detail::wait_for_job(r, job, [&](job_name name) { return order_job_out(r, std::move(name), by); });
}

/// Makes all instances of a server leave all their jobs. Waits up to `timeout`. Errors: as
/// `order_server_out_everywhere`.
template <registry Registry>
result<std::vector<command_in_job>>
shut_down_server_everywhere(Registry& r, std::string_view server, command_by by,
                            std::chrono::milliseconds timeout = std::chrono::seconds{60}) {
    return detail::wait_within(r.loop(), timeout, order_server_out_everywhere(r, std::string{server}, std::move(by)));
}

/// Removes a server without instances from one job. Waits up to ten seconds. Errors: as `order_server_removal`.
template <registry Registry>
result<command_result> remove_server(Registry& r, std::string_view job, std::string_view server, command_by by) {
    return detail::wait_for_job(
        r, job, [&](job_name name) { return order_server_removal(r, std::move(name), std::string{server}, by); });
}

/// Removes a server without instances from all jobs. Waits up to `timeout`. Errors: as
/// `order_server_removal_everywhere`.
template <registry Registry>
result<std::vector<command_in_job>>
remove_server_everywhere(Registry& r, std::string_view server, command_by by,
                         std::chrono::milliseconds timeout = std::chrono::seconds{60}) {
    return detail::wait_within(r.loop(), timeout,
                               order_server_removal_everywhere(r, std::string{server}, std::move(by)));
}

} // namespace elasticjob
#endif // ELASTICJOB_OPERATIONS_SHUT_DOWN_HPP
