// SPDX-License-Identifier: Apache-2.0
/// \file \brief All items' owners as one value: the content of the node `ext/assignment`.
#ifndef ELASTICJOB_SHARDING_ASSIGNMENT_HPP
#define ELASTICJOB_SHARDING_ASSIGNMENT_HPP

#include <elasticjob/allocation/closed_form.hpp>
#include <elasticjob/allocation/previous.hpp>
#include <elasticjob/allocation/run_list.hpp>
#include <elasticjob/config/text.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/identity.hpp>
#include <elasticjob/core/result.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace elasticjob {

/// The whole assignment of a job, together with the input from which a leader computed it. So every member can see
/// whether that input has changed. A leader always replaces the whole assignment. The nodes of the single items repeat
/// it for Java members and operators.
class assignment {
public:
    /// Assigns no items.
    assignment() = default;

    /// Keeps a closed form as it is, and any other allocation as runs.
    template <allocation Allocation>
    assignment(std::uint64_t epoch, std::string strategy, std::vector<instance_id> instances, Allocation const& a)
        : epoch_{epoch},
          strategy_{std::move(strategy)},
          instances_{std::move(instances)} {
        if constexpr (std::same_as<Allocation, closed_form>) {
            form_ = a;
        } else {
            has_form_ = false;
            append_runs(a, runs_);
        }
    }

    /// Increases with every sharding.
    std::uint64_t epoch() const noexcept { return epoch_; }
    std::string const& strategy() const noexcept { return strategy_; }

    /// By slot. An empty id means that an instance has left and released its items.
    std::vector<instance_id> const& instances() const noexcept { return instances_; }

    /// Whether the nodes of the items already agree with this assignment. They disagree for a while only if a leader
    /// could not write all of them in one transaction.
    bool is_published() const noexcept { return published_; }
    void set_published(bool p) noexcept { published_ = p; }

    /// A fingerprint of the instances' traits and the items' needs that the strategy received; 0 if the strategy uses
    /// none.
    std::uint64_t traits_print() const noexcept { return traits_print_; }
    void set_traits_print(std::uint64_t p) noexcept { traits_print_ = p; }

    std::uint32_t items() const noexcept;

    /// The slot of the item's owner, or no_slot if the strategy has left the item unowned. O(1) for a closed form,
    /// otherwise O(log runs). Precondition: item < items().
    slot_index owner(item_index item) const;
    /// Empty if the item has no owner.
    instance_id const& owner_id(item_index item) const;

    /// Whether this assignment allocates exactly `count` items. A user's strategy may be wrong. O(runs).
    bool allocates(std::uint32_t count) const noexcept;

    /// The number of items that the strategy has left unowned. O(runs).
    std::uint32_t count_left() const noexcept;

    /// The owners as slots of another list of instances. Items whose owners are not in that list have no owner. O(runs
    /// + instances).
    std::vector<run> runs_among(std::vector<instance_id> const& others) const;

    bool has(instance_id const& id) const {
        return std::find(instances_.begin(), instances_.end(), id) != instances_.end();
    }

    /// In ascending order. O(runs + number of items returned).
    std::vector<item_index> items_of(instance_id const& id) const;

    /// Leaves the instance's items without an owner.
    void release(instance_id const& id) { std::replace(instances_.begin(), instances_.end(), id, instance_id{}); }

    /// A few lines of text. Their length depends on the number of items only if the allocation is irregular.
    std::string to_text() const;

    /// The maximum number of items that `parse` accepts, which is also the maximum for a job.
    static constexpr std::uint32_t items_max = 10'000'000;

    /// Errors: malformed_data, which names the line.
    static result<assignment> parse(std::string_view text);

    friend bool operator==(assignment const&, assignment const&) = default;

private:
    static constexpr std::string_view header = "elasticjob assignment 1\n";

    template <class F>
    std::invoke_result_t<F, closed_form const&> visit(F f) const {
        auto const slots = static_cast<std::uint32_t>(instances_.size());
        if (has_form_) return f(form_);
        return f(run_list_view{slots, runs_});
    }

    bool parse_average(std::string_view value);

    bool parse_runs(std::string_view value);

    std::uint64_t epoch_ = 0;
    std::string strategy_;
    std::vector<instance_id> instances_;
    bool has_form_ = true;
    closed_form form_;      ///< if it has one
    std::vector<run> runs_; ///< if it has no closed form
    bool published_ = true;
    std::uint64_t traits_print_ = 0;
    static inline instance_id const nobody_{};
};

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/sharding/assignment.ipp>
#endif
#endif // ELASTICJOB_SHARDING_ASSIGNMENT_HPP
