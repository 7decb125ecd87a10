// SPDX-License-Identifier: Apache-2.0
/// \file \brief An allocation that a function computes, for your own strategies.
#ifndef ELASTICJOB_ALLOCATION_COMPUTED_HPP
#define ELASTICJOB_ALLOCATION_COMPUTED_HPP

#include <elasticjob/allocation/allocation.hpp>
#include <elasticjob/allocation/owned_items.hpp>
#include <elasticjob/allocation/strategy.hpp>

#include <cassert>
#include <concepts>
#include <cstdint>
#include <utility>

namespace elasticjob {

/// A function that returns the slot of an item as any integer type.
template <class F>
concept owner_function = std::move_constructible<F> && requires(F const& f, item_index item) {
    { f(item) } -> std::integral;
};

/// An allocation whose owners a function computes. It stores only that function. `owner` calls it once, and an
/// iteration over `items_of` calls it items() times. The function must be pure and must return less than instances().
/// Constexpr if the function is. Made by `allocate_by`.
template <owner_function Owner>
class computed_allocation {
public:
    constexpr computed_allocation(std::uint32_t instances, std::uint32_t items, Owner owner)
        : owner_{std::move(owner)}, instances_{instances}, items_{instances == 0 ? 0 : items} {}

    constexpr std::uint32_t instances() const noexcept { return instances_; }
    constexpr std::uint32_t items() const noexcept { return items_; }

    /// Precondition: item < items().
    constexpr slot_index owner(item_index item) const {
        assert(item < items_);
        auto const slot = owner_(item);
        assert(std::in_range<slot_index>(slot) && static_cast<slot_index>(slot) < instances_);
        return static_cast<slot_index>(slot);
    }

    /// Precondition: slot < instances(). The range refers to this object.
    constexpr owned_items<computed_allocation> items_of(slot_index slot) const& noexcept {
        assert(slot < instances_);
        return {*this, slot};
    }
    void items_of(slot_index) const&& = delete;

private:
    Owner owner_;
    std::uint32_t instances_;
    std::uint32_t items_;
};

/// Assigns every item of the request to the instance in slot `owner(item)`. Without instances the allocation is empty
/// and `owner` is not called, so `owner` may divide by their number.
///
/// A strategy that returns this allocation must capture by value, and only the parts of the request that it needs:
/// \code
/// struct RoundRobin {
///     static constexpr std::string_view name = "com.example.RoundRobin";
///     constexpr auto operator()(sharding_request const& request) const {
///         return allocate_by(request, [n = request.instance_count()](item_index item) { return item % n; });
///     }
/// };
/// \endcode
template <owner_function Owner>
constexpr computed_allocation<Owner> allocate_by(sharding_request const& request, Owner owner) {
    return {request.instance_count(), request.item_count, std::move(owner)};
}

static_assert(allocation<computed_allocation<slot_index (*)(item_index)>>);

} // namespace elasticjob
#endif // ELASTICJOB_ALLOCATION_COMPUTED_HPP
