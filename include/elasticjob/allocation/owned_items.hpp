// SPDX-License-Identifier: Apache-2.0
/// \file \brief The items of one slot, found by a look-up of every item's owner.
#ifndef ELASTICJOB_ALLOCATION_OWNED_ITEMS_HPP
#define ELASTICJOB_ALLOCATION_OWNED_ITEMS_HPP

#include <elasticjob/core/identity.hpp> // item_index, slot_index
#include <elasticjob/core/memory.hpp>   // addressof

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace elasticjob {

/// All items that `allocation.owner` maps to one slot, in ascending order: the generic `items_of`. It refers to the
/// allocation, which must outlive the range and its iterators.
///
/// A borrowed forward range, and a view for the standard library and (allocation/range_v3.hpp) for range-v3. Stores
/// nothing. An iteration looks up each owner once: O(items). `begin` alone is O(items) in the worst case.
template <class Allocation>
class owned_items : public std::ranges::view_base {
public:
    class iterator {
    public:
        using value_type = item_index;
        using reference = item_index;
        using pointer = void;
        using difference_type = std::ptrdiff_t;
        using iterator_concept = std::forward_iterator_tag;
        using iterator_category = std::input_iterator_tag; // as in C++17, because it returns values, not references

        constexpr iterator() = default;

        constexpr item_index operator*() const noexcept { return item_; }

        constexpr iterator& operator++() {
            ++item_;
            skip_others();
            return *this;
        }
        constexpr iterator operator++(int) {
            auto const old = *this;
            ++*this;
            return old;
        }

        friend constexpr bool operator==(iterator const& a, iterator const& b) noexcept { return a.item_ == b.item_; }

    private:
        friend owned_items;
        constexpr iterator(Allocation const* allocation, slot_index slot, item_index item) noexcept
            : allocation_{allocation}, slot_{slot}, item_{item} {}

        constexpr void skip_others() {
            while (item_ != allocation_->items() && allocation_->owner(item_) != slot_) ++item_;
        }

        Allocation const* allocation_ = nullptr;
        slot_index slot_ = 0;
        item_index item_ = 0;
    };

    /// Valid only as the target of an assignment.
    constexpr owned_items() = default;

    constexpr owned_items(Allocation const& allocation, slot_index slot) noexcept
        : allocation_{std::addressof(allocation)}, slot_{slot} {}

    constexpr iterator begin() const {
        iterator first{allocation_, slot_, 0};
        first.skip_others();
        return first;
    }
    constexpr iterator end() const { return {allocation_, slot_, allocation_->items()}; }

private:
    Allocation const* allocation_ = nullptr;
    slot_index slot_ = 0;
};

} // namespace elasticjob

template <class Allocation>
inline constexpr bool std::ranges::enable_borrowed_range<elasticjob::owned_items<Allocation>> = true;

#endif // ELASTICJOB_ALLOCATION_OWNED_ITEMS_HPP
