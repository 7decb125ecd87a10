// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/allocation/rendezvous.hpp>

#include <allocation/instances.hpp>
#include <laws/allocation.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

using namespace elasticjob;

namespace {

// The exact numbers, because every process of a cluster, of any version, must compute the same ones.
static_assert(detail::mix_bits(1) == 0x5692'161D'100B'05E5ULL);
static_assert(detail::hash_name("") != detail::hash_name("a"));

TEST_CASE("rendezvous: a single item's owner agrees with the whole allocation, and previous owners do not matter") {
    auto const ids = named_instances(7);
    sharding_request request{.job_name = "settle", .instances = ids, .item_count = 200};
    auto const a = RendezvousAllocation{}(request);
    for (item_index i = 0; i != 200; ++i) REQUIRE(RendezvousAllocation::owner(request, i) == a.owner(i));
    std::vector<slot_index> const before(200, 3);
    request.previous_owners = before;
    CHECK(RendezvousAllocation{}(request) == a);
    request.item_count = 100; // nor does the count
    for (item_index i = 0; i != 100; ++i) REQUIRE(RendezvousAllocation::owner(request, i) == a.owner(i));
}

TEST_CASE("rendezvous: only the items of the leaving instance move, whichever instance it is") {
    auto const ids = named_instances(20);
    sharding_request request{.job_name = "settle", .instances = ids, .item_count = 500};
    auto const whole = RendezvousAllocation{}(request);
    for (std::size_t gone = 0; gone != ids.size(); ++gone) {
        auto const rest = without(ids, gone);
        request.instances = rest;
        auto const a = RendezvousAllocation{}(request);
        for (item_index i = 0; i != 500; ++i)
            if (whole.owner(i) != gone) REQUIRE(rest[a.owner(i)] == ids[whole.owner(i)]);
    }
}

TEST_CASE("rendezvous: the load is random, and jobs differ") {
    auto const ids = named_instances(100);
    sharding_request request{.job_name = "settle", .instances = ids, .item_count = 10'000};
    auto const shares = shares_of(RendezvousAllocation{}(request));
    CHECK(*std::ranges::max_element(shares) < 145); // 100 on average; its deviation is 10
    CHECK(*std::ranges::min_element(shares) > 60);
    auto const one = RendezvousAllocation{}(request);
    request.job_name = "settle2";
    CHECK(laws::count_kept(one, request) == 0);
    CHECK_FALSE(one == RendezvousAllocation{}(request));
}

} // namespace
