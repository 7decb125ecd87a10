// SPDX-License-Identifier: Apache-2.0
/// \file \brief The leader's work: replaces the whole assignment when its basis has changed.
#ifndef ELASTICJOB_SHARDING_RESHARDER_HPP
#define ELASTICJOB_SHARDING_RESHARDER_HPP

#include <elasticjob/allocation/strategy.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/guarded_call.hpp>
#include <elasticjob/registry/read_all.hpp>
#include <elasticjob/sharding/item_nodes.hpp>
#include <elasticjob/sharding/job_traits.hpp>
#include <elasticjob/sharding/job_view.hpp>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <type_traits> // remove_cvref
#include <utility>
#include <vector>

namespace elasticjob {

/// The basis of a sharding. The transaction that writes the assignment checks all of it, and is refused if any part has
/// changed.
struct sharding_basis {
    session_generation generation;
    std::string job;
    std::uint32_t item_count = 0;
    node_version config_version = 0;
    std::vector<instance_id> instances; ///< available instances, in ElasticJob's order
    job_traits traits{};                ///< of these instances and the items; only if the strategy uses traits
    std::string strategy{};             ///< the name that the job specifies; empty: the strategy's own
    std::vector<operation> besides{};   ///< additional writes in the transaction that names the new owners
};

/// The outcome of a sharding.
struct sharding_report {
    std::uint64_t epoch = 0;
    std::uint32_t items = 0;
    std::uint32_t moved = 0; ///< items whose owner has changed, including new items
    std::uint32_t left = 0;  ///< items that the strategy has left unowned
};

/// Shards when an event requires it, not inside a firing (D-12), and waits for no run: an item that still runs with its
/// old owner is protected by its own `running` node. One transaction replaces the assignment and the nodes of the items
/// that move. It checks leadership, membership and configuration (D-8 to D-11). A refusal means that something has
/// changed; the watches report the change, and the leader decides again. If a request would grow too large, the work is
/// split into three steps. First the nodes of the items that move lose their owners, then the assignment is replaced,
/// and then the nodes get their new owners. So no node ever shows two owners.
template <registry Registry, sharding_strategy Strategy>
class resharder {
    using nodes = item_nodes;

public:
    resharder(Registry& r, job_layout at, instance_id self);

    /// Whether the assignment in force has another basis than this, or disagrees with the items' nodes.
    bool is_outdated(job_view<Registry> const& view, sharding_basis const& basis) const;

    /// Whether a sharding is requested.
    static bool is_asked_for(job_view<Registry> const& view);

    /// Removes a request for a sharding while the assignment is as it should be. Precondition: an assignment is in
    /// force. Errors: as of `shard`.
    task<result<void>> grant(job_view<Registry> const& view, session_generation g);

    /// At most one read and one transaction, whatever the number of items, unless the items do not fit into one.
    /// Errors: version_conflict and similar ones when the basis has changed; those of the registry. After
    /// unknown_outcome nothing is lost: either the new or the old assignment is in force, and the view will show which.
    task<result<sharding_report>> shard(job_view<Registry> const& view, sharding_basis basis);

    /// RC-1, the safety net below the watches: reads the items' nodes and compares them with the assignment in force,
    /// whoever has changed them. If they differ, `is_outdated` holds. Two requests at once, and one per item. Errors:
    /// those of the registry.
    task<result<void>> audit(job_view<Registry> const& view);

    /// FO-8: removes the failover flags of Java members once failover is switched off (D-7). Errors: those of the
    /// registry.
    task<result<void>> remove_failover_flags(session_generation g);

    /// Calls the user's strategy, which may throw or return a wrong result; nothing has been written by then (D-11).
    /// The previous owners come from the assignment in force or, without one, from the items' nodes. Errors: job_threw,
    /// job_failed.
    static result<assignment> compute(std::uint64_t epoch, assignment const* in_force, nodes const& known,
                                      sharding_basis const& basis);

    /// Whether nodes of removed items may still exist.
    bool has_cut_items() const noexcept { return has_cut_items_; }
    void suspect_cut_items() noexcept { has_cut_items_ = true; }

    /// Removes the nodes of items beyond the count, except of items that still run (D-31). Call it again later while
    /// `has_cut_items`. Errors: those of the registry.
    task<result<void>> remove_cut_items(session_generation g, std::uint32_t item_count);

private:
    static std::string_view name_of(sharding_basis const& basis) {
        return basis.strategy.empty() ? std::string_view{Strategy::name} : basis.strategy;
    }

    std::uint64_t next_epoch(job_view<Registry> const& view) const;

    /// The owners in the items' nodes, as slots of these instances.
    static std::vector<run> runs_of(nodes const& known, std::vector<instance_id> const& instances);

    transaction checks(job_view<Registry> const& view, sharding_basis const& basis) const;

    /// The writes of a sharding, in their order.
    struct change {
        transaction checks;
        std::vector<operation> foundation; ///< parents
        std::vector<operation> flip;       ///< from here on the new assignment is in force
        std::vector<operation> moves;      ///< the nodes of the items after the first, if they change
    };

    static operation creation(node_path path, std::string data = {});

    task<result<std::vector<node_path>>> missing_parents();

    std::vector<operation> foundation(std::vector<node_path> missing, nodes const& known) const;

    /// Writes the assignment and, always with it, the node of item 0. So a later write by any other member is noticed.
    /// Also removes the request for a sharding.
    std::vector<operation> flip(job_view<Registry> const& view, nodes const& known, assignment const& after) const;

    std::vector<operation> flags_down(job_view<Registry> const& view) const;

    std::vector<operation> moves(nodes const& known, assignment const& after) const;

    static std::uint32_t count_moves(nodes const& known, assignment const& after);

    task<result<void>> commit_change(job_view<Registry> const& view, change const& whole, assignment const& after);

    task<result<void>> commit(transaction t);

    /// See the class: clears the items that move, replaces the assignment, and writes the items that move. Each part
    /// checks that no other member has sharded meanwhile. While the nodes of the items are being written, the
    /// assignment says `published no`: if we die before the end, the next leader reads the nodes.
    task<result<void>> commit_in_parts(job_view<Registry> const& view, change const& whole, assignment const& after);

    /// Each chunk begins with the same checks.
    task<result<void>> commit_chunks(transaction checks, std::vector<operation> rest);

    /// Returns whether the node is gone.
    task<result<bool>> remove_item(session_generation g, item_index i);

    Registry& registry_;
    job_layout at_;
    instance_id self_;
    assignment const nothing_{};
    bool distrusts_items_ = false;
    bool is_damaged_ = false; ///< the items' nodes disagree with the assignment
    bool has_cut_items_ = false;
};

template <registry Registry, sharding_strategy Strategy>
resharder<Registry, Strategy>::resharder(Registry& r, job_layout at, instance_id self)
    : registry_{r},
      at_{std::move(at)},
      self_{std::move(self)} {}

template <registry Registry, sharding_strategy Strategy>
bool resharder<Registry, Strategy>::is_outdated(job_view<Registry> const& view, sharding_basis const& basis) const {
    if (basis.instances.empty()) return false; // no instance can own items (SH-6)
    auto const* now = view.assignment_in_force();
    return !now || is_damaged_ || !now->is_published() || now->instances() != basis.instances ||
           now->items() != basis.item_count || now->strategy() != name_of(basis) ||
           now->traits_print() != basis.traits.print();
}

template <registry Registry, sharding_strategy Strategy>
bool resharder<Registry, Strategy>::is_asked_for(job_view<Registry> const& view) {
    return view.sharding_is_necessary() || view.sharding_is_processed();
}

template <registry Registry, sharding_strategy Strategy>
task<result<void>> resharder<Registry, Strategy>::grant(job_view<Registry> const& view, session_generation g) {
    transaction t{g};
    t.check(at_.leader_instance()).check(at_.assignment(), view.assignment_node()->stat.version);
    for (auto const& o : flags_down(view)) t.add(o);
    co_return co_await commit(std::move(t));
}

template <registry Registry, sharding_strategy Strategy>
task<result<sharding_report>> resharder<Registry, Strategy>::shard(job_view<Registry> const& view,
                                                                   sharding_basis basis) {
    auto const* in_force = view.assignment_in_force();
    bool const knows_items = in_force && in_force->is_published() && !distrusts_items_;
    std::optional<assignment> before;
    if (in_force) before = *in_force;
    nodes known{before ? *before : nothing_};
    std::vector<node_path> parents;
    if (!knows_items) {
        ELASTICJOB_CO_TRY(known, co_await read_item_nodes(registry_, at_));
        ELASTICJOB_CO_TRY(parents, co_await missing_parents());
    }
    ELASTICJOB_CO_TRY(assignment after, compute(next_epoch(view), before ? &*before : nullptr, known, basis));
    sharding_report const report{after.epoch(), basis.item_count, count_moves(known, after), after.count_left()};

    change whole{checks(view, basis), foundation(std::move(parents), known), flip(view, known, after),
                 moves(known, after)};
    for (auto& o : basis.besides) whole.flip.push_back(std::move(o));
    if (known.end() > after.items()) has_cut_items_ = true; // even if the reply to the following requests is lost
    auto const done = co_await commit_change(view, whole, after);
    // The nodes of the items may differ from our assumption, so read them next time. But if the refusal concerns
    // another node, such as an assignment that a leaving instance has just written, the view will show the change by
    // itself.
    distrusts_items_ =
        !done && (!is_conflict(done.error().code) || done.error().where.starts_with(at_.sharding().str()));
    if (!done) co_return done.error();
    is_damaged_ = false;
    co_return report;
}

template <registry Registry, sharding_strategy Strategy>
task<result<void>> resharder<Registry, Strategy>::audit(job_view<Registry> const& view) {
    ELASTICJOB_CO_TRY(nodes const known, co_await read_item_nodes(registry_, at_));
    auto const* in_force = view.assignment_in_force();
    if (!in_force || !in_force->is_published()) co_return success(); // the view reports this case
    for (item_index i = 0; i < in_force->items() && !is_damaged_; ++i)
        is_damaged_ = !known.has_owner_node(i) || known.owner(i) != in_force->owner_id(i).str();
    distrusts_items_ |= is_damaged_;
    has_cut_items_ |= known.end() > in_force->items();
    co_return success();
}

template <registry Registry, sharding_strategy Strategy>
task<result<void>> resharder<Registry, Strategy>::remove_failover_flags(session_generation g) {
    auto const flagged = co_await registry_.children(at_.failover_items());
    if (!flagged && flagged.error() == errc::no_node) co_return success();
    if (!flagged) co_return flagged.error();
    for (auto const& name : *flagged) {
        auto const removed = co_await registry_.remove(at_.failover_items() / name, any_version, g);
        if (!removed && !(removed.error() == errc::no_node)) co_return removed.error();
    }
    co_return success();
}

template <registry Registry, sharding_strategy Strategy>
result<assignment> resharder<Registry, Strategy>::compute(std::uint64_t epoch, assignment const* in_force,
                                                          nodes const& known, sharding_basis const& basis) {
    std::optional<assignment> after;
    auto const done = detail::guarded_call([&] {
        auto const before = in_force ? in_force->runs_among(basis.instances) : runs_of(known, basis.instances);
        auto const traits = basis.traits.traits();
        auto const needs = basis.traits.needs();
        sharding_request const request{basis.job, basis.instances, basis.item_count, {}, before,
                                       traits,    needs,           basis.strategy};
        after.emplace(epoch, std::string{name_of(basis)}, basis.instances, Strategy{}(request));
    });
    if (!done)
        return error{done.error().code,
                     "the sharding strategy threw, and the assignment stays as it is: " + done.error().what,
                     done.error().where};
    using answer = std::remove_cvref_t<decltype(Strategy{}(std::declval<sharding_request const&>()))>;
    bool const leaves_unannounced = !detail::allocation_may_leave_items<answer> && after->count_left() != 0;
    if (!after->allocates(basis.item_count) || leaves_unannounced)
        return error{errc::job_failed, "what the sharding strategy '" + std::string{name_of(basis)} +
                                           "' answered is no allocation of the job's items to its instances, and "
                                           "the assignment stays as it is"};
    after->set_traits_print(basis.traits.print());
    return *std::move(after);
}

template <registry Registry, sharding_strategy Strategy>
task<result<void>> resharder<Registry, Strategy>::remove_cut_items(session_generation g, std::uint32_t item_count) {
    auto const names = co_await registry_.children(at_.sharding());
    if (!names && !(names.error() == errc::no_node)) co_return names.error();
    bool left_over = false;
    if (names) {
        for (auto const& name : *names) {
            auto const i = detail::parse_number<item_index>(name);
            if (!i || *i < item_count) continue;
            ELASTICJOB_CO_TRY(bool const removed, co_await remove_item(g, *i));
            left_over |= !removed;
        }
    }
    has_cut_items_ = left_over;
    co_return success();
}

template <registry Registry, sharding_strategy Strategy>
std::uint64_t resharder<Registry, Strategy>::next_epoch(job_view<Registry> const& view) const {
    auto const* written = view.assignment_node();
    if (!written) return 1;
    auto const last = assignment::parse(written->data);
    // An unreadable assignment has an epoch all the same: its version, which also grows with each write.
    return (last ? last->epoch() : static_cast<std::uint64_t>(written->stat.version)) + 1;
}

template <registry Registry, sharding_strategy Strategy>
std::vector<run> resharder<Registry, Strategy>::runs_of(nodes const& known, std::vector<instance_id> const& instances) {
    std::vector<run> runs;
    for (item_index i = 0; i != known.end(); ++i) {
        auto slot = no_slot;
        if (known.has_owner_node(i)) {
            auto const is_before = [](instance_id const& a, std::string const& b) { return a.str() > b; };
            auto const at = std::lower_bound(instances.begin(), instances.end(), known.owner(i), is_before);
            if (at != instances.end() && at->str() == known.owner(i))
                slot = static_cast<slot_index>(at - instances.begin());
        }
        if (runs.empty() || runs.back().owner != slot) runs.push_back({i, slot});
        runs.back().end = i + 1;
    }
    return runs;
}

template <registry Registry, sharding_strategy Strategy>
transaction resharder<Registry, Strategy>::checks(job_view<Registry> const& view, sharding_basis const& basis) const {
    transaction t{basis.generation};
    t.check(at_.leader_instance()).check(at_.config(), basis.config_version);
    std::set<std::string_view> servers;
    for (auto const& id : basis.instances) {
        t.check(at_.instance(id));
        if (auto const* s = view.server(id.server()); s && servers.insert(id.server()).second)
            t.check(at_.server(id.server()), s->stat.version);
    }
    for (auto const& p : basis.traits.proofs()) t.check(p.path, p.version);
    return t;
}

template <registry Registry, sharding_strategy Strategy>
operation resharder<Registry, Strategy>::creation(node_path path, std::string data) {
    return {operation::kind::create, std::move(path), std::move(data)};
}

template <registry Registry, sharding_strategy Strategy>
task<result<std::vector<node_path>>> resharder<Registry, Strategy>::missing_parents() {
    std::vector<node_path> const parents{at_.sharding(), at_.ext()};
    ELASTICJOB_CO_TRY(auto const found, co_await read_all(registry_, parents));
    std::vector<node_path> missing;
    for (std::size_t i = 0; i < parents.size(); ++i)
        if (!found[i]) missing.push_back(parents[i]);
    co_return missing;
}

template <registry Registry, sharding_strategy Strategy>
std::vector<operation> resharder<Registry, Strategy>::foundation(std::vector<node_path> missing,
                                                                 nodes const& known) const {
    std::vector<operation> creations;
    for (auto& path : missing) creations.push_back(creation(std::move(path)));
    if (!known.has_item(0)) creations.push_back(creation(at_.item(0)));
    return creations;
}

template <registry Registry, sharding_strategy Strategy>
std::vector<operation> resharder<Registry, Strategy>::flip(job_view<Registry> const& view, nodes const& known,
                                                           assignment const& after) const {
    std::vector<operation> steps;
    if (!known.has_owner_node(0)) steps.push_back(creation(at_.item_instance(0)));
    steps.push_back({operation::kind::set, at_.item_instance(0), after.owner_id(0).str()});
    if (auto const* written = view.assignment_node())
        steps.push_back(
            {operation::kind::set, at_.assignment(), after.to_text(), create_mode::persistent, written->stat.version});
    else
        steps.push_back(creation(at_.assignment(), after.to_text()));
    for (auto& o : flags_down(view)) steps.push_back(std::move(o));
    return steps;
}

template <registry Registry, sharding_strategy Strategy>
std::vector<operation> resharder<Registry, Strategy>::flags_down(job_view<Registry> const& view) const {
    std::vector<operation> steps;
    if (view.sharding_is_necessary()) steps.push_back({operation::kind::remove, at_.sharding_necessary()});
    if (view.sharding_is_processed()) steps.push_back({operation::kind::remove, at_.sharding_processing()});
    return steps;
}

template <registry Registry, sharding_strategy Strategy>
std::vector<operation> resharder<Registry, Strategy>::moves(nodes const& known, assignment const& after) const {
    std::vector<operation> steps;
    for (item_index i = 1; i < after.items(); ++i) {
        auto const& owner = after.owner_id(i).str();
        if (!known.has_item(i)) steps.push_back(creation(at_.item(i)));
        if (!known.has_owner_node(i))
            steps.push_back(creation(at_.item_instance(i), owner));
        else if (known.owner(i) != owner)
            steps.push_back({operation::kind::set, at_.item_instance(i), owner});
    }
    return steps;
}

template <registry Registry, sharding_strategy Strategy>
std::uint32_t resharder<Registry, Strategy>::count_moves(nodes const& known, assignment const& after) {
    std::uint32_t moves = 0;
    for (item_index i = 0; i < after.items(); ++i)
        if (!known.has_owner_node(i) || known.owner(i) != after.owner_id(i).str()) ++moves;
    return moves;
}

template <registry Registry, sharding_strategy Strategy>
task<result<void>> resharder<Registry, Strategy>::commit_change(job_view<Registry> const& view, change const& whole,
                                                                assignment const& after) {
    transaction all = whole.checks;
    for (auto const* part : {&whole.foundation, &whole.flip, &whole.moves})
        for (auto const& o : *part) all.add(o);
    if (all.has_room(registry_.limits())) co_return co_await commit(std::move(all));
    co_return co_await commit_in_parts(view, whole, after);
}

template <registry Registry, sharding_strategy Strategy>
task<result<void>> resharder<Registry, Strategy>::commit(transaction t) {
    auto const asked = t;
    ELASTICJOB_CO_TRY(auto const reply, co_await registry_.commit(std::move(t)));
    if (!reply) co_return refusal_error(asked, *reply.refused);
    co_return success();
}

template <registry Registry, sharding_strategy Strategy>
task<result<void>> resharder<Registry, Strategy>::commit_in_parts(job_view<Registry> const& view, change const& whole,
                                                                  assignment const& after) {
    auto const g = whole.checks.generation();
    std::optional<node_version> version;
    if (auto const* written = view.assignment_node()) version = written->stat.version;
    std::vector<operation> clearing = whole.foundation;
    std::vector<operation> writing;
    for (auto const& o : whole.moves) {
        clearing.push_back(o);
        clearing.back().data.clear();
        if (o.data.empty()) continue; // the node of the item, not of its owner
        writing.push_back(o);
        writing.back().what = operation::kind::set;
    }

    if (auto const* in_force = view.assignment_in_force(); in_force && in_force->is_published()) {
        auto withdrawn = *in_force;
        withdrawn.set_published(false);
        transaction withdraw{g};
        withdraw.check(at_.leader_instance())
            .set(at_.assignment(), withdrawn.to_text(), *version)
            .set(at_.item_instance(0), withdrawn.owner_id(0).str());
        ELASTICJOB_CO_CHECK(co_await commit(std::move(withdraw)));
        ++*version;
    }

    transaction nobody_sharded{g};
    nobody_sharded.check(at_.leader_instance());
    if (version) nobody_sharded.check(at_.assignment(), *version);
    ELASTICJOB_CO_CHECK(co_await commit_chunks(std::move(nobody_sharded), std::move(clearing)));

    assignment unpublished = after;
    unpublished.set_published(false);
    transaction flip = whole.checks;
    for (auto o : whole.flip) {
        if (o.path == at_.assignment()) {
            o.data = unpublished.to_text();
            if (version) o.version = *version;
        }
        flip.add(std::move(o));
    }
    ELASTICJOB_CO_CHECK(co_await commit(std::move(flip)));

    node_version const flipped = version ? *version + 1 : 0;
    transaction still_ours{g};
    still_ours.check(at_.assignment(), flipped);
    ELASTICJOB_CO_CHECK(co_await commit_chunks(std::move(still_ours), std::move(writing)));

    transaction publish{g};
    publish.set(at_.assignment(), after.to_text(), flipped).set(at_.item_instance(0), after.owner_id(0).str());
    co_return co_await commit(std::move(publish));
}

template <registry Registry, sharding_strategy Strategy>
task<result<void>> resharder<Registry, Strategy>::commit_chunks(transaction checks, std::vector<operation> rest) {
    auto chunk = checks;
    for (auto& o : rest) {
        if (!chunk.has_room(registry_.limits(), 1, o.bytes())) {
            ELASTICJOB_CO_CHECK(co_await commit(std::move(chunk)));
            chunk = checks;
        }
        chunk.add(std::move(o));
    }
    if (chunk.size() == checks.size()) co_return success();
    co_return co_await commit(std::move(chunk));
}

template <registry Registry, sharding_strategy Strategy>
task<result<bool>> resharder<Registry, Strategy>::remove_item(session_generation g, item_index i) {
    ELASTICJOB_CO_TRY(auto const below, co_await registry_.children(at_.item(i)));
    if (std::find(below.begin(), below.end(), "running") != below.end()) co_return false;
    ELASTICJOB_CO_TRY(auto const record, co_await registry_.exists(at_.run_record(i)));
    transaction t{g};
    t.check(at_.leader_instance());
    for (auto const& name : below) t.remove(at_.item(i) / name);
    t.remove(at_.item(i));
    if (record) t.remove(at_.run_record(i));
    ELASTICJOB_CO_TRY(auto const reply, co_await registry_.commit(std::move(t)));
    co_return static_cast<bool>(reply); // refused: another member has just started or touched it; look later
}

} // namespace elasticjob
#endif // ELASTICJOB_SHARDING_RESHARDER_HPP
