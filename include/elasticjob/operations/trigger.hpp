// SPDX-License-Identifier: Apache-2.0
/// \file \brief Makes a job, the items of a server, or one item run now; from any process.
#ifndef ELASTICJOB_OPERATIONS_TRIGGER_HPP
#define ELASTICJOB_OPERATIONS_TRIGGER_HPP

#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/execution/job_pauses.hpp>
#include <elasticjob/execution/look_order.hpp>
#include <elasticjob/execution/run_record.hpp>
#include <elasticjob/operations/command.hpp>
#include <elasticjob/operations/config_with_item.hpp>
#include <elasticjob/operations/server_overview.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

namespace detail {

/// Those instances of a job, or of one of its servers, that can run items. Errors: no_node if there is none, because no
/// instance is registered or their servers are disabled; version_conflict if all others are paused; malformed_data for
/// pauses that cannot be read; those of the registry.
template <registry Registry>
task<result<std::vector<std::string>>> find_able_instances(Registry& r, job_layout at,
                                                           std::optional<std::string> server) {
    ELASTICJOB_CO_TRY(auto const names, co_await list_sorted(r, at.instances()));
    auto const ids = server ? instances_on(*server, names) : names;
    if (ids.empty())
        co_return error{errc::no_node, "there is no instance that could run it: start one, then repeat the command",
                        at.instances().str()};
    std::vector<node_path> servers;
    for (auto const& id : ids) servers.push_back(server_of(at, id));
    servers.push_back(at.pauses());
    ELASTICJOB_CO_TRY(auto const nodes, co_await read_paced(r, std::move(servers), paced_requests_max));
    auto const pauses = job_pauses::parse(nodes.back() ? nodes.back()->data : std::string{});
    if (!pauses) co_return error{pauses.error().code, pauses.error().what, at.pauses().str()};
    std::vector<std::string> able;
    bool are_some_paused = false;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (nodes[i] && nodes[i]->data == server_disabled) continue;
        auto const id = instance_id::parse(ids[i]);
        bool const is_paused = id && pauses->in_force(id->server());
        if (!is_paused) able.push_back(ids[i]);
        are_some_paused = are_some_paused || is_paused;
    }
    if (able.empty() && are_some_paused)
        co_return error{errc::version_conflict,
                        "an operator has paused every server that could run it: resume, then repeat the command",
                        at.pauses().str()};
    if (able.empty())
        co_return error{errc::no_node,
                        "an operator has disabled every server that could run it: enable one, then repeat "
                        "the command",
                        at.servers().str()};
    co_return able;
}

/// Checks that the job has that item, and that the item's owner keeps and reads its record. Errors: no_node if the job
/// has no configuration; invalid_argument, malformed_data.
result<void> check_keeps_record(job_layout const& at, std::optional<node> const& config, item_index item);

/// The Java member that owns the item, if one does: it reads no records. Pass the assignment, the owner's node of item
/// 0, and the one of the item. Errors: malformed_data.
result<std::optional<instance_id>> java_owner(std::optional<node> const& assigned,
                                              std::optional<node> const& first_item, std::optional<node> const& named,
                                              item_index item);

/// The new record of an item that is to run once, now. Errors: version_conflict if the item runs already, or waits for
/// another attempt; malformed_data.
result<run_record> record_with_trigger(job_layout const& at, item_index item, node const* there, revision obeyed,
                                       wall_time now);

} // namespace detail

/// Makes every item of a job run once: one write of `ext/orders`, which each item obeys once, even if its owner changes
/// (TR-3); and a TRIGGER for each Java member. An item that is running runs once more afterwards. Errors: no_node if
/// there is no such job, or no instance that could run it; version_conflict if all of them are paused; those of
/// `carry_out`.
template <registry Registry>
task<result<command_result>> order_job_run(Registry& r, job_name job, command_by by) {
    job_layout const at{job};
    auto const plan = [&r, at](transaction& t) -> task<result<detail::command_plan>> {
        ELASTICJOB_CO_TRY(auto const able, co_await detail::find_able_instances(r, at, std::nullopt));
        ELASTICJOB_CO_TRY(auto const orders, co_await r.exists(at.orders()));
        if (!orders) t.create(at.orders(), {});
        t.set(at.orders(), {});
        for (auto const& name : able)
            if (auto const id = instance_id::parse(name); id && id->is_java())
                t.set(at.instances() / name, std::string{trigger_order});
        co_return detail::command_plan{"every item runs once"};
    };
    detail::command_title const title{"trigger"};
    co_return co_await detail::carry_out(r, std::move(job), std::move(by), title, plan);
}

/// Makes the items of one server of a job run once, by a TRIGGER in the node of each of its instances (TR-1). If an
/// item's owner changes at this moment, the item may miss the order, or run twice; to be sure, trigger the items or the
/// job. Errors: no_node if there is no such job, or no instance of it on that server; version_conflict if the server is
/// paused; invalid_argument for an invalid server name; those of `carry_out`.
template <registry Registry>
task<result<command_result>> order_server_run(Registry& r, job_name job, std::string server, command_by by) {
    job_layout const at{job};
    ELASTICJOB_CO_CHECK(detail::check_server(server));
    auto const plan = [&r, at, server](transaction& t) -> task<result<detail::command_plan>> {
        ELASTICJOB_CO_TRY(auto const able, co_await detail::find_able_instances(r, at, server));
        for (auto const& name : able) t.set(at.instances() / name, std::string{trigger_order}); // TR-2: never created
        co_return detail::command_plan{"the items of " + std::to_string(able.size()) +
                                       (able.size() == 1 ? " instance run once" : " instances run once")};
    };
    detail::command_title const title{"trigger", "server " + server};
    co_return co_await detail::carry_out(r, std::move(job), std::move(by), title, plan);
}

/// Makes one item run once: writes the run into the item's record, and its owner, or its next owner, begins the run at
/// once (TR-5). Errors: invalid_argument if the job keeps no records because it is not monitored; no_node if there is
/// no such job or item, no instance that could run it, or a Java member owns the item, which reads no records;
/// version_conflict if the item is disabled, runs already, or waits for another attempt; malformed_data; those of
/// `carry_out`.
template <registry Registry>
task<result<command_result>> order_item_run(Registry& r, job_name job, item_index item, command_by by) {
    job_layout const at{job};
    auto const plan = [&r, at, item](transaction& t) -> task<result<detail::command_plan>> {
        std::vector<node_path> const paths{at.config(),     at.run_record(item), at.look_order(item),
                                           at.orders(),     at.run_records(),    at.item_disabled(item),
                                           at.assignment(), at.item_instance(0), at.item_instance(item)};
        ELASTICJOB_CO_TRY(auto const nodes, co_await read_all(r, paths));
        ELASTICJOB_CO_CHECK(detail::check_keeps_record(at, nodes[0], item));
        if (nodes[5])
            co_return error{errc::version_conflict, "the item is disabled: enable it, then repeat the command",
                            at.item_disabled(item).str()};
        ELASTICJOB_CO_TRY(auto const able, co_await detail::find_able_instances(r, at, std::nullopt));
        ELASTICJOB_CO_TRY(auto const java, detail::java_owner(nodes[6], nodes[7], nodes[8], item));
        if (java)
            co_return error{errc::no_node,
                            "the item belongs to a Java member, which runs all its items or none: trigger its server",
                            at.instance(*java).str()};
        auto const* there = nodes[1] ? &*nodes[1] : nullptr;
        auto const obeyed = nodes[3] ? nodes[3]->stat.modified : 0;
        ELASTICJOB_CO_TRY(auto const record, detail::record_with_trigger(at, item, there, obeyed, r.loop().wall_now()));
        if (!nodes[4]) t.create(at.run_records(), {});
        if (there)
            t.set(at.run_record(item), record.to_text(), there->stat.version);
        else
            t.create(at.run_record(item), record.to_text());
        if (!nodes[3]) t.create(at.orders(), {});
        detail::put_look_order(t, at, item, nodes[2]);
        co_return detail::command_plan{"the item runs once"};
    };
    detail::command_title const title{"trigger", "item " + item_name(item)};
    co_return co_await detail::carry_out(r, std::move(job), std::move(by), title, plan);
}

// The functions above as blocking calls. Each waits up to ten seconds. Errors: as above, and timed_out: repeat the call
// with the same key; invalid_argument for an invalid job name. Threads: any but the loop's.

/// Makes every item of the job run once. Errors: as `order_job_run`.
template <registry Registry>
result<command_result> trigger_job(Registry& r, std::string_view job, command_by by) {
    return detail::wait_for_job(r, job, [&](job_name name) { return order_job_run(r, std::move(name), by); });
}

/// Makes the items of one server run once. Errors: as `order_server_run`.
template <registry Registry>
result<command_result> trigger_server(Registry& r, std::string_view job, std::string_view server, command_by by) {
    return detail::wait_for_job(
        r, job, [&](job_name name) { return order_server_run(r, std::move(name), std::string{server}, by); });
}

/// Makes one item run once. Errors: as `order_item_run`.
template <registry Registry>
result<command_result> trigger_item(Registry& r, std::string_view job, item_index item, command_by by) {
    return detail::wait_for_job(r, job, [&](job_name name) { return order_item_run(r, std::move(name), item, by); });
}

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/operations/trigger.ipp>
#endif
#endif // ELASTICJOB_OPERATIONS_TRIGGER_HPP
