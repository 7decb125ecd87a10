// SPDX-License-Identifier: Apache-2.0
/// \file \brief The flow algorithm of LabelAllocation: how many items go from each class to each group of instances.
#ifndef ELASTICJOB_ALLOCATION_LABEL_FLOW_HPP
#define ELASTICJOB_ALLOCATION_LABEL_FLOW_HPP

#include <elasticjob/core/decl.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace elasticjob::detail {

/// Sends items of classes to groups of instances. An item may go to a group that is open to its class, and a group
/// accepts items up to its limit. Dinic's algorithm on the graph source -> classes -> groups -> sink. Limits may be
/// raised between calls of `send`. The load of a group never decreases, but its items may be exchanged for others.
class label_flow {
public:
    using amount = std::uint64_t;

    label_flow(std::vector<amount> items_of_classes, std::size_t groups);

    std::size_t classes() const noexcept { return left.size(); }
    std::size_t groups() const noexcept { return load.size(); }

    bool is_open(std::size_t k, std::size_t g) const { return open_[k * groups() + g]; }
    void open(std::size_t k, std::size_t g) { open_[k * groups() + g] = true; }
    amount sent(std::size_t k, std::size_t g) const { return sent_[k * groups() + g]; }

    /// Sends items directly, without a search. Precondition: the group is open to the class, the class has that many
    /// items left, and the group has room.
    void put(std::size_t k, std::size_t g, amount a);

    /// Sends as much as the limits allow. Afterwards `is_reached` tells which groups could receive more items, or other
    /// ones, if a limit were higher.
    void send();
    bool is_reached(std::size_t g) const { return group_level_[g] != unreached; }

    std::vector<amount> left; ///< by class: the items that have not been sent
    std::vector<amount> load; ///< by group: the items that it has received
    std::vector<amount> limit;

private:
    static constexpr std::uint32_t unreached = 0xFFFF'FFFF;

    amount& on_way(std::size_t k, std::size_t g) { return sent_[k * groups() + g]; }

    /// Breadth-first search from all classes with items left. Returns whether it found a group with room.
    bool find_levels();

    amount push_class(std::size_t k, amount most);

    amount push_group(std::size_t g, amount most);

    std::vector<bool> open_;
    std::vector<amount> sent_;
    std::vector<std::uint32_t> class_level_, group_level_;
    std::vector<std::size_t> class_at_, group_at_; ///< the edges before these are exhausted at this level
};

/// Sends all items so that the loads are as even as possible: no instance's load can be reduced without increasing
/// another load that is at least as large. So the largest load is the least possible, then the second largest, and so
/// on. Precondition: every class with items has an open group.
///
/// Raises the limit of all groups together. If a group cannot be filled up to the limit, it will never get more,
/// because no remaining item can reach it, and is excluded. Skips limits at which no group would be excluded: the next
/// guess is the average over all groups. If some groups cannot be filled up to that, the next guess is the level of
/// those groups alone (Newton's method on the cut).
void send_evenly(label_flow& flow, std::vector<std::uint32_t> const& instances_of_groups);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/allocation/label_flow.ipp>
#endif
#endif // ELASTICJOB_ALLOCATION_LABEL_FLOW_HPP
