// SPDX-License-Identifier: Apache-2.0
// How long the strategies take, beside lists in vectors (what the Java original builds) and beside the limits
// of memory.
//
// vs_fill, vs_memset: how many times as long as std::fill, and as a memset of as many bytes, all taken in turn on the same
// buffer, the best of many rounds; ns_per_item is from the same rounds. limit_fill and limit_iota are what the compiler
// makes of plain loops.
//
// 2026-11-21, Intel Xeon with AVX-512, 2 shared cores of 2.6 GHz, g++ 12.2 -O2, RotateServerByName:
//
// | instances x items | all owners | vs_fill | vs_memset | all items | lists in vectors |
// |-------------------|------------|---------|-----------|-----------|------------------|
// | 3 x 10            |      18 ns |     3.5 |        11 |     17 ns |            60 ns |
// | 10 x 100          |      19 ns |    0.58 |       4.6 |     42 ns |           206 ns |
// | 100 x 1000        |      80 ns |    0.50 |       3.2 |    275 ns |             3 us |
// | 100 x 10000       |     0.4 us |    0.28 |       2.2 |    0.7 us |             8 us |
// | 1000 x 100000     |     7.0 us |    0.44 |       1.0 |    7.1 us |            81 us |
// | 1000 x 1000000    |    0.14 ms |    0.73 |       1.0 |   0.14 ms |          0.65 ms |
// | 10000 x 10000000  |     1.7 ms |    0.70 |       1.1 |    1.5 ms |            24 ms |
//
// One owner or one list of items: 1.5 ns at any size; own items from the request, hash included: 5.8 ns. At 10 items all
// of it is the allocation itself, 8 to 18 ns whatever there is to write. Where everything fits into the first caches
// memset has registers four times as wide as a compiler may assume without -march.
#include <elasticjob/allocation/average.hpp>
#include <elasticjob/allocation/odevity.hpp>
#include <elasticjob/allocation/rotate.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric> // iota
#include <span>
#include <utility> // pair
#include <vector>

using namespace elasticjob;

namespace {

sharding_request request_of(benchmark::State const& state) {
    static std::vector<instance_id> const instances(10'000);
    return {.job_name = "benchJob",
            .instances = std::span{instances}.first(static_cast<std::size_t>(state.range(0))),
            .item_count = static_cast<std::uint32_t>(state.range(1))};
}

/// The strategy may not be computed ahead of the loop, so the request looks new to the compiler every time.
template <class Strategy>
closed_form allocate(sharding_request& request) {
    benchmark::DoNotOptimize(request);
    return Strategy{}(request);
}

template <class Work>
double best_seconds(Work work, double best, std::uint32_t items) {
    using clock = std::chrono::steady_clock;
    int const repetitions = static_cast<int>(100'000 / items) + 1; // A reading of the clock must not matter.
    auto const begin = clock::now();
    for (int i = 0; i != repetitions; ++i) {
        work();
        benchmark::ClobberMemory();
    }
    return std::min(best, std::chrono::duration<double>(clock::now() - begin).count() / repetitions);
}

/// Runs the benchmark proper, and then compares with the limit.
template <class Write>
void measure(benchmark::State& state, std::vector<std::uint32_t>& out, Write write) {
    for (auto _ : state) {
        write();
        benchmark::ClobberMemory();
    }
    auto const items = static_cast<std::uint32_t>(out.size());
    auto ours = std::numeric_limits<double>::max();
    auto fill = ours;
    auto memset = ours;
    std::uint32_t value = 1;
    for (int round = 0; round != 30; ++round) {
        ours = best_seconds(write, ours, items);
        fill = best_seconds(
            [&] {
                benchmark::DoNotOptimize(value);
                std::fill(out.begin(), out.end(), value);
            },
            fill, items);
        memset = best_seconds([&] { std::memset(out.data(), 1, out.size() * sizeof out[0]); }, memset, items);
    }
    state.counters["vs_fill"] = ours / fill;
    state.counters["vs_memset"] = ours / memset;
    state.counters["ns_per_item"] = ours * 1e9 / items;
}

void limit_fill(benchmark::State& state) {
    std::vector<slot_index> out(request_of(state).item_count);
    slot_index owner = 1;
    measure(state, out, [&] {
        benchmark::DoNotOptimize(owner);
        std::fill(out.begin(), out.end(), owner);
    });
}

void limit_iota(benchmark::State& state) {
    std::vector<item_index> out(request_of(state).item_count);
    item_index first = 1;
    measure(state, out, [&] {
        benchmark::DoNotOptimize(first);
        std::iota(out.begin(), out.end(), first);
    });
}

template <class Strategy>
void all_owners(benchmark::State& state) {
    auto request = request_of(state);
    std::vector<slot_index> out(request.item_count);
    measure(state, out, [&] { allocate<Strategy>(request).copy_owners(out); });
}

template <class Strategy>
void all_items(benchmark::State& state) {
    auto request = request_of(state);
    std::vector<item_index> out(request.item_count);
    measure(state, out, [&] { allocate<Strategy>(request).copy_items(out); });
}

/// What Java does: a list of items for each instance, each with room for its share.
void lists_in_vectors(benchmark::State& state) {
    auto request = request_of(state);
    std::vector<item_index> same_bytes(request.item_count);
    measure(state, same_bytes, [&] {
        benchmark::DoNotOptimize(request);
        auto const n = request.instance_count();
        auto const share = request.item_count / n;
        std::vector<std::vector<item_index>> lists(n);
        item_index next = 0;
        for (auto& list : lists) {
            list.reserve(share + 1);
            for (std::uint32_t i = 0; i != share; ++i) list.push_back(next++);
        }
        for (auto& list : lists)
            if (next != request.item_count) list.push_back(next++);
        benchmark::DoNotOptimize(lists.data());
    });
}

template <class Strategy>
void owner_of_one(benchmark::State& state) {
    auto request = request_of(state);
    auto const allocation = allocate<Strategy>(request);
    item_index item = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(allocation.owner(item));
        item = item + 7 < request.item_count ? item + 7 : 0;
    }
}

template <class Strategy>
void items_of_one(benchmark::State& state) {
    auto request = request_of(state);
    auto const allocation = allocate<Strategy>(request);
    slot_index slot = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(allocation.items_of(slot));
        slot = slot + 1 < request.instance_count() ? slot + 1 : 0;
    }
}

/// All that an instance needs in order to know its own items: from the request, job name included.
template <class Strategy>
void own_items_from_request(benchmark::State& state) {
    auto request = request_of(state);
    for (auto _ : state) benchmark::DoNotOptimize(allocate<Strategy>(request).items_of(0));
}

void sizes(benchmark::internal::Benchmark* benchmark) {
    benchmark->ArgNames({"instances", "items"});
    for (auto const& [n, m] : {std::pair{3, 10},
                               {10, 100},
                               {100, 1'000},
                               {100, 10'000},
                               {1'000, 100'000},
                               {1'000, 1'000'000},
                               {10'000, 10'000'000}})
        benchmark->Args({n, m});
}

#define FOR_EACH_STRATEGY(function)                                                                                    \
    BENCHMARK(function<AverageAllocation>)->Apply(sizes);                                                              \
    BENCHMARK(function<OdevitySortByName>)->Apply(sizes);                                                              \
    BENCHMARK(function<RotateServerByName>)->Apply(sizes)

BENCHMARK(limit_fill)->Apply(sizes);
BENCHMARK(limit_iota)->Apply(sizes);
FOR_EACH_STRATEGY(all_owners);
FOR_EACH_STRATEGY(all_items);
BENCHMARK(lists_in_vectors)->Apply(sizes);
FOR_EACH_STRATEGY(owner_of_one);
FOR_EACH_STRATEGY(items_of_one);
FOR_EACH_STRATEGY(own_items_from_request);

} // namespace
