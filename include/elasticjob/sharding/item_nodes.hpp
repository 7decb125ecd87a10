// SPDX-License-Identifier: Apache-2.0
/// \file \brief The nodes of single items: which of them exist, and which owners they name.
#ifndef ELASTICJOB_SHARDING_ITEM_NODES_HPP
#define ELASTICJOB_SHARDING_ITEM_NODES_HPP

#include <elasticjob/config/text.hpp>
#include <elasticjob/core/decl.hpp>
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

/// The contents of the node that names an item's owner. The console of 2.1.5 cannot show a job if such a node is empty,
/// so it contains `-@-@-` if nobody owns the item (SH-5): an instance `-` of a server `-`, which is never there.
std::string owner_text(std::string owner);

/// The owner that such a node names; empty if nobody owns the item.
std::string owner_in(std::string text);

/// While an assignment of ours is in force and published, it tells the contents without a read. Otherwise a Java leader
/// has written the nodes, or a leader of ours that died between two transactions. Then the nodes are read, with one
/// request per item, all at once.
class item_nodes {
public:
    /// From the assignment, which must outlive this.
    explicit item_nodes(assignment const& a) noexcept : by_assignment_{&a} {}

    /// From the registry, by item.
    struct reading {
        std::optional<node> instance; ///< nothing: the item has no owner node
    };
    explicit item_nodes(std::map<item_index, reading> read);

    bool has_item(item_index i) const { return by_assignment_ ? i < by_assignment_->items() : read_.contains(i); }
    bool has_owner_node(item_index i) const;

    /// Empty if nobody owns the item. Precondition: has_owner_node(i).
    std::string const& owner(item_index i) const;

    /// Precondition: has_owner_node(i), and it was read.
    node_version version(item_index i) const { return read_.at(i).instance->stat.version; }

    /// One more than the highest item that has a node.
    item_index end() const;

private:
    assignment const* by_assignment_ = nullptr;
    std::map<item_index, reading> read_;
};

/// Takes two round trips and one request per item. Ignores children of `sharding` whose names are not numbers. Errors:
/// those of the registry.
template <registry Registry>
task<result<item_nodes>> read_item_nodes(Registry& r, job_layout at) {
    std::map<item_index, typename item_nodes::reading> read;
    auto names = co_await r.children(at.sharding());
    if (!names && !(names.error() == errc::no_node)) co_return std::move(names).error();
    if (!names) co_return item_nodes{std::move(read)};
    std::vector<item_index> items;
    for (auto const& name : *names) {
        auto const i = detail::parse_number<item_index>(name);
        if (i) items.push_back(*i);
    }
    auto const read_owner = [&](item_index i) { return r.get(at.item_instance(i)); };
    auto owners = co_await gather_each(r.loop(), items, read_owner);
    for (std::size_t n = 0; n < items.size(); ++n) {
        if (!owners[n] && !(owners[n].error() == errc::no_node)) co_return std::move(owners[n]).error();
        typename item_nodes::reading one;
        if (owners[n]) one.instance = *std::move(owners[n]);
        read.emplace(items[n], std::move(one));
    }
    co_return item_nodes{std::move(read)};
}

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/sharding/item_nodes.ipp>
#endif
#endif // ELASTICJOB_SHARDING_ITEM_NODES_HPP
