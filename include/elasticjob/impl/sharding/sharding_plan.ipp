// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_SHARDING_SHARDING_PLAN_IPP
#define ELASTICJOB_IMPL_SHARDING_SHARDING_PLAN_IPP

#include <elasticjob/config/text.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/sharding/sharding_plan.hpp>

#include <cstddef>
#include <span>

namespace elasticjob {

ELASTICJOB_DECL std::uint64_t epoch_of(node const* written) {
    if (!written) return 0;
    auto const last = assignment::parse(written->data);
    return last ? last->epoch() : static_cast<std::uint64_t>(written->stat.version);
}

ELASTICJOB_DECL bool is_outdated(assignment const* in_force, sharding_basis const& basis, std::string_view strategy) {
    if (basis.instances.empty()) return false;
    return !in_force || !in_force->is_published() || in_force->instances() != basis.instances ||
           in_force->items() != basis.item_count || in_force->strategy() != strategy ||
           in_force->traits_print() != basis.traits.print();
}

ELASTICJOB_DECL std::vector<run> previous_owners(assignment const* in_force, item_nodes const& known,
                                                 std::vector<instance_id> const& instances) {
    if (in_force) return in_force->runs_among(instances);
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

ELASTICJOB_DECL result<void> check_answer(assignment const& answer, std::uint32_t item_count, bool may_leave_items,
                                          std::string_view strategy) {
    if (answer.allocates(item_count) && (may_leave_items || answer.count_left() == 0)) return success();
    return error{errc::job_failed, "the answer of the sharding strategy '" + std::string{strategy} +
                                       "' does not allocate the job's items to its instances; the assignment stays as "
                                       "it is"};
}

namespace detail {

/// Collects the writes of a sharding in their order, and divides them into transactions.
class sharding_writer {
public:
    sharding_writer(job_layout const& at, sharded_so_far const& now, sharding_basis const& basis,
                    item_nodes const& known, assignment const& after)
        : at_{at},
          now_{now},
          basis_{basis},
          after_{after} {
        lay_foundation(known);
        flip(known);
        move(known);
    }

    std::uint32_t moved() const noexcept { return moved_; }

    std::vector<transaction> transactions(registry_limits const& limits) && {
        auto besides = basis_.besides;
        if (auto all = whole(besides); all.has_room(limits)) return {std::move(all)};
        if (!besides.empty()) {
            auto const first = nobody_sharded(now_.version);
            add_chunks(limits, first, each_alone(foundation_));
            foundation_.clear();
            add_chunks(limits, first, {besides.begin(), besides.end()});
        }
        if (auto all = whole({}); all.has_room(limits))
            parts_.push_back(std::move(all));
        else
            divide(limits);
        return std::move(parts_);
    }

private:
    static operation creation(node_path path, std::string data = {}) {
        return {operation::kind::create, std::move(path), std::move(data)};
    }

    transaction checks() const {
        transaction t{basis_.generation};
        t.check(at_.leader_instance()).check(at_.config(), basis_.config_version);
        for (auto const& id : basis_.instances) t.check(at_.instance(id));
        for (auto const& [path, version] : now_.servers) t.check(path, version);
        for (auto const& p : basis_.traits.proofs()) t.check(p.path, p.version);
        return t;
    }

    void lay_foundation(item_nodes const& known) {
        for (auto const& path : now_.missing) foundation_.push_back(creation(path));
        if (!known.has_item(0)) foundation_.push_back(creation(at_.item(0)));
    }

    void flip(item_nodes const& known) {
        if (!known.has_owner_node(0)) flip_.push_back(creation(at_.item_instance(0)));
        flip_.push_back({operation::kind::set, at_.item_instance(0), owner_text(after_.owner_id(0).str())});
        flip_.push_back(now_.version ? operation{operation::kind::set, at_.assignment(), after_.to_text(),
                                                 create_mode::persistent, *now_.version}
                                     : creation(at_.assignment(), after_.to_text()));
        for (auto const& path : now_.requests) flip_.push_back({operation::kind::remove, path});
    }

    void move(item_nodes const& known) {
        for (item_index i = 0; i < after_.items(); ++i) {
            auto const& owner = after_.owner_id(i).str();
            bool const has_node = known.has_owner_node(i);
            if (has_node && known.owner(i) == owner) continue;
            ++moved_;
            if (i == 0) continue; // written with the assignment
            if (!known.has_item(i)) moves_.push_back(creation(at_.item(i)));
            moves_.push_back(has_node ? operation{operation::kind::set, at_.item_instance(i), owner_text(owner)}
                                      : creation(at_.item_instance(i), owner_text(owner)));
        }
    }

    transaction nobody_sharded(std::optional<node_version> version) const {
        transaction t{basis_.generation};
        t.check(at_.leader_instance());
        if (version) t.check(at_.assignment(), *version);
        return t;
    }

    transaction whole(std::vector<std::vector<operation>> const& besides) const {
        auto all = checks();
        auto const add_all = [&all](std::vector<operation> const& part) {
            for (auto const& o : part) all.add(o);
        };
        add_all(foundation_);
        for (auto const& group : besides) add_all(group);
        add_all(flip_);
        add_all(moves_);
        return all;
    }

    void divide(registry_limits const& limits) {
        auto const g = basis_.generation;
        auto version = now_.version;
        if (now_.in_force && now_.in_force->is_published()) {
            auto withdrawn = *now_.in_force;
            withdrawn.set_published(false);
            parts_.emplace_back(g)
                .check(at_.leader_instance())
                .set(at_.assignment(), withdrawn.to_text(), *version)
                .set(at_.item_instance(0), owner_text(withdrawn.owner_id(0).str()));
            ++*version;
        }

        auto clearing = std::move(foundation_);
        for (auto const& o : moves_) {
            clearing.push_back(o);
            auto& owner = clearing.back().data;
            if (!owner.empty()) owner = owner_text({}); // otherwise it is the node of an item
        }
        add_chunks(limits, nobody_sharded(version), each_alone(clearing));

        auto unpublished = after_;
        unpublished.set_published(false);
        auto flip = checks();
        for (auto& o : flip_) {
            if (o.path == at_.assignment()) {
                o.data = unpublished.to_text();
                if (version) o.version = *version;
            }
            flip.add(std::move(o));
        }
        parts_.push_back(std::move(flip));

        node_version const flipped = version ? *version + 1 : 0;
        transaction still_ours{g};
        still_ours.check(at_.assignment(), flipped);
        std::erase_if(moves_, [](operation const& o) { return owner_in(o.data).empty(); }); // written by then
        for (auto& o : moves_) o.what = operation::kind::set;
        add_chunks(limits, still_ours, each_alone(moves_));

        parts_.emplace_back(g)
            .set(at_.assignment(), after_.to_text(), flipped)
            .set(at_.item_instance(0), owner_text(after_.owner_id(0).str()));
    }

    using groups = std::vector<std::span<operation>>; ///< of writes that stay together

    static groups each_alone(std::vector<operation>& all) {
        groups each;
        each.reserve(all.size());
        for (auto& o : all) each.emplace_back(&o, 1);
        return each;
    }

    /// Moves the writes into transactions. Each begins with the same checks.
    void add_chunks(registry_limits const& limits, transaction const& checks, groups writes) {
        auto chunk = checks;
        for (auto const group : writes) {
            std::size_t bytes = 0;
            for (auto const& o : group) bytes += o.bytes();
            if (!chunk.has_room(limits, group.size(), bytes) && chunk.size() != checks.size()) {
                parts_.push_back(std::move(chunk));
                chunk = checks;
            }
            for (auto& o : group) chunk.add(std::move(o));
        }
        if (chunk.size() != checks.size()) parts_.push_back(std::move(chunk));
    }

    job_layout const& at_;
    sharded_so_far const& now_;
    sharding_basis const& basis_;
    assignment const& after_;
    std::vector<operation> foundation_; ///< parents
    std::vector<operation> flip_;       ///< brings the new assignment into force
    std::vector<operation> moves_;      ///< the nodes of the items after the first, where they change
    std::vector<transaction> parts_;
    std::uint32_t moved_ = 0;
};

} // namespace detail

ELASTICJOB_DECL sharding_plan plan_sharding(job_layout const& at, registry_limits const& limits,
                                            sharded_so_far const& now, sharding_basis const& basis,
                                            item_nodes const& known, assignment const& after) {
    detail::sharding_writer writer{at, now, basis, known, after};
    sharding_report const report{after.epoch(), basis.item_count, writer.moved(), after.count_left()};
    return {std::move(writer).transactions(limits), report, known.end() > after.items()};
}

ELASTICJOB_DECL error unowned_items(job_layout const& at, std::uint32_t left, assignment const* after) {
    constexpr std::uint32_t names_max = 10;
    std::string which;
    std::uint32_t named = 0;
    for (item_index i = 0; after && i < after->items() && named < names_max; ++i)
        if (after->owner(i) == no_slot) which += (named++ == 0 ? ": " : ", ") + item_name(i);
    if (named != 0 && left > named) which += ", …";
    return {errc::nobody_fits,
            std::to_string(left) + " of the job's items wait, because no instance has the labels that they need" +
                which,
            at.item_labels().str()};
}

ELASTICJOB_DECL transaction grant_of_requests(job_layout const& at, session_generation g, node_version assigned,
                                              std::vector<node_path> const& requests) {
    transaction t{g};
    t.check(at.leader_instance()).check(at.assignment(), assigned);
    for (auto const& path : requests) t.remove(path);
    return t;
}

ELASTICJOB_DECL std::vector<item_index> items_beyond(std::uint32_t count, std::vector<std::string> const& names) {
    std::vector<item_index> items;
    for (auto const& name : names)
        if (auto const i = detail::parse_number<item_index>(name); i && *i >= count) items.push_back(*i);
    return items;
}

ELASTICJOB_DECL bool is_still_running(std::vector<std::string> const& below) {
    return std::find(below.begin(), below.end(), "running") != below.end();
}

ELASTICJOB_DECL transaction removal_of_item(job_layout const& at, session_generation g, item_index i,
                                            std::vector<std::string> const& below, bool has_record) {
    transaction t{g};
    t.check(at.leader_instance());
    for (auto const& name : below) t.remove(at.item(i) / name);
    t.remove(at.item(i));
    if (has_record) t.remove(at.run_record(i));
    return t;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_SHARDING_SHARDING_PLAN_IPP
