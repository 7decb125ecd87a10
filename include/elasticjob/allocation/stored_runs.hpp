// SPDX-License-Identifier: Apache-2.0
/// \file \brief An allocation that owns its runs, for strategies whose result has no formula.
#ifndef ELASTICJOB_ALLOCATION_STORED_RUNS_HPP
#define ELASTICJOB_ALLOCATION_STORED_RUNS_HPP

#include <elasticjob/allocation/allocation.hpp>
#include <elasticjob/allocation/run_list.hpp>
#include <elasticjob/allocation/write_run.hpp>

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace elasticjob {

namespace detail {

/// Assigns the items up to `end` to `owner`, in a new run or by extending the last one. Always inlined: g++ 12 at -O2
/// would not inline it, and the calls would take a quarter of the time of StickyAllocation.
template <class Run>
[[gnu::always_inline]] constexpr void extend_runs(std::vector<Run>& runs, item_index end, slot_index owner) {
    if (!runs.empty() && runs.back().owner == owner)
        runs.back().end = end;
    else
        runs.push_back({end, owner});
}

} // namespace detail

/// Runs with their storage: 8 bytes for each run. `owner` is O(log runs), an iteration over `items_of` O(runs + its
/// items). With `MayLeaveItems` runs may have the owner `no_slot`: their items have no owner. Precondition: the runs
/// are a run list over the instances (`is_run_list`). Threads: a value.
template <bool MayLeaveItems = false>
class basic_stored_runs {
public:
    static constexpr bool may_leave_items = MayLeaveItems;

    /// No items and no instances.
    constexpr basic_stored_runs() = default;

    constexpr basic_stored_runs(std::uint32_t instances, std::vector<run> runs) noexcept
        : runs_{std::move(runs)},
          instances_{instances} {
        assert(is_run_list(instances_, runs_, MayLeaveItems));
    }

    constexpr std::uint32_t instances() const noexcept { return instances_; }
    constexpr std::uint32_t items() const noexcept { return view().items(); }
    constexpr std::span<run const> runs() const noexcept { return runs_; }

    /// Precondition: item < items().
    constexpr slot_index owner(item_index item) const noexcept { return view().owner(item); }

    /// Precondition: slot < instances(). The range refers to the storage of the runs.
    constexpr run_items items_of(slot_index slot) const& noexcept { return view().items_of(slot); }
    void items_of(slot_index) const&& = delete;

    template <class Visit>
    constexpr void for_each_run(Visit visit) const {
        view().for_each_run(visit);
    }

    /// Writes the owner of item i to out[i], at the speed of memory. Precondition: out.size() >= items().
    constexpr void copy_owners(std::span<slot_index> out) const noexcept {
        assert(out.size() >= items());
        detail::in_widest_blocks(items(), [&](auto blocks) __attribute__((always_inline)) {
            item_index begin = 0;
            for (run const& r : runs_) {
                blocks.write_run(out.data() + begin, r.end - begin, r.owner, 0);
                begin = r.end;
            }
        });
    }

    friend constexpr bool operator==(basic_stored_runs const&, basic_stored_runs const&) = default;

private:
    constexpr run_list_view view() const noexcept { return {instances_, runs_}; }

    std::vector<run> runs_;
    std::uint32_t instances_ = 0;
};

using stored_runs = basic_stored_runs<>;
using partial_runs = basic_stored_runs<true>;

} // namespace elasticjob
#endif // ELASTICJOB_ALLOCATION_STORED_RUNS_HPP
