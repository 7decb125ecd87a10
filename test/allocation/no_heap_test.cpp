// SPDX-License-Identifier: Apache-2.0
// Replaces the global operator new of the whole test program in order to count its calls.
#include <elasticjob/allocation/average.hpp>
#include <elasticjob/allocation/odevity.hpp>
#include <elasticjob/allocation/rotate.hpp>

#include <allocation/instances.hpp>
#include <support/sanitized.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#ifndef ELASTICJOB_TEST_SANITIZED

using namespace elasticjob;

namespace {
std::size_t allocations = 0;
} // namespace

// If only one of a pair is inlined, g++ sees a `free` of something that came from `new`, and warns.
[[gnu::noinline]] void* operator new(std::size_t size) {
    ++allocations;
    if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
    throw std::bad_alloc{};
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

template <class Function>
std::size_t allocations_of(Function function) {
    auto const before = allocations;
    function();
    return allocations - before;
}

TEST_CASE_TEMPLATE("strategy: nothing is allocated", Strategy, AverageAllocation, OdevitySortByName,
                   RotateServerByName) {
    std::uint64_t volatile used = 0;
    CHECK(allocations_of([&] {
              auto const a = Strategy{}(request_for(1000, 100'000, "a job name that is too long for a small string"));
              for (slot_index slot = 0; slot != a.instances(); ++slot)
                  for (item_index const item : a.items_of(slot)) used = used + item;
              used = used + a.owner(99'999);
              static std::array<slot_index, 100'000> owners;
              a.copy_owners(owners);
              a.copy_items(owners);
          }) == 0);
    CHECK(allocations_of([&] { used = *std::make_unique<int volatile>(1) != 0; }) == 1); // The counter counts.
}

} // namespace

#endif // ELASTICJOB_TEST_SANITIZED
