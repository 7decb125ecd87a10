// SPDX-License-Identifier: Apache-2.0
/// \file \brief The items of one instance under an average allocation, as a range that stores none of them.
#ifndef ELASTICJOB_ALLOCATION_SHARD_RANGE_HPP
#define ELASTICJOB_ALLOCATION_SHARD_RANGE_HPP

#include <elasticjob/allocation/write_run.hpp>
#include <elasticjob/core/identity.hpp> // item_index

#include <cassert>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>

namespace elasticjob {

/// Consecutive items, and at most one single item after them: the share of an instance in an average allocation.
///
/// A random access, sized and borrowed range, and a view for the standard library and (allocation/range_v3.hpp) for
/// range-v3. 16 bytes without references, so it may outlive the allocation. All functions are O(1) and constexpr,
/// except those that visit or write the items, which are O(items). Preconditions are those of a container: an index is
/// less than size(), an iterator is dereferenced inside the range.
class shard_range : public std::ranges::view_base {
public:
    class iterator;

    /// No items.
    constexpr shard_range() = default;

    /// The items [first, first + length).
    constexpr shard_range(item_index first, std::uint32_t length) noexcept
        : first_{first}, length_{length}, size_{length} {}

    /// The items [first, first + length), and then `tail`, which is greater than all of them.
    constexpr shard_range(item_index first, std::uint32_t length, item_index tail) noexcept
        : first_{first}, length_{length}, tail_{tail}, size_{length + 1} {
        assert(length == 0 || tail - first >= length);
    }

    constexpr iterator begin() const noexcept;
    constexpr iterator end() const noexcept;
    constexpr std::uint32_t size() const noexcept { return size_; }
    constexpr bool empty() const noexcept { return size_ == 0; }

    constexpr item_index operator[](std::uint32_t index) const noexcept {
        assert(index < size_);
        return index < length_ ? first_ + index : tail_;
    }

    constexpr bool contains(item_index item) const noexcept {
        // For items below `first` the difference wraps around to a value that is not less than the length.
        return item - first_ < length_ || (has_tail() && item == tail_);
    }

    /// Calls `visit(item)` for all items in ascending order. Faster than the iterator if the call is cheap, because the
    /// loop does not check its position at each item.
    template <class Visit>
    constexpr void for_each(Visit visit) const {
        for (std::uint32_t i = 0; i != length_; ++i) visit(first_ + i);
        if (has_tail()) visit(tail_);
    }

    /// Writes the items to the first size() elements of `out`, four at a time. Precondition: out.size() >= size().
    constexpr void copy_to(std::span<item_index> out) const noexcept {
        assert(out.size() >= size_);
        write<detail::narrow_blocks>(out.data());
    }

private:
    friend class closed_form;

    template <class Blocks>
    [[gnu::always_inline]] constexpr void write(item_index* out) const noexcept {
        Blocks::write_run(out, length_, first_, 1);
        if (has_tail()) out[length_] = tail_;
    }

    constexpr bool has_tail() const noexcept { return size_ != length_; }

    item_index first_ = 0;
    std::uint32_t length_ = 0;
    item_index tail_ = 0;
    std::uint32_t size_ = 0;
};

/// Holds a copy of the necessary data, so it may outlive the range.
class shard_range::iterator {
public:
    using value_type = item_index;
    using reference = item_index;
    using pointer = void;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::random_access_iterator_tag;
    using iterator_category = std::input_iterator_tag; // as in C++17, because it returns values, not references

    constexpr iterator() = default;

    constexpr item_index operator*() const noexcept { return at(position_); }
    constexpr item_index operator[](difference_type n) const noexcept { return at(position_ + n); }

    constexpr iterator& operator+=(difference_type n) noexcept {
        position_ += n;
        return *this;
    }
    constexpr iterator& operator-=(difference_type n) noexcept { return *this += -n; }
    constexpr iterator& operator++() noexcept { return *this += 1; }
    constexpr iterator& operator--() noexcept { return *this -= 1; }
    constexpr iterator operator++(int) noexcept {
        auto const old = *this;
        ++*this;
        return old;
    }
    constexpr iterator operator--(int) noexcept {
        auto const old = *this;
        --*this;
        return old;
    }

    friend constexpr iterator operator+(iterator i, difference_type n) noexcept { return i += n; }
    friend constexpr iterator operator+(difference_type n, iterator i) noexcept { return i += n; }
    friend constexpr iterator operator-(iterator i, difference_type n) noexcept { return i -= n; }
    friend constexpr difference_type operator-(iterator const& a, iterator const& b) noexcept {
        return a.position_ - b.position_;
    }
    friend constexpr bool operator==(iterator const& a, iterator const& b) noexcept {
        return a.position_ == b.position_;
    }
    friend constexpr std::strong_ordering operator<=>(iterator const& a, iterator const& b) noexcept {
        return a.position_ <=> b.position_;
    }

private:
    friend shard_range;
    constexpr iterator(shard_range const& range, difference_type position) noexcept
        : first_{range.first_}, length_{range.length_}, tail_{range.tail_}, position_{position} {}

    constexpr item_index at(difference_type position) const noexcept {
        return position < static_cast<difference_type>(length_) ? first_ + static_cast<std::uint32_t>(position) : tail_;
    }

    item_index first_ = 0;
    std::uint32_t length_ = 0;
    item_index tail_ = 0;
    difference_type position_ = 0;
};

constexpr shard_range::iterator shard_range::begin() const noexcept { return {*this, 0}; }
constexpr shard_range::iterator shard_range::end() const noexcept {
    return {*this, static_cast<std::ptrdiff_t>(size_)};
}

} // namespace elasticjob

template <>
inline constexpr bool std::ranges::enable_borrowed_range<elasticjob::shard_range> = true;

static_assert(sizeof(elasticjob::shard_range) == 16);

#endif // ELASTICJOB_ALLOCATION_SHARD_RANGE_HPP
