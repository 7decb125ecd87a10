// SPDX-License-Identifier: Apache-2.0
/// \file \brief Which items an instance has, and up to which instant it has dealt with each.
#ifndef ELASTICJOB_EXECUTION_DEALT_ITEMS_HPP
#define ELASTICJOB_EXECUTION_DEALT_ITEMS_HPP

#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/identity.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace elasticjob::detail {

/// The items that an instance looks after. An item is dealt with up to an instant if it neither runs for it or an
/// earlier one, nor waits to be tried again. A value. Threads: any one.
class dealt_items {
public:
    /// It is not known yet how far the item is. O(log items).
    void take(item_index i);

    /// The item is dealt with up to that instant; an earlier one than is known changes nothing. Returns whether it is
    /// news. O(log items).
    bool deal(item_index i, wall_time through);

    /// Another instance looks after it. O(log items).
    void drop(item_index i);

    /// Whether all are dealt with up to that instant. True if there are none. O(1).
    bool all_through(wall_time due) const noexcept { return counts_.empty() || counts_.begin()->first >= due; }

    /// Grows when an item comes or goes.
    std::uint64_t edition() const noexcept { return edition_; }

    /// In ascending order. O(items).
    std::vector<item_index> list() const;

private:
    void count(wall_time through) { ++counts_[through]; }
    void discount(wall_time through);

    std::map<item_index, wall_time> through_;
    std::map<wall_time, std::size_t> counts_; ///< of the items that are dealt with up to there and no further
    std::uint64_t edition_ = 0;
};

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/dealt_items.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_DEALT_ITEMS_HPP
