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
#include <elasticjob/sharding/assignment.hpp>
#include <elasticjob/sharding/in_force.hpp>

#include <algorithm>
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

/// The contents of the nodes about an item.
struct item_facts {
    job_config config;
    bool is_disabled, is_marked, sharding_is_due, has_leader;
    std::string owner;
    std::vector<std::string> instances;
    std::optional<run_record> record;
    bool is_left = false;                   ///< by a strategy that found no instance for it
    std::string needs{};                    ///< labels
    std::optional<job_schedule> followed{}; ///< the job whose rounds it follows
    std::optional<run_progress> progress{}; ///< of the run that is running according to the record
    std::optional<job_pause> pause{};       ///< the pause because of which its owner begins no run

    bool is_alive(std::string const& id) const;

    /// Whether a member of 2.1.5, which keeps no records, may have run the item: one that exists or owns the item.
    bool has_java_members() const;
};

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

/// Says which runs are missing in the explanation, because members of 2.1.5 keep no records; empty if there are none.
std::string unrecorded_text(item_facts const& f);

} // namespace detail

/// Explains an item and, if given, one instant. Takes a fixed number of requests. Errors: no_node if there is no such
/// job; invalid_argument if it has no such item; malformed_data; those of the registry.
template <registry Registry>
task<result<explanation>> explain_item(Registry& r, job_name job, item_index item, std::optional<wall_time> instant) {
    job_layout const at{job};
    std::vector<node_path> paths{at.config(),         at.item_disabled(item),  at.item_running(item),
                                 at.run_record(item), at.item_instance(item),  at.assignment(),
                                 at.item_instance(0), at.sharding_necessary(), at.leader_instance(),
                                 at.item_labels(),    at.schedule(),           at.pauses()};
    ELASTICJOB_CO_TRY(auto const nodes, co_await read_all(r, std::move(paths)));
    if (!nodes[0]) co_return error{errc::no_node, "there is no job of that name", at.root().str()};
    ELASTICJOB_CO_TRY(auto config, from_json(nodes[0]->data));
    if (!config)
        co_return error{errc::no_node, "the job has been removed: its configuration is empty", at.config().str()};
    if (item >= static_cast<std::uint32_t>(config->sharding_total_count))
        co_return error{errc::invalid_argument,
                        "the job has the items 0 to " + std::to_string(config->sharding_total_count - 1),
                        at.item(item).str()};
    detail::item_facts facts{*std::move(config),
                             nodes[1].has_value(),
                             nodes[2].has_value(),
                             nodes[7].has_value(),
                             nodes[8].has_value(),
                             {},
                             {},
                             {},
                             false,
                             {},
                             {}};
    if (nodes[10]) {
        ELASTICJOB_CO_TRY(auto const whole, with_schedule_text(facts.config, nodes[10]->data));
        if (auto const* followed = find_followed(whole.schedules)) facts.followed = *followed;
    }
    if (nodes[4]) facts.owner = nodes[4]->data;
    if (is_in_force(nodes[5], nodes[6])) {
        auto const a = assignment::parse(nodes[5]->data);
        if (a && item < a->items()) facts.owner = a->owner_id(item).str();
        facts.is_left = a && item < a->items() && a->owner(item) == no_slot;
    }
    if (facts.is_left && nodes[9]) {
        auto const labels = parse_item_labels(nodes[9]->data);
        if (labels)
            for (auto const& need : labels->needs_of(item + 1))
                if (need.begin <= item && item < need.end) facts.needs = need.labels;
    }
    auto instances = co_await r.children(at.instances());
    if (instances) facts.instances = *std::move(instances);
    if (!instances && !(instances.error() == errc::no_node)) co_return std::move(instances).error();
    if (nodes[3]) {
        ELASTICJOB_CO_TRY(facts.record, run_record::parse(nodes[3]->data));
        facts.progress = run_record::parse_progress(nodes[3]->data);
    }
    if (nodes[11]) {
        auto const pauses = job_pauses::parse(nodes[11]->data);
        auto const owner = instance_id::parse(facts.owner);
        auto const* pause = pauses && owner ? pauses->in_force(owner->server()) : nullptr;
        if (pause) facts.pause = *pause;
    }
    explanation e;
    e.owner = facts.owner;
    e.is_disabled = facts.is_disabled;
    e.text = detail::state_text(facts) + detail::pause_text(facts);
    if (auto const more = detail::unrecorded_text(facts); !more.empty()) e.text += "\n" + more;
    if (instant) e.text += "\n" + detail::instant_text(facts, *instant);
    if (facts.record) {
        for (auto entry = facts.record->ledger.rbegin(); entry != facts.record->ledger.rend(); ++entry)
            e.text += "\n- " + detail::outcome_text(*entry);
        e.record = *std::move(facts.record);
        e.progress = facts.progress;
    }
    co_return e;
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
