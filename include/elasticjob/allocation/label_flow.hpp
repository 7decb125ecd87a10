// SPDX-License-Identifier: Apache-2.0
/// \file \brief The flow behind LabelAllocation: how many items of each kind go to which group of like instances.
#ifndef ELASTICJOB_ALLOCATION_LABEL_FLOW_HPP
#define ELASTICJOB_ALLOCATION_LABEL_FLOW_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace elasticjob::detail {

/// Sends items of classes to groups of instances. An item may go to a group that is open to its class; a group takes up
/// to its limit. Dinic's algorithm on the graph source -> classes -> groups -> sink: limits may be raised between calls
/// of `send`, and what a group has been sent never becomes less, only other.
class label_flow {
public:
    using amount = std::uint64_t;

    label_flow(std::vector<amount> items_of_classes, std::size_t groups)
        : left(std::move(items_of_classes)),
          load(groups),
          limit(groups),
          open_(left.size() * groups),
          sent_(left.size() * groups),
          class_level_(left.size()),
          group_level_(groups),
          class_at_(left.size()),
          group_at_(groups) {}

    std::size_t classes() const noexcept { return left.size(); }
    std::size_t groups() const noexcept { return load.size(); }

    bool is_open(std::size_t k, std::size_t g) const { return open_[k * groups() + g]; }
    void open(std::size_t k, std::size_t g) { open_[k * groups() + g] = true; }
    amount sent(std::size_t k, std::size_t g) const { return sent_[k * groups() + g]; }

    /// Without looking for a better way. Precondition: it is open, the class has so many left, the group has room.
    void put(std::size_t k, std::size_t g, amount a) {
        sent_[k * groups() + g] += a;
        left[k] -= a;
        load[g] += a;
    }

    /// Sends as much as the limits allow. Afterwards `is_reached` tells which groups could be sent more, or at least
    /// something else, if any limit were higher.
    void send() {
        while (find_levels()) {
            std::fill(class_at_.begin(), class_at_.end(), 0);
            std::fill(group_at_.begin(), group_at_.end(), 0);
            for (std::size_t k = 0; k != classes(); ++k)
                if (left[k] != 0) left[k] -= push_class(k, left[k]);
        }
    }
    bool is_reached(std::size_t g) const { return group_level_[g] != unreached; }

    std::vector<amount> left; ///< by class: what has not been sent
    std::vector<amount> load; ///< by group: what it has been sent
    std::vector<amount> limit;

private:
    static constexpr std::uint32_t unreached = 0xFFFF'FFFF;

    amount& on_way(std::size_t k, std::size_t g) { return sent_[k * groups() + g]; }

    /// Breadth first from all classes with something left; gives whether a group with room was found.
    bool find_levels() {
        std::fill(class_level_.begin(), class_level_.end(), unreached);
        std::fill(group_level_.begin(), group_level_.end(), unreached);
        std::vector<std::size_t> now;
        for (std::size_t k = 0; k != classes(); ++k)
            if (left[k] != 0) {
                class_level_[k] = 0;
                now.push_back(k);
            }
        bool found = false;
        for (std::uint32_t level = 1; !now.empty() && !found; level += 2) {
            std::vector<std::size_t> reached;
            for (auto const k : now)
                for (std::size_t g = 0; g != groups(); ++g)
                    if (is_open(k, g) && group_level_[g] == unreached) {
                        group_level_[g] = level;
                        reached.push_back(g);
                        found |= load[g] < limit[g];
                    }
            now.clear();
            for (auto const g : reached)
                for (std::size_t k = 0; k != classes(); ++k)
                    if (sent(k, g) != 0 && class_level_[k] == unreached) {
                        class_level_[k] = level + 1;
                        now.push_back(k);
                    }
        }
        return found;
    }

    amount push_class(std::size_t k, amount most) {
        amount done = 0;
        for (auto& g = class_at_[k]; g != groups(); ++g) {
            if (!is_open(k, g) || group_level_[g] != class_level_[k] + 1) continue;
            auto const more = push_group(g, most - done);
            on_way(k, g) += more;
            done += more;
            if (done == most) return done; // there may be room for more, so this way is not over
        }
        return done;
    }

    amount push_group(std::size_t g, amount most) {
        auto done = std::min(most, limit[g] - load[g]);
        load[g] += done;
        for (auto& k = group_at_[g]; done != most && k != classes(); ++k) {
            if (sent(k, g) == 0 || class_level_[k] != group_level_[g] + 1) continue;
            auto const more = push_class(k, std::min(most - done, sent(k, g)));
            on_way(k, g) -= more;
            done += more;
            if (done == most) return done;
        }
        return done;
    }

    std::vector<bool> open_;
    std::vector<amount> sent_;
    std::vector<std::uint32_t> class_level_, group_level_;
    std::vector<std::size_t> class_at_, group_at_; ///< the ways before these lead nowhere at this level
};

/// Sends all items so that the loads are as even as the open ways allow: no instance's load can be made smaller without
/// making that of one with at least as much larger; so the largest load is the least possible, and of those allocations
/// the second largest, and so on. Precondition: every class with items has an open group.
///
/// The limit of all groups is raised together. A group that cannot be filled up to it will never get more, because what
/// can still be sent does not reach it, and is left behind. Levels at which nothing is left behind are jumped over: the
/// next guess is what there is, shared by all, and if some group cannot be filled so far, what those that cannot get by
/// themselves (Newton's method on the cut).
inline void send_evenly(label_flow& flow, std::vector<std::uint32_t> const& instances_of_groups) {
    using amount = label_flow::amount;
    std::vector<bool> is_left_behind(flow.groups());
    auto const limit_to = [&](label_flow& f, amount level) {
        for (std::size_t g = 0; g != f.groups(); ++g)
            f.limit[g] = is_left_behind[g] ? f.load[g] : level * instances_of_groups[g];
    };
    auto const items_left = [&] {
        amount sum = 0;
        for (auto const l : flow.left) sum += l;
        return sum;
    };
    for (amount level = 0, left = items_left(); left != 0; left = items_left()) {
        amount open_instances = 0;
        for (std::size_t g = 0; g != flow.groups(); ++g)
            if (!is_left_behind[g]) open_instances += instances_of_groups[g];
        if (open_instances == 0) return; // not with the precondition
        for (auto guess = level + left / open_instances; guess > level;) {
            auto attempt = flow;
            limit_to(attempt, guess);
            attempt.send();
            amount instances = 0, load = 0;
            bool is_filled = true;
            for (std::size_t g = 0; g != flow.groups(); ++g) {
                if (is_left_behind[g] || attempt.is_reached(g)) continue;
                instances += instances_of_groups[g];
                load += attempt.load[g];
                is_filled &= attempt.load[g] == attempt.limit[g];
            }
            if (is_filled) {
                flow = std::move(attempt);
                level = guess;
                break;
            }
            guess = load / instances;
        }
        limit_to(flow, ++level);
        flow.send();
        for (std::size_t g = 0; g != flow.groups(); ++g)
            if (!flow.is_reached(g)) is_left_behind[g] = true;
    }
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_ALLOCATION_LABEL_FLOW_HPP
