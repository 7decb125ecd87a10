// SPDX-License-Identifier: Apache-2.0
/// \file \brief Items that only some instances can own: the labels that an item needs, and an instance has.
#ifndef ELASTICJOB_ALLOCATION_LABEL_HPP
#define ELASTICJOB_ALLOCATION_LABEL_HPP

#include <elasticjob/allocation/label_flow.hpp>
#include <elasticjob/allocation/redeal.hpp>
#include <elasticjob/allocation/stored_runs.hpp>
#include <elasticjob/allocation/strategy.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// Every item goes to an instance that has all the labels it needs, and the loads are as even as that allows: the largest
/// is the least possible, then the second largest, and so on. An item that no instance may own is left to nobody: its
/// owner is `no_slot`, it waits, and the others do not wait for it. As soon as somebody with its labels joins, it is his.
///
/// Items stay where they were as far as the loads allow; how many move is not promised to be the least, but asked again
/// with its own answer, it moves nothing.
///
/// Items that need the same are one class, instances that may own the same classes one group; the flow runs between
/// those (see label_flow.hpp), not between items. O(runs + classes * instances) and the flow; allocates 4 bytes for each
/// class and instance. Meant for up to some hundreds of different needs.
/// Source: optimal semi-matchings (Harvey, Ladner, Lovász, Tamir, "Semi-matchings for bipartite graphs and load
/// balancing", 2003), computed as a maximum flow whose limits grow.
struct LabelAllocation {
    static constexpr std::string_view name = "elasticjob.LabelAllocation";
    static constexpr bool uses_traits = true;

    partial_runs operator()(sharding_request const& request) const {
        if (request.instances.empty()) return {};
        return {request.instance_count(), plan{request}.runs()};
    }

private:
    using class_index = std::uint32_t;

    /// The items up to `end` are all of one class.
    struct stretch {
        item_index end;
        class_index kind;
    };

    class plan {
    public:
        explicit plan(sharding_request const& request) : request_{request} {
            read_classes();
            read_groups();
            previous_ = detail::previous_runs_of(request_, storage_);
            count_previous();
        }

        std::vector<run> runs() {
            auto flow = new_flow();
            detail::send_evenly(flow, sizes_);
            auto const loads = std::move(flow.load);
            flow = new_flow();
            flow.limit = loads;
            keep_previous(flow);
            flow.send(); // all, for the limits are the loads of a flow that has sent all
            share_within_groups(flow);
            return deal();
        }

    private:
        std::uint32_t slots() const noexcept { return request_.instance_count(); }
        std::uint32_t& had(class_index k, slot_index s) { return had_[k * std::size_t{slots()} + s]; }
        std::uint32_t& share(class_index k, slot_index s) { return share_[k * std::size_t{slots()} + s]; }

        void read_classes() {
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

        void read_groups() {
            std::map<std::string, std::uint32_t> known; // by one letter for each class
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

        void count_previous() {
            had_.resize(needed_.size() * slots());
            for_each_piece([&](item_index begin, item_index end, class_index k, slot_index owner) {
                if (owner < slots() && masks_[group_of_[owner]][k] == 'y') had(k, owner) += end - begin;
            });
        }

        detail::label_flow new_flow() const {
            std::vector<detail::label_flow::amount> supply;
            for (std::size_t k = 0; k != items_.size(); ++k) supply.push_back(can_go_[k] ? items_[k] : 0);
            detail::label_flow flow{std::move(supply), sizes_.size()};
            for (std::size_t g = 0; g != sizes_.size(); ++g)
                for (std::size_t k = 0; k != items_.size(); ++k)
                    if (masks_[g][k] == 'y') flow.open(k, g);
            return flow;
        }

        void keep_previous(detail::label_flow& flow) {
            for (class_index k = 0; k != items_.size(); ++k)
                for (slot_index slot = 0; slot != slots(); ++slot) {
                    auto const g = group_of_[slot];
                    auto const stays = std::min<std::uint64_t>(had(k, slot), flow.limit[g] - flow.load[g]);
                    if (stays != 0) flow.put(k, g, stays);
                }
        }

        /// How many items of each class each instance gets: its group's, shared evenly, with what it had first.
        void share_within_groups(detail::label_flow const& flow) {
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
                    auto const given =
                        static_cast<std::uint32_t>(std::min<std::uint64_t>(left, std::min(most, room[member])));
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

        std::vector<run> deal() {
            for (std::size_t i = 0; i != had_.size(); ++i) {
                had_[i] = std::min(had_[i], share_[i]); // what stays
                share_[i] -= had_[i];                   // what is lacking
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

        /// Visits the items in pieces that have one class and had one owner.
        template <class Visit>
        void for_each_piece(Visit visit) const {
            item_index begin = 0;
            auto before = previous_.begin();
            for (auto const& s : stretches_)
                while (begin != s.end) {
                    while (before != previous_.end() && before->end <= begin) ++before;
                    bool const is_known = before != previous_.end();
                    auto const end = is_known ? std::min(before->end, s.end) : s.end;
                    visit(begin, end, s.kind, is_known ? before->owner : no_slot);
                    begin = end;
                }
        }

        sharding_request const& request_;
        std::vector<std::string_view> needed_; ///< by class
        std::vector<std::uint32_t> items_;     ///< by class: how many
        std::vector<bool> can_go_;             ///< by class: whether anybody may own it
        std::vector<stretch> stretches_;
        std::vector<std::uint32_t> sizes_; ///< by group: how many instances
        std::vector<std::string> masks_;   ///< by group: y for each class that it may own
        std::vector<std::uint32_t> group_of_;
        std::vector<run> storage_;
        std::span<run const> previous_;
        std::vector<std::uint32_t> had_, share_; ///< by class and slot
    };
};

static_assert(sharding_strategy<LabelAllocation>);

} // namespace elasticjob
#endif // ELASTICJOB_ALLOCATION_LABEL_HPP
