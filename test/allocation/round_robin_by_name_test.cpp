// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/allocation/round_robin_by_name.hpp>

#include <allocation/instances.hpp>
#include <laws/allocation.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

using namespace elasticjob;

namespace {

// Computed by the compiler, and the next number begins where this one ends.
constexpr auto begin_of(std::string_view job, std::uint32_t items = 1) {
    return RoundRobinByName{}(request_for(5, items, job)).owner(0);
}
static_assert((begin_of("import-1") + 1) % 5 == begin_of("import-2"));
static_assert((begin_of("import-9") + 1) % 5 == begin_of("import-10"));
static_assert((begin_of("import-1", 2) + 2) % 5 == begin_of("import-2", 2));
static_assert((begin_of("import-1", 13) + 3) % 5 == begin_of("import-2", 13));
static_assert((begin_of("99999999999999999999999999999") + 1) % 5 == begin_of("100000000000000000000000000000"));
static_assert(RoundRobinByName{}(request_for(0, 3)) == closed_form{});

TEST_CASE("round robin by name: a numbered family loads all instances alike") {
    for (std::uint32_t n = 1; n < 9; ++n)
        for (std::uint32_t m = 1; m < 20; ++m) {
            std::vector<std::uint32_t> load(n);
            for (int job = 95; job != 130; ++job) {
                auto const name = "import-" + std::to_string(job);
                auto const request = request_for(n, m, name);
                auto const shares = shares_of(RoundRobinByName{}(request));
                for (slot_index s = 0; s != n; ++s) load[s] += shares[s];
                auto const [low, high] = std::ranges::minmax(load);
                REQUIRE(high - low <= 1);
            }
        }
}

TEST_CASE("round robin by name: names without a number spread as if at random") {
    std::vector<std::uint32_t> load(10);
    for (char a = 'a'; a <= 'z'; ++a)
        for (char b = 'a'; b <= 'z'; ++b) {
            std::string const name{a, b, '-'};
            ++load[RoundRobinByName{}(request_for(10, 1, name)).owner(0)];
        }
    for (auto const l : load) {
        CHECK(l > 40); // 67.6 on average; its deviation is 8
        CHECK(l < 100);
    }
}

} // namespace
