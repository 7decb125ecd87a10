// SPDX-License-Identifier: Apache-2.0
/// \file \brief The role of an allocation: which instance owns which sharding item.
#ifndef ELASTICJOB_ALLOCATION_ALLOCATION_HPP
#define ELASTICJOB_ALLOCATION_ALLOCATION_HPP

#include <elasticjob/core/identity.hpp> // item_index, slot_index

#include <concepts>
#include <cstdint>
#include <iterator>
#include <span> // brings the range concepts in, without the views of <ranges>

namespace elasticjob {

/// The slot of an item without an owner.
inline constexpr slot_index no_slot = static_cast<slot_index>(-1);

/// A sequence of consecutive items with one owner. It begins at the end of the previous run (the first one at item 0)
/// and ends before the item `end`.
struct run {
    item_index end;
    slot_index owner;

    friend constexpr bool operator==(run const&, run const&) = default;
};

namespace detail {

template <class A>
concept allocation_knows_its_size = requires(A const& a) {
    { a.instances() } -> std::same_as<std::uint32_t>;
    { a.items() } -> std::same_as<std::uint32_t>;
};

template <class A>
concept allocation_knows_the_owner = requires(A const& a, item_index item) {
    { a.owner(item) } -> std::same_as<slot_index>;
};

template <class R>
concept range_of_items =
    std::ranges::forward_range<R> && std::same_as<std::iter_value_t<std::ranges::iterator_t<R>>, item_index>;

template <class A>
concept allocation_lists_the_items = requires(A const& a, slot_index slot) {
    { a.items_of(slot) } -> range_of_items;
};

/// Whether the allocation may leave items without an owner.
template <class A>
inline constexpr bool allocation_may_leave_items = false;
template <class A>
requires requires { A::may_leave_items; }
inline constexpr bool allocation_may_leave_items<A> = A::may_leave_items;

/// Optional: the allocation lists its runs without a call for every item.
template <class A>
concept allocation_lists_its_runs = requires(A const& a, void (*visit)(run)) {
    a.for_each_run(visit);
};

} // namespace detail

/// The result of a sharding strategy: a value that maps every item to the slot of its owner, an index into the list of
/// instances.
///
/// | expression          | returns                     | must hold                                               |
/// |---------------------|-----------------------------|---------------------------------------------------------|
/// | `a.instances()`     | `std::uint32_t`             | the number of slots                                     |
/// | `a.items()`         | `std::uint32_t`             | the number of items; 0 if there are no slots            |
/// | `a.owner(item)`     | `slot_index`                | for item < items(): less than instances()               |
/// | `a.items_of(slot)`  | forward range of item_index | for slot < instances(): all items with this owner,      |
/// |                     |                             | each once, in ascending order                           |
/// | `a.for_each_run(f)` | optional                    | calls f(run) for all runs in order; neighbouring runs   |
/// |                     |                             | have different owners, the last one ends at items()     |
/// | `A::may_leave_items`| optional, `bool`            | true: the owner of an item may be `no_slot`, and then   |
/// |                     |                             | it is in the range of no slot                           |
///
/// So every item has exactly one owner, or none if `may_leave_items` allows it, and repeated calls return the same
/// result. The ranges of the arguments are preconditions. The range of items may refer to the allocation, which must
/// then outlive it.
///
/// Laws: test/laws/allocation.hpp. Models: closed_form, computed_allocation, owner_table, run_list_view, stored_runs,
/// partial_runs.
/// Threads: const calls may run at the same time.
template <class A>
concept allocation = std::move_constructible<A> && detail::allocation_knows_its_size<A> &&
    detail::allocation_knows_the_owner<A> && detail::allocation_lists_the_items<A>;

} // namespace elasticjob
#endif // ELASTICJOB_ALLOCATION_ALLOCATION_HPP
