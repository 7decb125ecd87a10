// SPDX-License-Identifier: Apache-2.0
/// \file \brief Disables and enables a job, a server, or an item; from any process.
#ifndef ELASTICJOB_OPERATIONS_SWITCHES_HPP
#define ELASTICJOB_OPERATIONS_SWITCHES_HPP

#include <elasticjob/core/wait_within.hpp>
#include <elasticjob/operations/command_in_job.hpp>
#include <elasticjob/operations/config_with_item.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// The new state.
enum class switched : std::uint8_t { off, on };

namespace detail {

/// The titles are `disable` and `enable`.
command_title title_of(switched to, std::string subject);

/// Writes those servers that are not yet in the new state.
command_plan put_servers(transaction& t, std::vector<node_path> const& paths,
                         std::vector<std::optional<node>> const& nodes, switched to);

} // namespace detail

/// Disables or enables one server of a job. A disabled server stays registered, gets no items and starts no runs
/// (SV-1). Errors: no_node if there is no such job, or the server has never been in it; invalid_argument for an invalid
/// server name; those of `carry_out`.
template <registry Registry>
task<result<command_result>> order_server_switch(Registry& r, job_name job, std::string server, switched to,
                                                 command_by by) {
    job_layout const at{job};
    ELASTICJOB_CO_CHECK(detail::check_server(server));
    auto const plan = [&r, at, server, to](transaction& t) -> task<result<detail::command_plan>> {
        std::vector<node_path> const path{at.server(server)};
        ELASTICJOB_CO_TRY(auto const nodes, co_await read_all(r, path));
        if (!nodes[0])
            co_return error{errc::no_node, "the job has no server of that name: list its servers", path[0].str()};
        co_return detail::put_servers(t, path, nodes, to);
    };
    auto title = detail::title_of(to, "server " + server);
    co_return co_await detail::carry_out(r, std::move(job), std::move(by), std::move(title), plan);
}

/// As above, for all servers of a job, in one transaction. A server that joins afterwards is enabled. Errors: no_node
/// if there is no such job, or it has never had a server; too_large if it has more servers than fit into one
/// transaction: remove servers without instances; those of `carry_out`.
template <registry Registry>
task<result<command_result>> order_job_switch(Registry& r, job_name job, switched to, command_by by) {
    job_layout const at{job};
    auto const plan = [&r, at, to](transaction& t) -> task<result<detail::command_plan>> {
        ELASTICJOB_CO_TRY(auto const names, co_await list_sorted(r, at.servers()));
        std::vector<node_path> paths;
        for (auto const& name : names) paths.push_back(at.server(name));
        if (paths.empty())
            co_return error{errc::no_node, "the job has no server yet: start an instance", at.servers().str()};
        ELASTICJOB_CO_TRY(auto const nodes, co_await read_paced(r, paths, paced_requests_max));
        co_return detail::put_servers(t, paths, nodes, to);
    };
    auto title = detail::title_of(to, {});
    co_return co_await detail::carry_out(r, std::move(job), std::move(by), std::move(title), plan);
}

/// Disables or enables one item. A disabled item does not run, and its due instants are recorded as skipped. A live run
/// continues. Errors: no_node if there is no such job or item; those of `carry_out`.
template <registry Registry>
task<result<command_result>> order_item_switch(Registry& r, job_name job, item_index item, switched to, command_by by) {
    job_layout const at{job};
    auto const plan = [&r, at, item, to](transaction& t) -> task<result<detail::command_plan>> {
        std::vector<node_path> const paths{at.config(), at.sharding(), at.item(item), at.item_disabled(item)};
        ELASTICJOB_CO_TRY(auto const nodes, co_await read_all(r, paths));
        if (!nodes[0]) co_return error{errc::no_node, "the job has just been removed", at.config().str()};
        ELASTICJOB_CO_TRY(auto const config, detail::config_with_item(at, *nodes[0], item));
        bool const is_off = nodes[3].has_value();
        if (is_off == (to == switched::off))
            co_return detail::command_plan{is_off ? "the item was disabled already" : "the item was enabled already",
                                           false};
        if (is_off) {
            t.remove(at.item_disabled(item), nodes[3]->stat.version);
            co_return detail::command_plan{"the item is enabled"};
        }
        if (!nodes[1]) t.create(at.sharding(), {});
        if (!nodes[2]) t.create(at.item(item), {});
        t.create(at.item_disabled(item), {});
        co_return detail::command_plan{"the item is disabled"};
    };
    auto title = detail::title_of(to, "item " + item_name(item));
    co_return co_await detail::carry_out(r, std::move(job), std::move(by), std::move(title), plan);
}

/// Disables or enables a server in all jobs that have a node for it: one command for each job, under the same key. If
/// some of them failed, repeat it with that key. The result has the outcome for each job. Errors: as `find_server`.
template <registry Registry>
task<result<std::vector<command_in_job>>> order_server_switch_everywhere(Registry& r, std::string server, switched to,
                                                                         command_by by) {
    ELASTICJOB_CO_TRY(auto const origin, detail::checked(std::move(by)));
    auto const command = [&](job_name job) { return order_server_switch(r, std::move(job), server, to, origin); };
    co_return co_await detail::for_each_job_of(r, server, command);
}

// The functions above as blocking calls. Errors: as above, and timed_out: repeat the call with the same key;
// invalid_argument for an invalid job name. Threads: any but the loop's.

/// All servers of a job. Waits up to ten seconds. Errors: as `order_job_switch`.
template <registry Registry>
result<command_result> switch_job(Registry& r, std::string_view job, switched to, command_by by) {
    return detail::wait_for_job(r, job, [&](job_name name) { return order_job_switch(r, std::move(name), to, by); });
}

/// One server of a job. Waits up to ten seconds. Errors: as `order_server_switch`.
template <registry Registry>
result<command_result> switch_server(Registry& r, std::string_view job, std::string_view server, switched to,
                                     command_by by) {
    return detail::wait_for_job(
        r, job, [&](job_name name) { return order_server_switch(r, std::move(name), std::string{server}, to, by); });
}

/// One item. Waits up to ten seconds. Errors: as `order_item_switch`.
template <registry Registry>
result<command_result> switch_item(Registry& r, std::string_view job, item_index item, switched to, command_by by) {
    return detail::wait_for_job(r, job,
                                [&](job_name name) { return order_item_switch(r, std::move(name), item, to, by); });
}

/// One server in all its jobs. Waits up to `timeout`. Errors: as `order_server_switch_everywhere`.
template <registry Registry>
result<std::vector<command_in_job>>
switch_server_everywhere(Registry& r, std::string_view server, switched to, command_by by,
                         std::chrono::milliseconds timeout = std::chrono::seconds{60}) {
    return detail::wait_within(r.loop(), timeout,
                               order_server_switch_everywhere(r, std::string{server}, to, std::move(by)));
}

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/operations/switches.ipp>
#endif
#endif // ELASTICJOB_OPERATIONS_SWITCHES_HPP
