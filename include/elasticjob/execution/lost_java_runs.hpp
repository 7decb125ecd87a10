// SPDX-License-Identifier: Apache-2.0
/// \file \brief Records the interrupted runs of dead Java members, which keep no records themselves.
#ifndef ELASTICJOB_EXECUTION_LOST_JAVA_RUNS_HPP
#define ELASTICJOB_EXECUTION_LOST_JAVA_RUNS_HPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/gather.hpp>
#include <elasticjob/core/identity.hpp>
#include <elasticjob/execution/look_order.hpp>
#include <elasticjob/execution/run_record.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/read_all.hpp>
#include <elasticjob/registry/transaction.hpp>
#include <elasticjob/sharding/item_nodes.hpp>
#include <elasticjob/sharding/job_view.hpp>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace elasticjob::detail {

/// An item that a Java member may have been running when it died.
struct deserted_item {
    item_index item{};
    instance_id owner{}; ///< the Java member
    revision given{};    ///< when the owner was named
    revision changed{};  ///< when a node below the item was last created or removed
    bool is_moved{};     ///< the item belongs to another instance by now
};

/// The items that were running when their owners died. The end of a session removes the instance's node and the marks
/// of its runs in one revision; a run that ends, and an instance that leaves in order, write one node at a time.
/// `departed` is the revision of the last arrival or departure of an instance. If others have come or gone since, a
/// revision that two items of one owner share also shows a death; a single item, or one that has moved, is not
/// recognized then.
std::vector<deserted_item> interrupted_among(std::vector<deserted_item> const& deserted, revision departed);

/// The record of an item, `there` if it has one, with a run of the dead owner added. The due instant is unknown, so the
/// time when the death was noticed replaces it, or a later one if that has been handled already. Nothing if the record
/// already contains a live run, or cannot be read. A run that was recorded with a flag is not live if `has_flag` is
/// false: a Java member has taken the flag since, and died. `is_flagged`: from now on a flag lets Java members make up
/// for the run.
std::optional<std::string> record_of_lost_run(std::optional<node> const& there, instance_id const& owner,
                                              wall_time noticed, bool has_flag, bool is_flagged);

/// Writes that belong in one transaction: those for an item, or one parent.
using item_writes = std::vector<operation>;

/// The writes that let other members repeat the runs of dead Java members: run records for our members and, if there
/// are Java members left, flags for those. Commit them with the new owners, or before them. The parents of all these
/// nodes come first. Leaves out runs that a Java member has taken up, and items whose records contain a live run.
/// Precondition: `ext` exists, or earlier writes create it. Errors: those of the registry.
template <registry Registry>
task<result<std::vector<item_writes>>> make_up_for_lost_runs(Registry& r, job_layout at,
                                                             std::vector<deserted_item> deserted, bool has_java_members,
                                                             wall_time noticed) {
    std::vector<item_writes> all;
    auto const read_item = [&](deserted_item const& d) { return r.exists(at.item(d.item)); };
    auto const read_owner = [&](deserted_item const& d) { return r.exists(at.item_instance(d.item)); };
    ELASTICJOB_CO_TRY(auto const departures, co_await r.exists(at.instances()));
    auto const items = co_await gather_each(r.loop(), deserted, read_item);
    auto const owners = co_await gather_each(r.loop(), deserted, read_owner);
    std::vector<deserted_item> known;
    for (std::size_t n = 0; n < deserted.size(); ++n) {
        if (!items[n]) co_return items[n].error();
        if (!owners[n]) co_return owners[n].error();
        if (!*items[n] || !*owners[n]) continue;
        deserted[n].changed = (*items[n])->children_changed;
        deserted[n].given = (*owners[n])->modified;
        known.push_back(std::move(deserted[n]));
    }
    auto const lost = interrupted_among(known, departures ? departures->children_changed : 0);
    if (lost.empty()) co_return all;
    std::vector<node_path> paths{at.run_records(), at.failover_items().parent(), at.failover_items(), at.orders()};
    auto const parents = paths.size();
    for (auto const& d : lost)
        for (auto const& path : {at.run_record(d.item), at.item_failover(d.item), at.failover_item(d.item),
                                 at.item_disabled(d.item), at.look_order(d.item)})
            paths.push_back(path);
    ELASTICJOB_CO_TRY(auto const found, co_await read_all(r, paths));
    bool const has_moved = std::any_of(lost.begin(), lost.end(), [](auto const& d) { return d.is_moved; });
    bool const is_needed[]{true, has_java_members, has_java_members, has_moved};
    for (std::size_t n = 0; n < parents; ++n)
        if (!found[n] && is_needed[n]) all.push_back({{operation::kind::create, paths[n]}});
    for (std::size_t n = 0; n < lost.size(); ++n) {
        auto const* const of_item = &found[parents + 5 * n];
        auto const& there = of_item[0];
        bool const is_taken = of_item[1].has_value();
        bool const was_flagged = of_item[2].has_value();
        bool const is_disabled = of_item[3].has_value(); // a Java member would run it nevertheless
        bool const is_to_be_flagged = has_java_members && !was_flagged && !is_disabled;
        bool const is_our_end = there && there->stat.modified == lost[n].changed; // that removed the mark
        auto text = record_of_lost_run(there, lost[n].owner, noticed, was_flagged, was_flagged || is_to_be_flagged);
        if (is_taken || is_our_end || !text) continue;
        transaction steps{r.session().generation};
        auto const path = at.run_record(lost[n].item);
        if (there)
            steps.set(path, *std::move(text), there->stat.version);
        else
            steps.create(path, *std::move(text));
        if (is_to_be_flagged) steps.create(at.failover_item(lost[n].item), {});
        if (lost[n].is_moved) put_look_order(steps, at, lost[n].item, of_item[4]);
        all.push_back(steps.operations());
    }
    co_return all;
}

/// The same for all Java members that are gone by the view but still own items. Looks at the items of others, too,
/// because a Java member goes on running an item that is moved meanwhile.
template <registry Registry>
task<result<std::vector<item_writes>>> make_up_for_dead_java(Registry& r, job_view<Registry> const& view, job_layout at,
                                                             wall_time noticed) {
    auto const is_dead_java = [&](instance_id const& id) { return id.is_java() && !view.has_instance(id.str()); };
    std::optional<instance_id> dead; // one of them
    std::optional<item_nodes> owners;
    if (auto const* a = view.assignment_in_force()) {
        owners.emplace(*a);
        auto const& all = a->instances();
        auto const first = std::find_if(all.begin(), all.end(), is_dead_java);
        if (first == all.end()) co_return std::vector<item_writes>{};
        dead = *first;
    } else if (view.first_item()) {
        ELASTICJOB_CO_TRY(owners, co_await read_item_nodes(r, at));
    } else {
        co_return std::vector<item_writes>{};
    }
    std::vector<deserted_item> deserted;
    std::vector<item_index> others;
    for (item_index i = 0; i < owners->end(); ++i) {
        auto const id = instance_id::parse(owners->has_owner_node(i) ? owners->owner(i) : std::string{});
        if (id && is_dead_java(*id))
            dead = deserted.emplace_back(deserted_item{.item = i, .owner = *id}).owner;
        else
            others.push_back(i);
    }
    if (!dead) co_return std::vector<item_writes>{};
    for (auto const i : others) deserted.push_back({.item = i, .owner = *dead, .is_moved = true});
    co_return co_await make_up_for_lost_runs(r, at, std::move(deserted), view.has_java_members(), noticed);
}

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/lost_java_runs.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_LOST_JAVA_RUNS_HPP
