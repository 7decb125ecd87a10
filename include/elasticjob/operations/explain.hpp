// SPDX-License-Identifier: Apache-2.0
/// \file \brief Explains in words why an item ran, did not run, or waits; from any process.
#ifndef ELASTICJOB_OPERATIONS_EXPLAIN_HPP
#define ELASTICJOB_OPERATIONS_EXPLAIN_HPP

#include <elasticjob/config/item_labels.hpp>
#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/config/schedule_text.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/execution/job_pauses.hpp>
#include <elasticjob/execution/run_record.hpp>
#include <elasticjob/operations/wait_for_job.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/read_all.hpp>
#include <elasticjob/sharding/in_force.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// The state of an item in the registry. The nodes are read one by one, so its parts may be of different moments.
struct explanation {
    std::string text;  ///< sentences for people, one on each line
    std::string owner; ///< the instance that owns the item; empty: none
    bool is_disabled = false;
    run_record record{}; ///< empty if there is no record
    std::optional<run_progress>
        progress{}; ///< of the live run, or of the run whose instance has died, if it has reported any
};

namespace detail {

/// Such as `2026-01-01 00:00:05.250 UTC`.
std::string utc_text(wall_time t);

std::string outcome_text(run_entry const& e);

/// The nodes about an item, as they were read.
struct explained_nodes {
    std::optional<node> config, disabled, running, record, owner, assignment, first_owner, sharding_necessary, leader,
        labels, schedule, pauses, server; ///< the last one is that of the owner
    std::vector<std::string> instances{}; ///< the names below `instances`
};

/// The name of the instance that owns the item; empty: none.
std::string explained_owner(explained_nodes const& read, item_index item);

/// Errors: those of the registry.
template <registry Registry>
task<result<explained_nodes>> read_explained_nodes(Registry& r, job_layout at, item_index item) {
    explained_nodes read{};
    std::pair<node_path, std::optional<node>*> const wanted[]{
        {at.config(), &read.config},
        {at.item_disabled(item), &read.disabled},
        {at.item_running(item), &read.running},
        {at.run_record(item), &read.record},
        {at.item_instance(item), &read.owner},
        {at.assignment(), &read.assignment},
        {at.item_instance(0), &read.first_owner},
        {at.sharding_necessary(), &read.sharding_necessary},
        {at.leader_instance(), &read.leader},
        {at.item_labels(), &read.labels},
        {at.schedule(), &read.schedule},
        {at.pauses(), &read.pauses},
    };
    std::vector<node_path> paths;
    for (auto const& [path, into] : wanted) paths.push_back(path);
    ELASTICJOB_CO_TRY(auto nodes, co_await read_all(r, std::move(paths)));
    for (std::size_t i = 0; i < nodes.size(); ++i) *wanted[i].second = std::move(nodes[i]);
    auto names = co_await r.children(at.instances());
    if (names) read.instances = *std::move(names);
    if (!names && !(names.error() == errc::no_node)) co_return std::move(names).error();
    if (auto const owner = instance_id::parse(explained_owner(read, item))) {
        std::vector<node_path> server{at.server(owner->server())};
        ELASTICJOB_CO_TRY(auto found, co_await read_all(r, std::move(server)));
        read.server = std::move(found[0]);
    }
    co_return read;
}

/// The facts about an item that the nodes contain.
struct item_facts {
    job_config config{};
    bool is_disabled = false, is_marked = false, sharding_is_due = false, has_leader = false;
    std::string owner{};
    std::vector<std::string> instances{};
    std::optional<run_record> record{};
    bool is_left = false;                   ///< by a strategy that found no instance for it
    std::string needs{};                    ///< labels
    std::optional<job_schedule> followed{}; ///< the job whose rounds it follows
    std::optional<run_progress> progress{}; ///< of the run that is running according to the record
    std::optional<job_pause> pause{};       ///< the pause because of which its owner begins no run
    std::string disabled_server{};          ///< that of its owner, because of which it begins no run

    bool is_alive(std::string const& id) const;

    /// Whether a member of 2.1.5, which keeps no records, may have run the item: one that exists or owns the item.
    bool has_java_members() const;
};

/// Errors: no_node if there is no such job or item; malformed_data.
result<item_facts> facts_from(job_layout const& at, item_index item, explained_nodes read);

/// The owner, and whether a strategy has left the item without one, with the labels that the item needs.
void take_owner(item_facts& facts, item_index item, explained_nodes const& read);

constexpr std::string_view followed_end_text(round_end e) noexcept {
    switch (e) {
    case round_end::completed:
        return "is over and was completed";
    case round_end::failed:
        return "is over and failed";
    case round_end::ended:
        return "is over";
    }
    return "is over";
}

/// Such as ` It had done 40 of 100 by 2026-01-01 00:00:05 UTC.`
std::string progress_text(run_progress const& p);

std::string state_text(item_facts const& f);

std::string instant_text(item_facts const& f, wall_time instant);

/// Such as ` The job has been paused since 2026-01-01 00:00:05 UTC: no run begins before an operator resumes it.` Empty
/// without a pause.
std::string pause_text(item_facts const& f);

/// The same for a disabled server.
std::string server_text(item_facts const& f);

/// Says which runs are missing in the explanation, because members of 2.1.5 keep no records; empty if there are none.
std::string unrecorded_text(item_facts const& f);

explanation explain_facts(item_facts facts, std::optional<wall_time> instant);

} // namespace detail

/// Explains an item and, if given, one instant. Takes 13 requests, and one more if the item has an owner. Errors:
/// no_node if there is no such job or item; malformed_data; those of the registry.
template <registry Registry>
task<result<explanation>> explain_item(Registry& r, job_name job, item_index item, std::optional<wall_time> instant) {
    job_layout const at{job};
    ELASTICJOB_CO_TRY(auto read, co_await detail::read_explained_nodes(r, at, item));
    ELASTICJOB_CO_TRY(auto facts, detail::facts_from(at, item, std::move(read)));
    co_return detail::explain_facts(std::move(facts), instant);
}

/// As a blocking call: `explain(registry, "settle", 2).value().text`. Waits up to ten seconds. Errors: as above, and
/// timed_out; invalid_argument for an invalid job name. Threads: any but the loop's.
template <registry Registry>
result<explanation> explain(Registry& r, std::string_view job, item_index item,
                            std::optional<wall_time> instant = std::nullopt) {
    return detail::wait_for_job(r, job, [&](job_name name) { return explain_item(r, std::move(name), item, instant); });
}

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/operations/explain.ipp>
#endif
#endif // ELASTICJOB_OPERATIONS_EXPLAIN_HPP
