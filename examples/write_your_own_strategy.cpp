// SPDX-License-Identifier: Apache-2.0
// How do I decide which instance gets which item?
//
// With a function object that has a name and returns an allocation. This one deals the items like cards, so that
// neighbouring items, which are often equally heavy, do not all go to one instance.
#include <elasticjob/allocation/average.hpp>
#include <elasticjob/allocation/computed.hpp>
#include <elasticjob/allocation/strategy.hpp>

#include <cstdio>
#include <string_view>

using namespace elasticjob;

struct DealLikeCards {
    static constexpr std::string_view name = "com.example.DealLikeCards";

    constexpr auto operator()(sharding_request const& request) const {
        return allocate_by(request, [n = request.instance_count()](item_index item) { return item % n; });
    }
};
// If a requirement is not met, this line reports it.
static_assert(sharding_strategy<DealLikeCards>);

// Strategies are pure, so an allocation can be checked before the program runs.
instance_id const three_instances[3];
constexpr sharding_request ten_items{.job_name = "settle", .instances = three_instances, .item_count = 10};
static_assert(DealLikeCards{}(ten_items).owner(7) == 1);
static_assert(AverageAllocation{}(ten_items).owner(7) == 2);

// All strategies are used in the same way. A call costs only the work of the strategy itself, and stores nothing.
template <sharding_strategy Strategy>
void print(char const* title, Strategy const& strategy) {
    auto const plan = strategy(ten_items);
    std::printf("%s\n", title);
    for (slot_index slot = 0; slot != plan.instances(); ++slot) {
        std::printf("  instance %u:", slot);
        for (item_index const item : plan.items_of(slot)) std::printf(" %u", item);
        std::printf("\n");
    }
}

int main() {
    print("AverageAllocation", AverageAllocation{});
    print("DealLikeCards", DealLikeCards{});
}
