// SPDX-License-Identifier: Apache-2.0
/// \file \brief An allocation over a list of runs, and the conversion of any allocation into such a list, which is its
/// stored form.
#ifndef ELASTICJOB_ALLOCATION_RUN_LIST_HPP
#define ELASTICJOB_ALLOCATION_RUN_LIST_HPP

#include <elasticjob/allocation/allocation.hpp>

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

namespace elasticjob {

/// The items of one slot in a run list, in ascending order. A borrowed forward range, and a view for the standard
/// library and (allocation/range_v3.hpp) for range-v3. It refers to the storage of the runs. An iteration is O(runs +
/// its items), and so is `begin` in the worst case.
class run_items : public std::ranges::view_base {
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

        constexpr iterator& operator++() noexcept {
            if (++item_ == run_->end) {
                ++run_;
                skip_others();
            }
            return *this;
        }
        constexpr iterator operator++(int) noexcept {
            auto const old = *this;
            ++*this;
            return old;
        }

        friend constexpr bool operator==(iterator const& a, iterator const& b) noexcept { return a.item_ == b.item_; }

    private:
        friend run_items;
        constexpr iterator(run const* at, run const* last, slot_index slot, item_index item) noexcept
            : run_{at}, last_{last}, slot_{slot}, item_{item} {}

        constexpr void skip_others() noexcept {
            for (; run_ != last_ && run_->owner != slot_; ++run_) item_ = run_->end;
        }

        run const* run_ = nullptr;
        run const* last_ = nullptr;
        slot_index slot_ = 0;
        item_index item_ = 0;
    };

    /// No items.
    constexpr run_items() = default;

    constexpr run_items(std::span<run const> runs, slot_index slot) noexcept : runs_{runs}, slot_{slot} {}

    constexpr iterator begin() const noexcept {
        iterator first{runs_.data(), past_the_runs(), slot_, 0};
        first.skip_others();
        return first;
    }
    constexpr iterator end() const noexcept {
        return {past_the_runs(), past_the_runs(), slot_, runs_.empty() ? 0 : runs_.back().end};
    }

private:
    constexpr run const* past_the_runs() const noexcept { return runs_.data() + runs_.size(); }

    std::span<run const> runs_;
    slot_index slot_ = 0;
};

/// The allocation that a list of runs describes. The list belongs to the caller and must outlive this view. `owner` is
/// O(log runs). Precondition: `is_run_list(instances, runs)`; check it for data from outside.
class run_list_view {
public:
    /// No items and no instances.
    constexpr run_list_view() = default;

    constexpr run_list_view(std::uint32_t instances, std::span<run const> runs) noexcept
        : runs_{runs}, instances_{instances} {}

    constexpr std::uint32_t instances() const noexcept { return instances_; }
    constexpr std::uint32_t items() const noexcept { return runs_.empty() ? 0 : runs_.back().end; }

    /// Precondition: item < items().
    constexpr slot_index owner(item_index item) const noexcept {
        assert(item < items());
        // The wanted run is the first one that ends after the item; it is one of `count` runs from `first`.
        auto const* first = runs_.data();
        for (auto count = runs_.size(); count > 1;) {
            auto const half = count / 2;
            if (first[half - 1].end <= item) first += half;
            count -= half;
        }
        return first->owner;
    }

    /// Precondition: slot < instances().
    constexpr run_items items_of(slot_index slot) const noexcept {
        assert(slot < instances_);
        return {runs_, slot};
    }

    template <class Visit>
    constexpr void for_each_run(Visit visit) const {
        for (run const& r : runs_) visit(r);
    }

private:
    std::span<run const> runs_;
    std::uint32_t instances_ = 0;
};

/// Whether the runs describe an allocation over `instances` instances: no run is empty, neighbouring runs have
/// different owners, and every owner is a slot, or `no_slot` if `may_leave_items`. O(runs).
constexpr bool is_run_list(std::uint32_t instances, std::span<run const> runs, bool may_leave_items = false) noexcept {
    run before{0, no_slot};
    for (run const& r : runs) {
        bool const is_somebody = r.owner < instances || (may_leave_items && r.owner == no_slot);
        bool const is_joined = before.end == 0 || r.owner != before.owner;
        if (r.end <= before.end || !is_joined || !is_somebody) return false;
        before = r;
    }
    return true;
}

/// Appends the runs of an allocation to `out`. O(runs) if the allocation has `for_each_run`, else O(items).
template <allocation Allocation>
constexpr void append_runs(Allocation const& allocation, std::vector<run>& out) {
    if constexpr (detail::allocation_lists_its_runs<Allocation>) {
        allocation.for_each_run([&](run const& r) { out.push_back(r); });
    } else {
        auto const begin = out.size();
        for (item_index item = 0; item != allocation.items(); ++item) {
            auto const owner = allocation.owner(item);
            if (out.size() == begin || out.back().owner != owner) out.push_back({item, owner});
            out.back().end = item + 1;
        }
    }
}

} // namespace elasticjob

template <>
inline constexpr bool std::ranges::enable_borrowed_range<elasticjob::run_items> = true;

#endif // ELASTICJOB_ALLOCATION_RUN_LIST_HPP
