// SPDX-License-Identifier: Apache-2.0
/// \file \brief What the nodes of the single items say: whom they name as owner, and which of them exist.
#ifndef ELASTICJOB_SHARDING_ITEM_NODES_HPP
#define ELASTICJOB_SHARDING_ITEM_NODES_HPP

#include <elasticjob/config/text.hpp>
#include <elasticjob/core/deferred.hpp>
#include <elasticjob/core/gather.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/registry.hpp>
#include <elasticjob/sharding/assignment.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob {

/// Known without reading while an assignment of ours is in force and published; read, one by one but all at once, only
/// after somebody else has written them: a Java leader, or one of ours who died between two transactions.
template <class Assignment = assignment>
class basic_item_nodes {
public:
    /// What the assignment says. It must outlive this.
    explicit basic_item_nodes(Assignment const& a) noexcept : by_assignment_{&a} {}

    /// What was read, by item.
    struct reading {
        deferred<std::optional<node>, Assignment> instance; ///< nothing: the item has no owner's node
    };
    explicit basic_item_nodes(std::map<item_index, reading> read) noexcept : read_{std::move(read)} {}

    bool has_item(item_index i) const { return by_assignment_ ? i < by_assignment_->items() : read_.contains(i); }
    bool has_owner_node(item_index i) const {
        if (by_assignment_) return i < by_assignment_->items();
        auto const at = read_.find(i);
        return at != read_.end() && at->second.instance;
    }

    /// Precondition: has_owner_node(i).
    std::string const& owner(item_index i) const {
        return by_assignment_ ? by_assignment_->owner_id(i).str() : read_.at(i).instance->data;
    }

    /// Precondition: has_owner_node(i), and it was read.
    node_version version(item_index i) const { return read_.at(i).instance->stat.version; }

    /// One more than the highest item that there is a node of.
    item_index end() const {
        if (by_assignment_) return by_assignment_->items();
        return read_.empty() ? 0 : read_.rbegin()->first + 1;
    }

private:
    Assignment const* by_assignment_ = nullptr;
    std::map<item_index, reading> read_;
};

using item_nodes = basic_item_nodes<>;

/// Two round trips, and a request for each item. Children of `sharding` that are no numbers are not ours to judge.
/// Errors: those of the registry.
template <registry Registry, class Nodes = item_nodes>
task<result<Nodes>> read_item_nodes(Registry& r, job_layout at) {
    std::map<item_index, typename Nodes::reading> read;
    auto names = co_await r.children(at.sharding());
    if (!names && !(names.error() == errc::no_node)) co_return std::move(names).error();
    if (!names) co_return Nodes{std::move(read)};
    deferred<std::vector<item_index>, Registry> items;
    for (auto const& name : *names) {
        auto const i = detail::parse_number<item_index>(name);
        if (i) items.push_back(*i);
    }
    auto const read_owner = [&](item_index i) { return r.get(at.item_instance(i)); };
    auto owners = co_await gather_each(r.loop(), items, read_owner);
    for (std::size_t n = 0; n < items.size(); ++n) {
        if (!owners[n] && !(owners[n].error() == errc::no_node)) co_return std::move(owners[n]).error();
        typename Nodes::reading one;
        if (owners[n]) one.instance = *std::move(owners[n]);
        read.emplace(items[n], std::move(one));
    }
    co_return Nodes{std::move(read)};
}

} // namespace elasticjob
#endif // ELASTICJOB_SHARDING_ITEM_NODES_HPP
