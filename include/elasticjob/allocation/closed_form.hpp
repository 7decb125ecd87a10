// SPDX-License-Identifier: Apache-2.0
/// \file \brief An average allocation as six numbers; each look-up takes a few nanoseconds.
#ifndef ELASTICJOB_ALLOCATION_CLOSED_FORM_HPP
#define ELASTICJOB_ALLOCATION_CLOSED_FORM_HPP

#include <elasticjob/allocation/allocation.hpp>
#include <elasticjob/allocation/shard_range.hpp>
#include <elasticjob/allocation/write_run.hpp>
#include <elasticjob/core/algorithm.hpp> // min

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

namespace elasticjob {

/// The order in which the instances get their items: reversed if `reversed`, and then rotated to the left by `shift`
/// places (to the right if that is negative).
struct instance_order {
    bool reversed = false;
    std::int64_t rotated_left = 0;
};

/// The average allocation of m items over n instances in some order, which is the common form of ElasticJob's three
/// strategies.
///
/// With q = m / n and r = m % n, the instance served at position p gets the q items from p * q, and then, if p < r, the
/// item n * q + p. So the shares differ by one at most. Without instances there are no items: items() is 0.
///
/// 24 bytes, a literal type, without further storage. `owner`, `items_of` and `==` are O(1). Equal values are equal
/// allocations. (Different values may also be equal allocations: two instances reversed are the same as two instances
/// rotated by one.)
/// Source: ElasticJob-Lite 2.1.5, rules SG-3 to SG-5. Threads: a value.
class closed_form {
public:
    /// No items and no instances.
    constexpr closed_form() = default;

    constexpr closed_form(std::uint32_t instances, std::uint32_t items, instance_order order = {}) noexcept
        : instances_{instances} {
        if (instances == 0) return;
        auto const turn = order.rotated_left % static_cast<std::int64_t>(instances);
        items_ = items;
        quotient_ = items / instances;
        remainder_ = items % instances;
        shift_ = static_cast<std::uint32_t>(turn < 0 ? turn + instances : turn);
        reversed_ = order.reversed;
    }

    constexpr std::uint32_t instances() const noexcept { return instances_; }
    constexpr std::uint32_t items() const noexcept { return items_; }

    /// The order. Together with instances() and items() it defines the value, so these three must be stored.
    constexpr instance_order order() const noexcept { return {reversed_, shift_}; }

    /// Precondition: item < items().
    constexpr slot_index owner(item_index item) const noexcept {
        assert(item < items_);
        return slot_at(item < body() ? item / quotient_ : item - body());
    }

    /// Precondition: slot < instances().
    constexpr shard_range items_of(slot_index slot) const noexcept {
        assert(slot < instances_);
        auto const position = position_of(slot);
        auto const first = position * quotient_;
        return position < remainder_ ? shard_range{first, quotient_, body() + position} : shard_range{first, quotient_};
    }

    /// Calls `visit(run)` for all runs in order. O(min(instances, items)).
    template <class Visit>
    constexpr void for_each_run(Visit visit) const {
        item_index end = 0;
        if (quotient_ != 0)
            for (std::uint32_t position = 0; position != instances_; ++position)
                visit(run{end += quotient_, slot_at(position)});
        for (std::uint32_t position = 0; position != remainder_; ++position) visit(run{++end, slot_at(position)});
    }

    /// Writes the owner of item i to out[i], at the speed of memory. Precondition: out.size() >= items().
    constexpr void copy_owners(std::span<slot_index> out) const noexcept;

    /// Writes the items of slot 0, then those of slot 1 and so on, at the speed of memory. The sizes of `items_of` tell
    /// where the items of each slot end. Precondition: out.size() >= items().
    constexpr void copy_items(std::span<item_index> out) const noexcept;

    friend constexpr bool operator==(closed_form const&, closed_form const&) = default;

private:
    template <class Blocks>
    [[gnu::always_inline]] constexpr void write_owners(slot_index* out) const noexcept {
        write_body<Blocks>(out);
        if (remainder_ == 0) return;
        auto* const rest = out + body();
        auto const until_turn = std::min(remainder_, instances_ - shift_);
        Blocks::write_run(rest, until_turn, slot_at(0), step());
        if (until_turn == remainder_) return;
        Blocks::write_run(rest + until_turn, remainder_ - until_turn, slot_at(until_turn), step());
    }

    /// Writes the owners of all items before the remainder, and may also overwrite those after it. The slots at
    /// consecutive positions are consecutive numbers, except where the rotation wraps around.
    template <class Blocks>
    [[gnu::always_inline]] constexpr void write_body(slot_index* out) const noexcept {
        if (quotient_ == 0) return;
        auto const* const limit = out + items_;
        for (std::uint32_t position = 0; position != instances_;) {
            auto const next = position == 0 ? instances_ - shift_ : instances_;
            out = Blocks::write_runs(out, limit, next - position, quotient_, slot_at(position), step());
            position = next;
        }
    }

    /// The step from the slot at one position to the slot at the next.
    constexpr slot_index step() const noexcept { return reversed_ ? static_cast<slot_index>(-1) : slot_index{1}; }

    /// The number of items before the remainder.
    constexpr std::uint32_t body() const noexcept { return items_ - remainder_; }

    // Sums of two slots might not fit into 32 bits, so both directions compare before they add.
    constexpr slot_index slot_at(std::uint32_t position) const noexcept {
        auto const to_the_end = instances_ - shift_;
        auto const place = position < to_the_end ? position + shift_ : position - to_the_end;
        return reversed_ ? instances_ - 1 - place : place;
    }
    constexpr std::uint32_t position_of(slot_index slot) const noexcept {
        auto const place = reversed_ ? instances_ - 1 - slot : slot;
        return place < shift_ ? place + (instances_ - shift_) : place - shift_;
    }

    std::uint32_t instances_ = 0;
    std::uint32_t items_ = 0;
    std::uint32_t quotient_ = 0;
    std::uint32_t remainder_ = 0;
    std::uint32_t shift_ = 0;
    bool reversed_ = false;
};

static_assert(sizeof(closed_form) == 24);

constexpr void closed_form::copy_owners(std::span<slot_index> out) const noexcept {
    assert(out.size() >= items_);
    detail::in_widest_blocks(items_, [&](auto blocks) __attribute__((always_inline)) {
        write_owners<decltype(blocks)>(out.data());
    });
}

constexpr void closed_form::copy_items(std::span<item_index> out) const noexcept {
    assert(out.size() >= items_);
    detail::in_widest_blocks(items_, [&](auto blocks) __attribute__((always_inline)) {
        auto const self = *this; // keeps the members in registers in spite of the writes
        auto* next = out.data();
        for (slot_index slot = 0; slot != self.instances_; ++slot) {
            auto const share = self.items_of(slot);
            share.template write<decltype(blocks)>(next);
            next += share.size();
        }
    });
}

} // namespace elasticjob
#endif // ELASTICJOB_ALLOCATION_CLOSED_FORM_HPP
