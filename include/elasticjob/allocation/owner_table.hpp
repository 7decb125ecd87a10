// SPDX-License-Identifier: Apache-2.0
/// \file \brief An allocation over a table with the owner of each item.
#ifndef ELASTICJOB_ALLOCATION_OWNER_TABLE_HPP
#define ELASTICJOB_ALLOCATION_OWNER_TABLE_HPP

#include <elasticjob/allocation/allocation.hpp>
#include <elasticjob/allocation/owned_items.hpp>

#include <cassert>
#include <cstdint>
#include <span>

namespace elasticjob {

/// The allocation that assigns item i to the slot owners[i]. The table belongs to the caller and must outlive this
/// view. Every entry must be less than instances(). `owner` is O(1), an iteration over `items_of` is O(items).
class owner_table {
public:
    /// No items and no instances.
    constexpr owner_table() = default;

    constexpr owner_table(std::uint32_t instances, std::span<slot_index const> owners) noexcept
        : owners_{owners}, instances_{instances} {
        assert(instances != 0 || owners.empty());
    }

    constexpr std::uint32_t instances() const noexcept { return instances_; }
    constexpr std::uint32_t items() const noexcept { return static_cast<std::uint32_t>(owners_.size()); }

    /// Precondition: item < items().
    constexpr slot_index owner(item_index item) const noexcept {
        assert(item < items() && owners_[item] < instances_);
        return owners_[item];
    }

    /// Precondition: slot < instances(). The range refers to this object.
    constexpr owned_items<owner_table> items_of(slot_index slot) const& noexcept {
        assert(slot < instances_);
        return {*this, slot};
    }
    void items_of(slot_index) const&& = delete;

private:
    std::span<slot_index const> owners_;
    std::uint32_t instances_ = 0;
};

static_assert(allocation<owner_table>);

} // namespace elasticjob
#endif // ELASTICJOB_ALLOCATION_OWNER_TABLE_HPP
