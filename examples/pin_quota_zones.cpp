// SPDX-License-Identifier: Apache-2.0
// How do I pin an item, limit the items of an instance, or spread neighbouring items over zones?
//
// Each with a strategy of ten lines. The strategies use labels, which are part of the request.
#include <elasticjob/allocation/average.hpp>
#include <elasticjob/allocation/computed.hpp>
#include <elasticjob/allocation/stored_runs.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string_view>
#include <vector>

using namespace elasticjob;

/// Item 0 runs on the instance with the label `primary`; all others run as usual.
struct PinTheFirst {
    static constexpr std::string_view name = "com.example.PinTheFirst";
    static constexpr bool uses_traits = true;

    constexpr auto operator()(sharding_request const& request) const {
        slot_index pinned = 0;
        for (slot_index slot = 0; slot != request.instance_count(); ++slot)
            if (has_label(request.labels(slot), "primary")) pinned = slot;
        return allocate_by(request, [pinned, rest = AverageAllocation{}(request)](item_index item) {
            return item == 0 ? pinned : rest.owner(item);
        });
    }
};

/// No instance has more than four items; the rest wait for more instances.
struct AtMostFour {
    static constexpr std::string_view name = "com.example.AtMostFour";

    partial_runs operator()(sharding_request const& request) const {
        std::vector<run> runs;
        item_index end = 0;
        for (slot_index slot = 0; slot != request.instance_count() && end != request.item_count; ++slot)
            runs.push_back({end = std::min(end + 4, request.item_count), slot});
        if (!runs.empty() && end != request.item_count) runs.push_back({request.item_count, no_slot});
        return {request.instance_count(), runs};
    }
};

/// Neighbouring items run in different zones: uses one instance of each zone in turn.
struct ZoneByZone {
    static constexpr std::string_view name = "com.example.ZoneByZone";
    static constexpr bool uses_traits = true;

    auto operator()(sharding_request const& request) const {
        std::map<std::string_view, std::vector<slot_index>> zones;
        for (slot_index slot = 0; slot != request.instance_count(); ++slot)
            zones[label_value(request.labels(slot), "zone")].push_back(slot);
        std::vector<slot_index> order;
        for (std::size_t i = 0; order.size() != request.instance_count(); ++i)
            for (auto const& [zone, slots] : zones)
                if (i < slots.size()) order.push_back(slots[i]);
        return allocate_by(request, [order](item_index item) { return order[item % order.size()]; });
    }
};

static_assert(sharding_strategy<PinTheFirst> && sharding_strategy<AtMostFour> && sharding_strategy<ZoneByZone>);

// The results can be checked before any item runs.
instance_id const three[3];
constexpr instance_traits where[]{{1, "zone=a"}, {1, "zone=a"}, {1, "zone=b primary"}};
constexpr sharding_request request{.job_name = "settle", .instances = three, .item_count = 14, .traits = where};
static_assert(PinTheFirst{}(request).owner(0) == 2);
static_assert(PinTheFirst{}(request).owner(1) == AverageAllocation{}(request).owner(1));

int main() {
    auto const limited = AtMostFour{}(request);
    auto const spread = ZoneByZone{}(request);
    bool const is_right = limited.owner(11) == 2 && limited.owner(12) == no_slot && // 3 times 4 items; 2 wait
                          spread.owner(0) == 0 && spread.owner(1) == 2 && spread.owner(2) == 1 && spread.owner(3) == 0;
    for (item_index item = 0; item != 14; ++item)
        std::printf("item %2u: slot %d or slot %u\n", item, static_cast<int>(limited.owner(item)), spread.owner(item));
    return is_right ? 0 : 1;
}
