// SPDX-License-Identifier: Apache-2.0
/// \file \brief Who owns which item, as one value: what stands in the node `ext/assignment`.
#ifndef ELASTICJOB_SHARDING_ASSIGNMENT_HPP
#define ELASTICJOB_SHARDING_ASSIGNMENT_HPP

#include <elasticjob/allocation/closed_form.hpp>
#include <elasticjob/allocation/previous.hpp>
#include <elasticjob/allocation/run_list.hpp>
#include <elasticjob/config/text.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/deferred.hpp>
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

/// The whole assignment of a job, with what it was computed from, so that anybody can see whether it still holds. It is
/// replaced as a whole; the nodes of the single items repeat it for Java members and operators.
template <class Id = instance_id, class Run = run>
class basic_assignment {
public:
    /// Allocates nothing to nobody.
    basic_assignment() = default;

    /// Keeps a closed form as it is, and anything else as runs.
    template <allocation Allocation>
    basic_assignment(std::uint64_t epoch, std::string strategy, std::vector<Id> instances, Allocation const& a)
        : epoch_{epoch}, strategy_{std::move(strategy)}, instances_{std::move(instances)} {
        if constexpr (std::same_as<Allocation, closed_form>) {
            form_ = a;
        } else {
            has_form_ = false;
            append_runs(a, runs_);
        }
    }

    /// Grows with every sharding.
    std::uint64_t epoch() const noexcept { return epoch_; }
    std::string const& strategy() const noexcept { return strategy_; }

    /// By slot. An empty id is nobody: an instance that has left and released its items.
    std::vector<Id> const& instances() const noexcept { return instances_; }

    /// Whether the nodes of the items say the same already. Only where they do not fit into one transaction there is a
    /// time when they do not.
    bool is_published() const noexcept { return published_; }
    void set_published(bool p) noexcept { published_ = p; }

    /// What the traits of the instances and the needs of the items were when it was computed: a fingerprint, or 0 if the
    /// strategy uses none.
    std::uint64_t traits_print() const noexcept { return traits_print_; }
    void set_traits_print(std::uint64_t p) noexcept { traits_print_ = p; }

    std::uint32_t items() const noexcept {
        return visit([](auto const& a) { return a.items(); });
    }

    /// The slot of the item's owner, or no_slot: the strategy has left it to nobody. O(1) for a closed form, else
    /// O(log runs). Precondition: item < items().
    slot_index owner(item_index item) const {
        return visit([&](auto const& a) { return a.owner(item); });
    }
    /// Empty: nobody.
    Id const& owner_id(item_index item) const {
        auto const slot = owner(item);
        return slot == no_slot ? nobody_ : instances_[slot];
    }

    /// Whether it is an allocation of so many items; a strategy that a user has written may be wrong. O(runs).
    bool allocates(std::uint32_t count) const noexcept {
        if (has_form_) return form_.instances() == instances_.size() && form_.items() == count;
        return items() == count && is_run_list(static_cast<std::uint32_t>(instances_.size()), runs_, true);
    }

    /// How many items the strategy has left to nobody. O(runs).
    std::uint32_t count_left() const noexcept {
        std::uint32_t left = 0;
        item_index begin = 0;
        for (auto const& r : runs_) {
            if (r.owner == no_slot) left += r.end - begin;
            begin = r.end;
        }
        return left;
    }

    /// The owners in the slots of another list of instances; those who are not in it are nobody. O(runs + instances).
    std::vector<Run> runs_among(std::vector<Id> const& others) const {
        auto const slots = slots_among<deferred<slot_index, Id>>(instances_, others);
        std::vector<Run> runs;
        if (has_form_)
            runs = renumbered_runs<std::vector<Run>>(form_, slots);
        else
            runs = renumbered_runs<std::vector<Run>>(run_list_view{0, runs_}, slots);
        return runs;
    }

    bool has(Id const& id) const { return std::find(instances_.begin(), instances_.end(), id) != instances_.end(); }

    /// In ascending order. O(runs + items given).
    deferred<std::vector<item_index>, Id> items_of(Id const& id) const {
        deferred<std::vector<item_index>, Id> mine;
        auto const at = std::find(instances_.begin(), instances_.end(), id);
        if (at == instances_.end() || id.str().empty()) return mine;
        visit([&](auto const& a) {
            for (auto const i : a.items_of(static_cast<slot_index>(at - instances_.begin()))) mine.push_back(i);
        });
        return mine;
    }

    /// Its items belong to nobody from now on.
    void release(Id const& id) { std::replace(instances_.begin(), instances_.end(), id, Id{}); }

    /// A few lines of text, whose length does not depend on the number of items unless the allocation is irregular.
    std::string to_text() const {
        std::string text{header};
        auto line = [&](std::string_view key, std::string const& value) {
            text.append(key).append(" ").append(value).append("\n");
        };
        line("epoch", std::to_string(epoch_));
        line("strategy", strategy_);
        line("published", published_ ? "yes" : "no");
        if (traits_print_ != 0) line("traits", std::to_string(traits_print_));
        for (auto const& id : instances_) line("instance", id.str());
        if (has_form_) {
            line("average", std::to_string(form_.items()) + (form_.order().reversed ? " reversed " : " straight ") +
                                std::to_string(form_.order().rotated_left));
        } else {
            std::string runs;
            for (auto const& r : runs_)
                runs.append(runs.empty() ? "" : ",")
                    .append(std::to_string(r.end))
                    .append(":")
                    .append(r.owner == no_slot ? "-" : std::to_string(r.owner));
            line("runs", runs);
        }
        return text;
    }

    /// Errors: malformed_data, naming the line.
    static result<basic_assignment> parse(std::string_view text) {
        auto refuse = [](std::string_view line) {
            return error{errc::malformed_data, "not a line of an assignment", std::string{line}};
        };
        if (!text.starts_with(header)) return refuse(text.substr(0, text.find('\n')));
        text.remove_prefix(header.size());
        basic_assignment a;
        bool has_shape = false;
        while (!text.empty()) {
            auto const line = text.substr(0, text.find('\n'));
            text.remove_prefix(std::min(text.size(), line.size() + 1));
            auto const space = line.find(' ');
            if (space == line.npos || has_shape) return refuse(line);
            auto const key = line.substr(0, space);
            auto const value = line.substr(space + 1);
            bool good = true;
            if (key == "epoch") {
                good = detail::read_number(value, a.epoch_);
            } else if (key == "strategy") {
                a.strategy_ = value;
            } else if (key == "published") {
                good = value == "yes" || value == "no";
                a.published_ = value == "yes";
            } else if (key == "traits") {
                good = detail::read_number(value, a.traits_print_);
            } else if (key == "instance") {
                auto id = value.empty() ? result<Id>{Id{}} : Id::parse(value);
                if (!id) return std::move(id).error();
                a.instances_.push_back(*std::move(id));
            } else if (key == "average") {
                good = has_shape = a.parse_average(value);
            } else if (key == "runs") {
                good = has_shape = a.parse_runs(value);
            } else {
                good = false;
            }
            if (!good) return refuse(line);
        }
        if (!has_shape) return refuse("(end)");
        return a;
    }

    friend bool operator==(basic_assignment const&, basic_assignment const&) = default;

private:
    static constexpr std::string_view header = "elasticjob assignment 1\n";

    template <class F>
    std::invoke_result_t<F, closed_form const&> visit(F f) const {
        auto const slots = static_cast<std::uint32_t>(instances_.size());
        if (has_form_) return f(form_);
        return f(run_list_view{slots, runs_});
    }

    bool parse_average(std::string_view value) {
        auto const parts = detail::split<deferred<std::string_view, Id>>(value, " ");
        if (parts.size() != 3 || (parts[1] != "reversed" && parts[1] != "straight")) return false;
        std::uint32_t items = 0;
        std::int64_t rotated = 0;
        if (!detail::read_number(parts[0], items) || !detail::read_number(parts[2], rotated)) return false;
        form_ = closed_form{static_cast<std::uint32_t>(instances_.size()), items, {parts[1] == "reversed", rotated}};
        return true;
    }

    bool parse_runs(std::string_view value) {
        std::vector<Run> runs;
        for (auto const piece : detail::split<deferred<std::string_view, Id>>(value, ",")) {
            auto const colon = piece.find(':');
            if (colon == piece.npos) return false;
            Run r{};
            if (!detail::read_number(piece.substr(0, colon), r.end)) return false;
            auto const owner = piece.substr(colon + 1);
            if (owner == "-")
                r.owner = no_slot;
            else if (!detail::read_number(owner, r.owner) || r.owner == no_slot)
                return false;
            runs.push_back(r);
        }
        if (!is_run_list(static_cast<std::uint32_t>(instances_.size()), runs, true)) return false;
        has_form_ = false;
        runs_ = std::move(runs);
        return true;
    }

    std::uint64_t epoch_ = 0;
    std::string strategy_;
    std::vector<Id> instances_;
    bool has_form_ = true;
    closed_form form_;      ///< if it has one
    std::vector<Run> runs_; ///< if it has not
    bool published_ = true;
    std::uint64_t traits_print_ = 0;
    static inline Id const nobody_{};
};

/// A template only so that including it costs nothing: see docs/decisions/0006.
using assignment = basic_assignment<>;

} // namespace elasticjob
#endif // ELASTICJOB_SHARDING_ASSIGNMENT_HPP
