// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/allocation/average.hpp>
#include <elasticjob/allocation/odevity.hpp>
#include <elasticjob/allocation/rotate.hpp>
#include <elasticjob/allocation/sticky.hpp>

#include <allocation/instances.hpp>
#include <support/counted_new.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#ifndef ELASTICJOB_TEST_SANITIZED

using namespace elasticjob;

namespace {

TEST_CASE_TEMPLATE("strategy: nothing is allocated", Strategy, AverageAllocation, OdevitySortByName,
                   RotateServerByName) {
    std::uint64_t volatile used = 0;
    CHECK(counted_new::calls_of([&] {
              auto const a = Strategy{}(request_for(1000, 100'000, "a job name that is too long for a small string"));
              for (slot_index slot = 0; slot != a.instances(); ++slot)
                  for (item_index const item : a.items_of(slot)) used = used + item;
              used = used + a.owner(99'999);
              static std::array<slot_index, 100'000> owners;
              a.copy_owners(owners);
              a.copy_items(owners);
          }) == 0);
    CHECK(counted_new::calls_of([&] { used = *std::make_unique<int volatile>(1) != 0; }) == 1); // The counter counts.
}

TEST_CASE("sticky: for few instances it allocates only the runs of the answer") {
    std::array<slot_index, 100> owners;
    owners.fill(no_slot);
    CHECK(counted_new::calls_of([&] { CHECK(StickyAllocation::rebalance(owners, 10) == 100); }) == 0);
    CHECK(counted_new::calls_of([&] { CHECK(StickyAllocation{}(request_for(10, 100)).items() == 100); }) == 1);
}

} // namespace

#endif // ELASTICJOB_TEST_SANITIZED
