// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_ALLOCATION_LABEL_IPP
#define ELASTICJOB_IMPL_ALLOCATION_LABEL_IPP

#include <elasticjob/allocation/label.hpp>

namespace elasticjob {

ELASTICJOB_DECL partial_runs LabelAllocation::operator()(sharding_request const& request) const {
    if (request.instances.empty()) return {};
    return {request.instance_count(), plan{request}.runs()};
}

ELASTICJOB_DECL LabelAllocation::plan::plan(sharding_request const& request) : request_{request} {
    read_classes();
    read_groups();
    previous_ = detail::previous_runs_of(request_, storage_);
    count_previous();
}

ELASTICJOB_DECL std::vector<run> LabelAllocation::plan::runs() {
    auto flow = new_flow();
    detail::send_evenly(flow, sizes_);
    auto const loads = std::move(flow.load);
    flow = new_flow();
    flow.limit = loads;
    keep_previous(flow);
    flow.send(); // all of it: the limits are the loads of a complete flow
    share_within_groups(flow);
    return deal();
}

ELASTICJOB_DECL void LabelAllocation::plan::read_classes() {
    std::map<std::string_view, class_index> known;
    auto const class_of = [&](std::string_view labels) {
        auto const [at, is_new] = known.emplace(labels, static_cast<class_index>(needed_.size()));
        if (is_new) {
            needed_.push_back(labels);
            items_.push_back(0);
        }
        return at->second;
    };
    item_index begin = 0;
    auto const add = [&](item_index end, std::string_view labels) {
        end = std::min(end, request_.item_count);
        if (end <= begin) return;
        auto const k = class_of(labels);
        stretches_.push_back({end, k});
        items_[k] += end - begin;
        begin = end;
    };
    for (item_need const& need : request_.needs) {
        add(need.begin, {});
        add(need.end, need.labels);
    }
    add(request_.item_count, {});
}

ELASTICJOB_DECL void LabelAllocation::plan::read_groups() {
    std::map<std::string, std::uint32_t> known; // the key has one letter for each class
    can_go_.resize(needed_.size());
    for (slot_index slot = 0; slot != slots(); ++slot) {
        std::string mask;
        for (auto const needed : needed_) mask.push_back(has_labels(request_.labels(slot), needed) ? 'y' : 'n');
        auto const [at, is_new] = known.emplace(std::move(mask), static_cast<std::uint32_t>(sizes_.size()));
        if (is_new) {
            sizes_.push_back(0);
            masks_.push_back(at->first);
            for (std::size_t k = 0; k != can_go_.size(); ++k)
                if (at->first[k] == 'y') can_go_[k] = true;
        }
        ++sizes_[at->second];
        group_of_.push_back(at->second);
    }
}

ELASTICJOB_DECL void LabelAllocation::plan::count_previous() {
    had_.resize(needed_.size() * slots());
    for_each_piece([&](item_index begin, item_index end, class_index k, slot_index owner) {
        if (owner < slots() && masks_[group_of_[owner]][k] == 'y') had(k, owner) += end - begin;
    });
}

ELASTICJOB_DECL detail::label_flow LabelAllocation::plan::new_flow() const {
    std::vector<detail::label_flow::amount> supply;
    for (std::size_t k = 0; k != items_.size(); ++k) supply.push_back(can_go_[k] ? items_[k] : 0);
    detail::label_flow flow{std::move(supply), sizes_.size()};
    for (std::size_t g = 0; g != sizes_.size(); ++g)
        for (std::size_t k = 0; k != items_.size(); ++k)
            if (masks_[g][k] == 'y') flow.open(k, g);
    return flow;
}

ELASTICJOB_DECL void LabelAllocation::plan::keep_previous(detail::label_flow& flow) {
    for (class_index k = 0; k != items_.size(); ++k)
        for (slot_index slot = 0; slot != slots(); ++slot) {
            auto const g = group_of_[slot];
            auto const stays = std::min<std::uint64_t>(had(k, slot), flow.limit[g] - flow.load[g]);
            if (stays != 0) flow.put(k, g, stays);
        }
}

ELASTICJOB_DECL void LabelAllocation::plan::share_within_groups(detail::label_flow const& flow) {
    share_.resize(had_.size());
    std::vector<std::vector<slot_index>> members(sizes_.size());
    for (slot_index slot = 0; slot != slots(); ++slot) members[group_of_[slot]].push_back(slot);
    for (std::size_t g = 0; g != members.size(); ++g) {
        detail::slot_counts before{members[g].size()};
        detail::slot_counts room{members[g].size()};
        for (std::size_t i = 0; i != before.size(); ++i)
            for (class_index k = 0; k != items_.size(); ++k) before[i] += had(k, members[g][i]);
        detail::even_targets(before, static_cast<std::uint32_t>(flow.load[g]), room);
        auto const give = [&](class_index k, std::size_t member, std::uint32_t most, std::uint64_t& left) {
            auto const given = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, std::min(most, room[member])));
            share(k, members[g][member]) += given;
            room[member] -= given;
            left -= given;
        };
        std::vector<std::uint64_t> left;
        for (class_index k = 0; k != items_.size(); ++k) {
            left.push_back(flow.sent(k, g));
            for (std::size_t i = 0; i != room.size(); ++i) give(k, i, had(k, members[g][i]), left[k]);
        }
        for (class_index k = 0; k != items_.size(); ++k)
            for (std::size_t i = 0; i != room.size() && left[k] != 0; ++i) give(k, i, room[i], left[k]);
    }
}

ELASTICJOB_DECL std::vector<run> LabelAllocation::plan::deal() {
    for (std::size_t i = 0; i != had_.size(); ++i) {
        had_[i] = std::min(had_[i], share_[i]); // the items that stay
        share_[i] -= had_[i];                   // the items that are missing
    }
    std::vector<run> runs;
    std::vector<slot_index> served(items_.size());
    for_each_piece([&](item_index begin, item_index end, class_index k, slot_index owner) {
        if (!can_go_[k]) return detail::extend_runs(runs, end, no_slot);
        if (owner < slots() && had(k, owner) != 0) {
            auto const stays = std::min(had(k, owner), end - begin);
            had(k, owner) -= stays;
            detail::extend_runs(runs, begin += stays, owner);
        }
        while (begin != end) {
            while (share(k, served[k]) == 0) ++served[k];
            auto const given = std::min(share(k, served[k]), end - begin);
            share(k, served[k]) -= given;
            detail::extend_runs(runs, begin += given, served[k]);
        }
    });
    return runs;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_ALLOCATION_LABEL_IPP
