// SPDX-License-Identifier: Apache-2.0
// How long the strategies take, beside lists in vectors (what the Java original builds) and beside the limits
// of memory.
//
// limit_fill, limit_iota and limit_memset are what the compiler makes of plain loops over as many items, and a memset
// of as many bytes. benchmarks/run prints the times of all, and those for one item.
//
// 2026-11-22, AMD EPYC (Zen 4), 2 shared and busy cores of 2.6 GHz, g++ 12.2 -O2 without flags for this processor,
// RotateServerByName, the best of several runs; vs_fill and vs_memset are how many times as long as std::fill and
// memset, the last column is that of AverageAllocation and RotateServerByName at -O3:
//
// | instances x items | all owners | vs_fill | vs_memset | all items | vs_memset | lists in vectors | owners, -O3 |
// |-------------------|------------|---------|-----------|-----------|-----------|------------------|-------------|
// | 3 x 10            |      14 ns |     4.8 |       5.3 |     15 ns |       6.0 |            55 ns |    3.1, 5.6 |
// | 10 x 100          |      17 ns |    0.59 |       3.4 |     31 ns |       6.4 |           199 ns |    2.2, 3.2 |
// | 100 x 1000        |      71 ns |    0.25 |       2.0 |    205 ns |       5.5 |             3 us |    1.2, 1.7 |
// | 100 x 10000       |     0.4 us |    0.13 |       1.0 |    0.4 us |       1.2 |             8 us |    1.1, 1.1 |
// | 1000 x 100000     |     3.7 us |    0.14 |       1.1 |    4.2 us |       1.2 |            80 us |    1.1, 1.1 |
// | 1000 x 1000000    |      40 us |    0.15 |       1.0 |     40 us |       1.0 |          0.57 ms |    1.0, 1.0 |
// | 10000 x 10000000  |     1.4 ms |     0.5 |       1.0 |    1.4 ms |       1.0 |            27 ms |    1.0, 1.0 |
//
// So the limit is met where there is enough to write. Below, an answer is its fixed part: a division (1.6 ns with the
// rest of an average), a hash of the name (3 ns), two calls; and where an instance has ten items, the stores that they
// share. One owner or one list of items: 2 ns at any size; own items from the request, hash included: 5 ns.
//
// The strategies that store their answer, the same machine, compiler and flags. sticky: an instance leaves and comes
// back, in turn; as the leader asks (runs), in a table of owners whose neighbours have one owner, or any; and with
// lists. labels: 16 kinds of items, each label with about a third of the instances.
//
// | instances x items | sticky runs | per item | table, per item | any, per item | lists, per item | weighted | labels |
// |-------------------|-------------|----------|-----------------|---------------|-----------------|----------|--------|
// | 3 x 10            |       40 ns |   4.0 ns |          1.9 ns |        1.9 ns |           20 ns |    60 ns | 4.9 us |
// | 10 x 100          |       90 ns |   0.9 ns |          0.7 ns |        0.9 ns |           10 ns |   0.2 us |  15 us |
// | 100 x 1000        |      0.6 us |   0.6 ns |          0.6 ns |        0.8 ns |           11 ns |   1.0 us | 126 us |
// | 100 x 10000       |      0.8 us |  0.08 ns |          0.4 ns |        0.6 ns |          5.2 ns |   1.3 us | 125 us |
// | 1000 x 100000     |      5.0 us |  0.05 ns |          0.4 ns |        0.6 ns |          5.1 ns |    14 us | 2.0 ms |
// | 1000 x 1000000    |      7.9 us | 0.008 ns |          0.2 ns |        0.6 ns |          5.9 ns |    51 us | 2.0 ms |
// | 10000 x 10000000  |       49 us | 0.005 ns |          0.2 ns |        0.8 ns |          6.0 ns |   1.4 ms |  27 ms |
//
// At -O3 the tables of 3 x 10 take 2.1 ns an item. The runs of 3 x 10 take one allocation on the heap, 11 ns with its
// release; to copy three runs into an answer, which takes the place of the one copied, is 21 to 25 ns and the limit for
// whatever answers with stored runs.
//
// Weighted is at 1.1 times a memset at 10000 x 10000000 and 1.3 at 1000 x 1000000; below that its shares cost more than
// its items. Rendezvous costs 1 to 1.5 ns for each item and instance (strings: 40 ns), spread 41 us for 1000 instances,
// round robin by name 10 ns at any size. The naive labels, item by item to the least loaded, take 30 to 40 ms at 100 x
// 10000 with a largest load of 117 where 100 is possible.
#include <elasticjob/allocation/average.hpp>
#include <elasticjob/allocation/label.hpp>
#include <elasticjob/allocation/odevity.hpp>
#include <elasticjob/allocation/rendezvous.hpp>
#include <elasticjob/allocation/rotate.hpp>
#include <elasticjob/allocation/round_robin_by_name.hpp>
#include <elasticjob/allocation/spread.hpp>
#include <elasticjob/allocation/sticky.hpp>
#include <elasticjob/allocation/weighted.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional> // hash
#include <numeric> // iota
#include <random>
#include <span>
#include <string>
#include <utility> // pair
#include <vector>

using namespace elasticjob;

namespace {

std::vector<instance_id> const& ten_thousand() {
    static std::vector<instance_id> const instances = [] {
        std::vector<instance_id> ids;
        for (int i = 0; i != 10'000; ++i)
            ids.push_back(instance_id::parse("10.1." + std::to_string(99 - i / 100) + "." + std::to_string(99 - i % 100) +
                                             "@-@4711-60303ae22b998861")
                              .value());
        return ids;
    }();
    return instances;
}

sharding_request request_of(benchmark::State const& state) {
    return {.job_name = "benchJob",
            .instances = std::span{ten_thousand()}.first(static_cast<std::size_t>(state.range(0))),
            .item_count = static_cast<std::uint32_t>(state.range(1))};
}

/// The strategy may not be computed ahead of the loop, so the request looks new to the compiler every time.
template <class Strategy>
closed_form allocate(sharding_request& request) {
    benchmark::DoNotOptimize(request);
    return Strategy{}(request);
}

/// One piece of code, wherever it is called: twice inlined, one of the two may be twice as fast as the other.
template <class Work>
[[gnu::noinline]] void call(Work& work) {
    work();
}

template <class Work>
void measure(benchmark::State& state, Work work) {
    for (auto _ : state) {
        call(work);
        benchmark::ClobberMemory();
    }
}

void limit_fill(benchmark::State& state) {
    std::vector<slot_index> out(request_of(state).item_count);
    slot_index owner = 1;
    measure(state, [&] {
        benchmark::DoNotOptimize(owner);
        std::fill(out.begin(), out.end(), owner);
    });
}

void limit_memset(benchmark::State& state) {
    std::vector<slot_index> out(request_of(state).item_count);
    measure(state, [&] { std::memset(out.data(), 1, out.size() * sizeof out[0]); });
}

void limit_iota(benchmark::State& state) {
    std::vector<item_index> out(request_of(state).item_count);
    item_index first = 1;
    measure(state, [&] {
        benchmark::DoNotOptimize(first);
        std::iota(out.begin(), out.end(), first);
    });
}

template <class Strategy>
void all_owners(benchmark::State& state) {
    auto request = request_of(state);
    std::vector<slot_index> out(request.item_count);
    measure(state, [&] { allocate<Strategy>(request).copy_owners(out); });
}

template <class Strategy>
void all_items(benchmark::State& state) {
    auto request = request_of(state);
    std::vector<item_index> out(request.item_count);
    measure(state, [&] { allocate<Strategy>(request).copy_items(out); });
}

/// What Java does: a list of items for each instance, each with room for its share.
void lists_in_vectors(benchmark::State& state) {
    auto request = request_of(state);
    measure(state, [&] {
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

// ---- Sticky: an instance leaves and joins again, in turn. So half of the rebalances move one share, the other half
// too.

/// Runs in, runs out: what the leader does. Nothing of it grows with the items.
void sticky_runs(benchmark::State& state) {
    auto request = request_of(state);
    auto const all = request.instances;
    stored_runs now = StickyAllocation{}(request);
    measure(state, [&] {
        request.instances = request.instances.size() == all.size() ? all.first(all.size() - 1) : all;
        request.previous_runs = now.runs(); // the owner who is gone is no slot any more
        now = StickyAllocation{}(request);
        benchmark::DoNotOptimize(now);
    });
    state.counters["runs"] = static_cast<double>(now.runs().size());
}

/// A table of owners, in place, whose neighbours have one owner; or any.
template <bool Scattered>
void sticky_table(benchmark::State& state) {
    auto const request = request_of(state);
    std::vector<slot_index> owners(request.item_count);
    auto const n = request.instance_count();
    std::mt19937 random{1};
    AverageAllocation{}(request).copy_owners(owners);
    if (Scattered) std::shuffle(owners.begin(), owners.end(), random);
    auto slots = n;
    measure(state, [&] {
        slots = slots == n ? n - 1 : n;
        StickyAllocation::rebalance(owners, slots);
    });
}

/// The obvious way: each instance has a list, and overloaded instances give items to others.
void sticky_lists(benchmark::State& state) {
    auto const request = request_of(state);
    auto const n = request.instance_count();
    std::vector<std::vector<item_index>> lists(n);
    for (slot_index slot = 0; slot != n; ++slot)
        AverageAllocation{}(request).items_of(slot).for_each([&](item_index item) { lists[slot].push_back(item); });
    auto slots = n;
    measure(state, [&] {
        slots = slots == n ? n - 1 : n;
        std::vector<std::vector<item_index>> fresh(n); // the caller's lists are not ours to change
        std::vector<item_index> homeless;
        for (slot_index slot = 0; slot != n; ++slot) {
            auto const target = slot < slots ? request.item_count / slots + (slot < request.item_count % slots) : 0;
            for (item_index const item : lists[slot])
                if (fresh[slot].size() < target)
                    fresh[slot].push_back(item);
                else
                    homeless.push_back(item);
        }
        for (slot_index slot = 0; slot != slots; ++slot)
            while (fresh[slot].size() < request.item_count / slots + (slot < request.item_count % slots)) {
                fresh[slot].push_back(homeless.back());
                homeless.pop_back();
            }
        for (auto& list : fresh) std::sort(list.begin(), list.end());
        lists = std::move(fresh);
        benchmark::DoNotOptimize(lists.data());
    });
}

// ---- Weighted: the shares, and all owners written out.

std::vector<instance_traits> weights_for(sharding_request const& request) {
    std::mt19937 random{2};
    std::vector<instance_traits> traits;
    for (std::uint32_t i = 0; i != request.instance_count(); ++i)
        traits.push_back({static_cast<std::uint32_t>(1 + random() % 16), {}});
    return traits;
}

void weighted_owners(benchmark::State& state) {
    auto request = request_of(state);
    auto const traits = weights_for(request);
    request.traits = traits;
    std::vector<slot_index> out(request.item_count);
    measure(state, [&] {
        benchmark::DoNotOptimize(request);
        WeightedAllocation{}(request).copy_owners(out);
    });
}

/// Item by item, in floating point: a heap finds the instance furthest below its quota.
void weighted_heap(benchmark::State& state) {
    auto request = request_of(state);
    auto const traits = weights_for(request);
    std::vector<slot_index> out(request.item_count);
    for (auto _ : state) {
        std::vector<std::pair<double, slot_index>> heap;
        for (slot_index slot = 0; slot != request.instance_count(); ++slot) heap.emplace_back(0.0, slot);
        auto const later = std::greater<>{};
        std::make_heap(heap.begin(), heap.end(), later);
        for (auto& owner : out) {
            std::pop_heap(heap.begin(), heap.end(), later);
            owner = heap.back().second;
            heap.back().first += 1.0 / traits[owner].weight;
            std::push_heap(heap.begin(), heap.end(), later);
        }
        benchmark::ClobberMemory();
    }
}

// ---- The others, as a leader asks them.

template <class Strategy>
void whole(benchmark::State& state) {
    auto request = request_of(state);
    for (auto _ : state) {
        benchmark::DoNotOptimize(request);
        auto const a = Strategy{}(request);
        benchmark::DoNotOptimize(a);
    }
}

void rendezvous_strings(benchmark::State& state) {
    auto const request = request_of(state);
    for (auto _ : state) {
        std::vector<slot_index> owners;
        for (item_index item = 0; item != request.item_count; ++item) {
            std::size_t best = 0;
            slot_index owner = 0;
            for (slot_index slot = 0; slot != request.instance_count(); ++slot) {
                auto const key = std::string{request.job_name} + std::to_string(item) + request.instances[slot].str();
                if (auto const pull = std::hash<std::string>{}(key); pull > best) {
                    best = pull;
                    owner = slot;
                }
            }
            owners.push_back(owner);
        }
        benchmark::DoNotOptimize(owners.data());
    }
}

/// 16 kinds of items, each in a stretch of its own; each of 16 labels is with about every third instance.
struct labelled_request {
    std::vector<std::string> texts;
    std::vector<instance_traits> traits;
    std::vector<item_need> needs;
    sharding_request request;

    explicit labelled_request(benchmark::State const& state) : request{request_of(state)} {
        static constexpr char const* labels[]{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p"};
        std::mt19937 random{3};
        for (std::uint32_t i = 0; i != request.instance_count(); ++i) {
            texts.emplace_back();
            for (auto const* label : labels)
                if (random() % 3 == 0 || i < 1) texts.back().append(label).append(" "); // one of them has all
        }
        for (auto const& text : texts) traits.push_back({1, text});
        auto const stretch = (request.item_count + 15) / 16;
        for (std::uint32_t k = 0; k != 16; ++k) needs.push_back({k * stretch, (k + 1) * stretch, labels[k]});
        request.traits = traits;
        request.needs = needs;
    }
};

void labels_exact(benchmark::State& state) {
    labelled_request const labelled{state};
    std::uint32_t largest = 0;
    for (auto _ : state) {
        auto const a = LabelAllocation{}(labelled.request);
        benchmark::DoNotOptimize(a);
        std::vector<std::uint32_t> load(a.instances());
        item_index begin = 0;
        for (run const& r : a.runs()) {
            if (r.owner != no_slot) load[r.owner] += r.end - begin;
            begin = r.end;
        }
        largest = *std::max_element(load.begin(), load.end());
    }
    state.counters["largest_load"] = largest;
}

/// Item by item to the least loaded of those who may own it.
void labels_greedy(benchmark::State& state) {
    labelled_request const labelled{state};
    auto const& request = labelled.request;
    std::uint32_t largest = 0;
    for (auto _ : state) {
        std::vector<std::uint32_t> load(request.instance_count());
        for (auto const& need : request.needs)
            for (auto item = need.begin; item < std::min(need.end, request.item_count); ++item) {
                auto best = no_slot;
                for (slot_index slot = 0; slot != request.instance_count(); ++slot)
                    if (has_labels(request.labels(slot), need.labels) && (best == no_slot || load[slot] < load[best]))
                        best = slot;
                if (best != no_slot) ++load[best];
            }
        largest = *std::max_element(load.begin(), load.end());
    }
    state.counters["largest_load"] = largest;
}

void small_sizes(benchmark::internal::Benchmark* benchmark) {
    benchmark->ArgNames({"instances", "items"});
    for (auto const& [n, m] : {std::pair{3, 10}, {10, 100}, {100, 1'000}, {100, 10'000}}) benchmark->Args({n, m});
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
BENCHMARK(limit_memset)->Apply(sizes);
BENCHMARK(limit_iota)->Apply(sizes);
FOR_EACH_STRATEGY(all_owners);
FOR_EACH_STRATEGY(all_items);
BENCHMARK(lists_in_vectors)->Apply(sizes);
FOR_EACH_STRATEGY(owner_of_one);
FOR_EACH_STRATEGY(items_of_one);
FOR_EACH_STRATEGY(own_items_from_request);
BENCHMARK(sticky_runs)->Apply(sizes);
BENCHMARK(sticky_table<false>)->Apply(sizes);
BENCHMARK(sticky_table<true>)->Apply(sizes);
BENCHMARK(sticky_lists)->Apply(sizes);
BENCHMARK(weighted_owners)->Apply(sizes);
BENCHMARK(weighted_heap)->Apply(sizes);
BENCHMARK(whole<SpreadAllocation>)->Apply(sizes);
BENCHMARK(whole<RoundRobinByName>)->Apply(sizes);
BENCHMARK(whole<RendezvousAllocation>)->Apply(small_sizes)->Args({1'000, 100'000});
BENCHMARK(rendezvous_strings)->Apply(small_sizes);
BENCHMARK(labels_exact)->Apply(sizes);
BENCHMARK(labels_greedy)->Apply(small_sizes);

} // namespace
