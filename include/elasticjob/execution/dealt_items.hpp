// SPDX-License-Identifier: Apache-2.0
/// \file \brief The items of an instance, and the instants that each has handled.
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

/// The items that an instance owns. An item has handled an instant if no run for it or an earlier one is live or waits
/// for a retry. A value. Threads: any one.
class dealt_items {
public:
    /// Adds an item whose handled instants are unknown. O(log items).
    void take(item_index i);

    /// The item has handled every instant up to `through`; an earlier one than the known one changes nothing. Returns
    /// whether this is new. O(log items).
    bool deal(item_index i, wall_time through);

    /// Removes an item that another instance owns now. O(log items).
    void drop(item_index i);

    /// Whether all items have handled that instant. True if there are none. O(1).
    bool all_through(wall_time due) const noexcept { return counts_.empty() || counts_.begin()->first >= due; }

    bool is_through(item_index i, wall_time due) const; ///< O(log items)

    std::size_t count_through(wall_time due) const; ///< the number of items that have handled it; O(instants)

    std::size_t size() const noexcept { return through_.size(); }

    /// Increases when an item is added or removed.
    std::uint64_t edition() const noexcept { return edition_; }

    /// In ascending order. O(items).
    std::vector<item_index> list() const;

private:
    void count(wall_time through) { ++counts_[through]; }
    void discount(wall_time through);

    std::map<item_index, wall_time> through_;
    std::map<wall_time, std::size_t> counts_; ///< the number of items by the last instant they have handled
    std::uint64_t edition_ = 0;
};

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/dealt_items.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_DEALT_ITEMS_HPP
