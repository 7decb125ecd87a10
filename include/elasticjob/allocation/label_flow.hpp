// SPDX-License-Identifier: Apache-2.0
/// \file \brief The flow behind LabelAllocation: how many items of each kind go to which group of like instances.
#ifndef ELASTICJOB_ALLOCATION_LABEL_FLOW_HPP
#define ELASTICJOB_ALLOCATION_LABEL_FLOW_HPP

#include <elasticjob/core/decl.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace elasticjob::detail {

/// Sends items of classes to groups of instances. An item may go to a group that is open to its class; a group takes up
/// to its limit. Dinic's algorithm on the graph source -> classes -> groups -> sink: limits may be raised between calls
/// of `send`, and what a group has been sent never becomes less, only other.
class label_flow {
public:
    using amount = std::uint64_t;

    label_flow(std::vector<amount> items_of_classes, std::size_t groups);

    std::size_t classes() const noexcept { return left.size(); }
    std::size_t groups() const noexcept { return load.size(); }

    bool is_open(std::size_t k, std::size_t g) const { return open_[k * groups() + g]; }
    void open(std::size_t k, std::size_t g) { open_[k * groups() + g] = true; }
    amount sent(std::size_t k, std::size_t g) const { return sent_[k * groups() + g]; }

    /// Without looking for a better way. Precondition: it is open, the class has so many left, the group has room.
    void put(std::size_t k, std::size_t g, amount a);

    /// Sends as much as the limits allow. Afterwards `is_reached` tells which groups could be sent more, or at least
    /// something else, if any limit were higher.
    void send();
    bool is_reached(std::size_t g) const { return group_level_[g] != unreached; }

    std::vector<amount> left; ///< by class: what has not been sent
    std::vector<amount> load; ///< by group: what it has been sent
    std::vector<amount> limit;

private:
    static constexpr std::uint32_t unreached = 0xFFFF'FFFF;

    amount& on_way(std::size_t k, std::size_t g) { return sent_[k * groups() + g]; }

    /// Breadth first from all classes with something left; gives whether a group with room was found.
    bool find_levels();

    amount push_class(std::size_t k, amount most);

    amount push_group(std::size_t g, amount most);

    std::vector<bool> open_;
    std::vector<amount> sent_;
    std::vector<std::uint32_t> class_level_, group_level_;
    std::vector<std::size_t> class_at_, group_at_; ///< the ways before these lead nowhere at this level
};

/// Sends all items so that the loads are as even as the open ways allow: no instance's load can be made smaller without
/// making that of one with at least as much larger; so the largest load is the least possible, and of those allocations
/// the second largest, and so on. Precondition: every class with items has an open group.
///
/// The limit of all groups is raised together. A group that cannot be filled up to it will never get more, because what
/// can still be sent does not reach it, and is left behind. Levels at which nothing is left behind are jumped over: the
/// next guess is what there is, shared by all, and if some group cannot be filled so far, what those that cannot get by
/// themselves (Newton's method on the cut).
void send_evenly(label_flow& flow, std::vector<std::uint32_t> const& instances_of_groups);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/allocation/label_flow.ipp>
#endif
#endif // ELASTICJOB_ALLOCATION_LABEL_FLOW_HPP
