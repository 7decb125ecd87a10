// SPDX-License-Identifier: Apache-2.0
/// \file \brief Computes what would move if an instance joined or left, or if the count, the labels or the strategy
/// changed. Works from any process and changes nothing.
#ifndef ELASTICJOB_OPERATIONS_PLAN_HPP
#define ELASTICJOB_OPERATIONS_PLAN_HPP

#include <elasticjob/allocation/owner_table.hpp>
#include <elasticjob/allocation/plan.hpp>
#include <elasticjob/allocation/strategies.hpp>
#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/guarded_call.hpp>
#include <elasticjob/operations/no_such_job.hpp>
#include <elasticjob/operations/wait_for_job.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/read_all.hpp>
#include <elasticjob/sharding/assignment.hpp>
#include <elasticjob/sharding/in_force.hpp>
#include <elasticjob/sharding/item_nodes.hpp>
#include <elasticjob/sharding/job_traits.hpp>
#include <elasticjob/sharding/strategy_name.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// The assumed changes. Without changes the plan shows the strategy's result for the present job.
struct job_change {
    struct joiner {
        std::string instance; ///< an instance id, or only an IP address
        std::uint32_t weight = 1;
        std::string labels{};
    };
    std::vector<joiner> joining{};
    std::vector<std::string> leaving{}; ///< ids of instances
    std::optional<std::uint32_t> item_count{};
    std::optional<std::string> item_labels{}; ///< as job_config::item_labels
};

struct job_plan : allocation_plan {
    std::string strategy_now;      ///< the strategy in the job's configuration
    bool changes_strategy = false; ///< whether the plan uses another strategy
};

/// A summary line, a line for each move and a line for each share.
std::string to_text(job_plan const& p);

namespace detail {

/// The present owners: those in the assignment, or those in the items' nodes if a Java member has sharded.
struct owners_of_now {
    std::vector<instance_id> instances;
    std::vector<run> runs;
};

owners_of_now owners_from(item_nodes const& nodes);

/// The id of the instance. An address alone has no token, so this function adds one.
result<instance_id> id_of(job_change::joiner const& fresh);

/// The instances after the change: those of `there` whose server is enabled, without those that leave, and those that
/// join.
result<std::vector<instance_id>> imagined(std::vector<instance_id> there, job_change const& change);

} // namespace detail

/// Reads the same nodes as a leader and calls the strategy. Sends requests for the job, for each instance, and, if a
/// Java member has sharded the job, for each item. The strategy is a type. If it is not the job's strategy, the plan
/// shows the effect of changing to it. A leader shards only after a change, so a plan without changes may show moves
/// that do not happen by themselves. Errors: no_node if there is no such job; invalid_argument for instances that
/// cannot leave or join, and for 0 items; invalid_config for labels that cannot be read; job_threw if the strategy
/// throws; malformed_data; those of the registry.
template <sharding_strategy Strategy, registry Registry>
task<result<job_plan>> plan_job(Registry& r, job_name job, job_change change) {
    job_layout const at{job};
    std::vector<node_path> paths{at.config(), at.assignment(), at.item_instance(0), at.item_labels()};
    ELASTICJOB_CO_TRY(auto const nodes, co_await read_all(r, std::move(paths)));
    if (!nodes[0]) co_return detail::no_such_job(at.root());
    ELASTICJOB_CO_TRY(auto const config, from_json(nodes[0]->data));
    if (!config)
        co_return error{errc::no_node, "the job has been removed: its configuration is empty", at.config().str()};
    auto const count = change.item_count.value_or(static_cast<std::uint32_t>(config->sharding_total_count));
    if (count == 0) co_return error{errc::invalid_argument, "a job has at least one item", "item_count"};

    auto const names = co_await r.children(at.instances());
    if (!names && !(names.error() == errc::no_node)) co_return names.error();
    std::vector<instance_id> there;
    std::vector<node_path> asked;
    if (names)
        for (auto const& name : *names)
            if (auto id = instance_id::parse(name)) {
                asked.push_back(at.server(id->server()));
                asked.push_back(at.traits_of(*id));
                there.push_back(*std::move(id));
            }
    ELASTICJOB_CO_TRY(auto const told, co_await read_all(r, std::move(asked)));
    std::vector<std::pair<instance_id, std::optional<node>>> traits_nodes;
    std::vector<instance_id> available;
    for (std::size_t i = 0; i < there.size(); ++i) {
        if (told[2 * i] && told[2 * i]->data == server_disabled) continue;
        traits_nodes.emplace_back(there[i], told[2 * i + 1]);
        available.push_back(there[i]);
    }
    ELASTICJOB_CO_TRY(auto const instances, detail::imagined(std::move(available), change));

    job_traits traits;
    if constexpr (detail::strategy_uses_traits<Strategy>) {
        std::optional<node> needs = nodes[3];
        if (change.item_labels) needs = node{*change.item_labels, {}};
        ELASTICJOB_CO_CHECK(traits.read_needs(at.item_labels(), needs ? &*needs : nullptr, count));
        for (auto const& fresh : change.joining) {
            stored_traits const says{fresh.weight, fresh.labels};
            traits_nodes.emplace_back(detail::id_of(fresh).value(), node{says.to_text(), {}});
        }
        for (auto const& id : instances) {
            auto const known = std::find_if(traits_nodes.begin(), traits_nodes.end(),
                                            [&](auto const& one) { return one.first == id; });
            auto const& stored = known->second; // there is one for each instance, possibly empty
            traits.add_instance(at.traits_of(id), stored ? &*stored : nullptr);
        }
    }

    detail::owners_of_now now;
    ELASTICJOB_CO_TRY(auto const in_force, assignment_in_force(nodes[1], nodes[2]));
    if (in_force) {
        now = {in_force->instances(), in_force->runs_among(in_force->instances())};
    } else {
        ELASTICJOB_CO_TRY(auto const items, co_await read_item_nodes(r, at));
        now = detail::owners_from(items);
    }

    job_plan plan;
    plan.strategy_now = detail::strategy_name_of(*config);
    plan.changes_strategy = !detail::strategy_has_name<Strategy>(plan.strategy_now);
    auto const done = detail::guarded_call([&] {
        auto const told_traits = traits.traits();
        auto const told_needs = traits.needs();
        sharding_request const next{job.str(), instances, count, {}, {}, told_traits, told_needs, plan.strategy_now};
        auto const slots = static_cast<std::uint32_t>(now.instances.size());
        static_cast<allocation_plan&>(plan) =
            plan_moves(now.instances, run_list_view{slots, now.runs}, next, Strategy{});
    });
    if (!done) co_return done.error();
    co_return plan;
}

/// As a blocking call: `plan<StickyAllocation>(registry, "settle", {.leaving = {id}})`. Waits up to ten seconds.
/// Errors: as above, and timed_out; invalid_argument for an invalid job name. Threads: any but the loop's.
template <sharding_strategy Strategy, registry Registry>
result<job_plan> plan(Registry& r, std::string_view job, job_change change = {}) {
    return detail::wait_for_job(
        r, job, [&](job_name name) { return plan_job<Strategy>(r, std::move(name), std::move(change)); });
}

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/operations/plan.ipp>
#endif
#endif // ELASTICJOB_OPERATIONS_PLAN_HPP
