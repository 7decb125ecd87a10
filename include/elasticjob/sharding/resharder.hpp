// SPDX-License-Identifier: Apache-2.0
/// \file \brief Replaces a job's whole assignment when its basis has changed; only the leader does this.
#ifndef ELASTICJOB_SHARDING_RESHARDER_HPP
#define ELASTICJOB_SHARDING_RESHARDER_HPP

#include <elasticjob/core/guarded_call.hpp>
#include <elasticjob/registry/catch_up.hpp>
#include <elasticjob/registry/read_all.hpp>
#include <elasticjob/sharding/item_doubts.hpp>
#include <elasticjob/sharding/item_nodes.hpp>
#include <elasticjob/sharding/job_view.hpp>
#include <elasticjob/sharding/sharding_plan.hpp>
#include <elasticjob/sharding/strategy_ref.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// Shards when an event requires it, not at a firing (D-12). Does not wait for runs: an item that still runs at its old
/// owner is protected by its `running` node. `plan_sharding` decides which nodes to write. The registry refuses a
/// transaction if the basis has changed meanwhile; the watches then report the change, and the leader decides again.
/// Threads: the loop's.
template <registry Registry>
class resharder {
public:
    resharder(Registry& r, job_layout at, detail::strategy_ref s) : registry_{r}, at_{std::move(at)}, strategy_{s} {}

    /// Whether the assignment in force has another basis than this, or disagrees with the items' nodes.
    bool is_outdated(job_view<Registry> const& view, sharding_basis const& basis) const {
        auto const* in_force = view.assignment_in_force();
        bool const is_damaged = doubts_.is_damaged() && !basis.instances.empty();
        return is_damaged || elasticjob::is_outdated(in_force, basis, name_of(basis));
    }

    /// Removes the requests for a sharding if the assignment in force needs no change. Precondition: an assignment is
    /// in force. Errors: as of `shard`.
    task<result<void>> grant(job_view<Registry> const& view, session_generation g) {
        co_return co_await commit(
            grant_of_requests(at_, g, view.assignment_node()->stat.version, view.sharding_requests()));
    }

    /// Replaces the assignment. Takes at most one read and one transaction, for any number of items, unless the items
    /// or the additional writes do not fit into one transaction. After a lost reply, a write that changes nothing goes
    /// first. Errors: version_conflict and similar ones if the basis has changed; job_threw and job_failed, see `ask`;
    /// those of the registry. After unknown_outcome either the new or the old assignment is in force, and the view will
    /// show which.
    task<result<sharding_report>> shard(job_view<Registry> const& view, sharding_basis basis);

    /// The first sharding of a job that has no node yet below `sharding` and `ext`. Errors: job_threw and job_failed,
    /// see `ask`.
    result<sharding_plan> first_plan(sharding_basis const& basis) const;

    /// RC-1, for changes that no watch reports: reads the items' nodes and compares them with the assignment in force.
    /// If they differ, `is_outdated` returns true. Errors: those of the registry.
    task<result<void>> audit(job_view<Registry> const& view);

    /// FO-8: removes the failover flags of Java members once failover is switched off (D-7). Errors: those of the
    /// registry.
    task<result<void>> remove_failover_flags(session_generation g);

    /// Whether nodes of items that the job no longer has may still exist.
    bool has_cut_items() const noexcept { return doubts_.has_cut_items(); }
    void suspect_cut_items() noexcept { doubts_.suspect_cut_items(); }

    /// Removes the nodes of items beyond the count, but not those of items that still run (D-31). While
    /// `has_cut_items`, call it again later. Errors: those of the registry.
    task<result<void>> remove_cut_items(session_generation g, std::uint32_t item_count);

private:
    std::string_view name_of(sharding_basis const& basis) const {
        return basis.strategy.empty() ? strategy_.name() : basis.strategy;
    }

    /// The view's contents, as input for a sharding on this basis.
    sharded_so_far seen(job_view<Registry> const& view, sharding_basis const& basis) const;

    task<result<std::vector<node_path>>> missing_parents();

    /// Calls the user's strategy, which may throw or return a wrong result, before anything is written (D-11). Errors:
    /// job_threw, job_failed.
    result<assignment> ask(sharded_so_far const& now, item_nodes const& known, sharding_basis const& basis) const;

    task<result<void>> commit(transaction t);

    /// Commits one after another, up to the first that fails.
    task<result<void>> commit_all(std::vector<transaction> transactions);

    /// Returns whether the node is gone.
    task<result<bool>> remove_item(session_generation g, item_index i);

    Registry& registry_;
    job_layout at_;
    detail::strategy_ref strategy_;
    item_doubts doubts_;
};

template <registry Registry>
task<result<sharding_report>> resharder<Registry>::shard(job_view<Registry> const& view, sharding_basis basis) {
    auto now = seen(view, basis);
    auto const* in_force = now.in_force ? &*now.in_force : nullptr;
    std::optional<item_nodes> known;
    if (doubts_.must_read(in_force)) {
        if (doubts_.must_catch_up()) {
            ELASTICJOB_CO_TRY(auto const caught_up,
                              co_await registry_.commit(catch_up_write(basis.generation, at_.config())));
            (void)caught_up; // a refusal also proves that the server has caught up
        }
        ELASTICJOB_CO_TRY(known, co_await read_item_nodes(registry_, at_));
        ELASTICJOB_CO_TRY(now.missing, co_await missing_parents());
    } else {
        known.emplace(*in_force);
    }
    ELASTICJOB_CO_TRY(assignment const after, ask(now, *known, basis));
    auto plan = plan_sharding(at_, registry_.limits(), now, basis, *known, after);
    if (plan.cuts_items) doubts_.suspect_cut_items(); // noted now, because a reply may be lost
    auto const done = co_await commit_all(std::move(plan.transactions));
    doubts_.note_sharding(done, at_);
    if (!done) co_return done.error();
    co_return plan.report;
}

template <registry Registry>
result<sharding_plan> resharder<Registry>::first_plan(sharding_basis const& basis) const {
    sharded_so_far nothing;
    nothing.missing.push_back(at_.sharding());
    item_nodes const none{std::map<item_index, item_nodes::reading>{}};
    ELASTICJOB_TRY(auto const first, ask(nothing, none, basis));
    return plan_sharding(at_, registry_.limits(), nothing, basis, none, first);
}

template <registry Registry>
sharded_so_far resharder<Registry>::seen(job_view<Registry> const& view, sharding_basis const& basis) const {
    sharded_so_far now;
    auto const* written = view.assignment_node();
    if (written) now.version = written->stat.version;
    if (auto const* in_force = view.assignment_in_force()) now.in_force = *in_force;
    auto const* last = view.last_assignment();
    now.epoch = last ? last->epoch() : epoch_of(written);
    now.requests = view.sharding_requests();
    std::set<std::string_view> servers;
    for (auto const& id : basis.instances)
        if (auto const* s = view.server(id.server()); s && servers.insert(id.server()).second)
            now.servers.emplace_back(at_.server(id.server()), s->stat.version);
    return now;
}

template <registry Registry>
task<result<std::vector<node_path>>> resharder<Registry>::missing_parents() {
    std::vector<node_path> const parents{at_.sharding(), at_.ext()};
    ELASTICJOB_CO_TRY(auto const found, co_await read_all(registry_, parents));
    std::vector<node_path> missing;
    for (std::size_t i = 0; i < parents.size(); ++i)
        if (!found[i]) missing.push_back(parents[i]);
    co_return missing;
}

template <registry Registry>
result<assignment> resharder<Registry>::ask(sharded_so_far const& now, item_nodes const& known,
                                            sharding_basis const& basis) const {
    std::optional<assignment> after;
    auto const done = detail::guarded_call([&] {
        auto const before = previous_owners(now.in_force ? &*now.in_force : nullptr, known, basis.instances);
        auto const traits = basis.traits.traits();
        auto const needs = basis.traits.needs();
        sharding_request const request{basis.job, basis.instances, basis.item_count, {}, before,
                                       traits,    needs,           basis.strategy};
        after.emplace(strategy_.shard(request, now.epoch + 1, std::string{name_of(basis)}));
    });
    if (!done)
        return error{done.error().code,
                     "the sharding strategy threw, and the assignment stays as it is: " + done.error().what,
                     done.error().where};
    ELASTICJOB_CHECK(check_answer(*after, basis.item_count, strategy_.may_leave_items(), name_of(basis)));
    after->set_traits_print(basis.traits.print());
    return *std::move(after);
}

template <registry Registry>
task<result<void>> resharder<Registry>::audit(job_view<Registry> const& view) {
    ELASTICJOB_CO_TRY(item_nodes const read, co_await read_item_nodes(registry_, at_));
    auto const* in_force = view.assignment_in_force();
    if (in_force && in_force->is_published()) doubts_.note_audit(read, *in_force); // the view reports the other cases
    co_return success();
}

template <registry Registry>
task<result<void>> resharder<Registry>::remove_failover_flags(session_generation g) {
    auto const flagged = co_await registry_.children(at_.failover_items());
    if (!flagged && flagged.error() == errc::no_node) co_return success();
    if (!flagged) co_return flagged.error();
    for (auto const& name : *flagged) {
        auto const removed = co_await registry_.remove(at_.failover_items() / name, any_version, g);
        if (!removed && !(removed.error() == errc::no_node)) co_return removed.error();
    }
    co_return success();
}

template <registry Registry>
task<result<void>> resharder<Registry>::remove_cut_items(session_generation g, std::uint32_t item_count) {
    auto const names = co_await registry_.children(at_.sharding());
    if (!names && !(names.error() == errc::no_node)) co_return names.error();
    bool has_removed_all = true;
    if (names) {
        for (auto const i : items_beyond(item_count, *names)) {
            ELASTICJOB_CO_TRY(bool const is_removed, co_await remove_item(g, i));
            has_removed_all &= is_removed;
        }
    }
    doubts_.note_removal(has_removed_all);
    co_return success();
}

template <registry Registry>
task<result<void>> resharder<Registry>::commit(transaction t) {
    auto const asked = t;
    ELASTICJOB_CO_TRY(auto const reply, co_await registry_.commit(std::move(t)));
    if (!reply) co_return refusal_error(asked, *reply.refused);
    co_return success();
}

template <registry Registry>
task<result<void>> resharder<Registry>::commit_all(std::vector<transaction> transactions) {
    for (auto& t : transactions) {
        ELASTICJOB_CO_CHECK(co_await commit(std::move(t)));
    }
    co_return success();
}

template <registry Registry>
task<result<bool>> resharder<Registry>::remove_item(session_generation g, item_index i) {
    ELASTICJOB_CO_TRY(auto const below, co_await registry_.children(at_.item(i)));
    if (is_still_running(below)) co_return false;
    ELASTICJOB_CO_TRY(auto const record, co_await registry_.exists(at_.run_record(i)));
    auto removal = removal_of_item(at_, g, i, below, record.has_value());
    ELASTICJOB_CO_TRY(auto const reply, co_await registry_.commit(std::move(removal)));
    co_return static_cast<bool>(reply); // refused: another member has just started or changed the item; look later
}

} // namespace elasticjob
#endif // ELASTICJOB_SHARDING_RESHARDER_HPP
