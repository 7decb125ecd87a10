// SPDX-License-Identifier: Apache-2.0
/// \file \brief A strategy for items that only some instances can own, by the labels of items and instances.
#ifndef ELASTICJOB_ALLOCATION_LABEL_HPP
#define ELASTICJOB_ALLOCATION_LABEL_HPP

#include <elasticjob/allocation/label_flow.hpp>
#include <elasticjob/allocation/rebalance.hpp>
#include <elasticjob/allocation/stored_runs.hpp>
#include <elasticjob/allocation/strategy.hpp>
#include <elasticjob/core/decl.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// Every item goes to an instance that has all labels that the item needs. The loads are as even as that allows: the
/// largest load is the least possible, then the second largest, and so on. An item that no instance may own gets no
/// owner (`no_slot`) and waits until an instance with its labels joins; the other items do not wait for it.
///
/// Items stay with their owners as far as the loads allow. The number of moves is not always minimal. But if the
/// strategy's own result is passed as the previous owners, no item moves.
///
/// Items with the same needs form a class, and instances that may own the same classes form a group. The flow goes from
/// classes to groups (see label_flow.hpp), not from items to instances. O(runs + classes * instances), plus the flow;
/// allocates 4 bytes for each class and instance. Intended for up to some hundreds of different needs.
/// Source: optimal semi-matchings (Harvey, Ladner, Lovász, Tamir, "Semi-matchings for bipartite graphs and load
/// balancing", 2003), computed as a maximum flow whose limits grow.
struct LabelAllocation {
    static constexpr std::string_view name = "elasticjob.LabelAllocation";
    static constexpr bool uses_traits = true;

    partial_runs operator()(sharding_request const& request) const;

private:
    using class_index = std::uint32_t;

    /// A sequence of items of one class, up to `end`.
    struct stretch {
        item_index end;
        class_index kind;
    };

    class plan {
    public:
        explicit plan(sharding_request const& request);

        std::vector<run> runs();

    private:
        std::uint32_t slots() const noexcept { return request_.instance_count(); }
        std::uint32_t& had(class_index k, slot_index s) { return had_[k * std::size_t{slots()} + s]; }
        std::uint32_t& share(class_index k, slot_index s) { return share_[k * std::size_t{slots()} + s]; }

        void read_classes();

        void read_groups();

        void count_previous();

        detail::label_flow new_flow() const;

        void keep_previous(detail::label_flow& flow);

        /// Computes the number of items of each class for each instance: the group's items, shared evenly, with its
        /// previous ones first.
        void share_within_groups(detail::label_flow const& flow);

        std::vector<run> deal();

        /// Visits the items in pieces with one class and one previous owner.
        template <class Visit>
        void for_each_piece(Visit visit) const {
            item_index begin = 0;
            auto before = previous_.begin();
            for (auto const& s : stretches_)
                while (begin != s.end) {
                    while (before != previous_.end() && before->end <= begin) ++before;
                    bool const is_known = before != previous_.end();
                    auto const end = is_known ? std::min(before->end, s.end) : s.end;
                    visit(begin, end, s.kind, is_known ? before->owner : no_slot);
                    begin = end;
                }
        }

        sharding_request const& request_;
        std::vector<std::string_view> needed_; ///< by class
        std::vector<std::uint32_t> items_;     ///< by class: their number
        std::vector<bool> can_go_;             ///< by class: whether some instance may own it
        std::vector<stretch> stretches_;
        std::vector<std::uint32_t> sizes_; ///< by group: the number of instances
        std::vector<std::string> masks_;   ///< by group: for each class y or n, whether it may own the class
        std::vector<std::uint32_t> group_of_;
        std::vector<run> storage_;
        std::span<run const> previous_;
        std::vector<std::uint32_t> had_, share_; ///< by class and slot
    };
};

static_assert(sharding_strategy<LabelAllocation>);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/allocation/label.ipp>
#endif
#endif // ELASTICJOB_ALLOCATION_LABEL_HPP
