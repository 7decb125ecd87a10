// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_ALLOCATION_LABEL_FLOW_IPP
#define ELASTICJOB_IMPL_ALLOCATION_LABEL_FLOW_IPP

#include <elasticjob/allocation/label_flow.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL label_flow::label_flow(std::vector<amount> items_of_classes, std::size_t groups)
    : left(std::move(items_of_classes)),
      load(groups),
      limit(groups),
      open_(left.size() * groups),
      sent_(left.size() * groups),
      class_level_(left.size()),
      group_level_(groups),
      class_at_(left.size()),
      group_at_(groups) {}

ELASTICJOB_DECL void label_flow::put(std::size_t k, std::size_t g, amount a) {
    sent_[k * groups() + g] += a;
    left[k] -= a;
    load[g] += a;
}

ELASTICJOB_DECL void label_flow::send() {
    while (find_levels()) {
        std::fill(class_at_.begin(), class_at_.end(), 0);
        std::fill(group_at_.begin(), group_at_.end(), 0);
        for (std::size_t k = 0; k != classes(); ++k)
            if (left[k] != 0) left[k] -= push_class(k, left[k]);
    }
}

ELASTICJOB_DECL bool label_flow::find_levels() {
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

ELASTICJOB_DECL auto label_flow::push_class(std::size_t k, amount most) -> amount {
    amount done = 0;
    for (auto& g = class_at_[k]; g != groups(); ++g) {
        if (!is_open(k, g) || group_level_[g] != class_level_[k] + 1) continue;
        auto const more = push_group(g, most - done);
        on_way(k, g) += more;
        done += more;
        if (done == most) return done; // the group may have more room, so this path stays open
    }
    return done;
}

ELASTICJOB_DECL auto label_flow::push_group(std::size_t g, amount most) -> amount {
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

ELASTICJOB_DECL void send_evenly(label_flow& flow, std::vector<std::uint32_t> const& instances_of_groups) {
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
        if (open_instances == 0) return; // excluded by the precondition
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
#endif // ELASTICJOB_IMPL_ALLOCATION_LABEL_FLOW_IPP
