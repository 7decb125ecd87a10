// SPDX-License-Identifier: Apache-2.0
// Measures the cost of a sink for one run, which has two events: an item begins, and it ends. The lines go to
// /dev/null. The rival is two calls of fprintf with half of the fields. SqlEvents is in sqlite_events.cpp and
// postgres_events.cpp. Allocations are those of the thread that reports.
#include "../test/support/counted_new.hpp"
#include "one_run.hpp"

#include <elasticjob/events/line_events.hpp>
#include <elasticjob/events/metrics_events.hpp>
#include <elasticjob/events/queued.hpp>
#include <elasticjob/events/ring_events.hpp>
#include <elasticjob/events/sinks.hpp>

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdio>

namespace {

using namespace elasticjob;

template <class Sink>
void tell(benchmark::State& state, Sink sink) {
    bench::one_run const what;
    what.tell(sink); // what is kept from one time to the next
    auto const before = counted_new::calls;
    for (auto _ : state) {
        what.tell(sink);
        benchmark::ClobberMemory();
    }
    state.counters["allocations"] =
        static_cast<double>(counted_new::calls - before) / static_cast<double>(state.iterations());
}

std::FILE* nowhere() {
    static std::FILE* const file = std::fopen("/dev/null", "w");
    return file;
}

/// The plain way.
struct printf_events {
    void operator()(events::item_started const& e) const {
        std::fprintf(nowhere(), "%s: item %u started, attempt %u\n", e.from.instance.str().c_str(), e.item, e.attempt);
    }
    void operator()(events::item_finished const& e) const {
        std::fprintf(nowhere(), "%s: item %u finished after %.3f s\n", e.from.instance.str().c_str(), e.item,
                     std::chrono::duration<double>(e.took).count());
    }
};

void no_events(benchmark::State& state) { tell(state, NoEvents{}); }
void plain_fprintf(benchmark::State& state) { tell(state, printf_events{}); }
void metrics(benchmark::State& state) { tell(state, MetricsEvents{}); }
void ring(benchmark::State& state) { tell(state, RingEvents{}); }
void logfmt_to_stream(benchmark::State& state) { tell(state, LogfmtEvents{to_stream{nowhere()}}); }
void json_to_descriptor(benchmark::State& state) { tell(state, JsonLinesEvents{to_descriptor{fileno(nowhere())}}); }
void metrics_and_ring(benchmark::State& state) { tell(state, Sinks{MetricsEvents{}, RingEvents{}}); }
/// What the loop spends on it; the lines are written by the queue's own thread, or left out where it cannot follow.
void queued_logfmt(benchmark::State& state) { tell(state, Queued{LogfmtEvents{to_stream{nowhere()}}}); }

BENCHMARK(no_events);
BENCHMARK(plain_fprintf);
BENCHMARK(metrics);
BENCHMARK(ring);
BENCHMARK(metrics_and_ring);
BENCHMARK(logfmt_to_stream);
BENCHMARK(json_to_descriptor);
BENCHMARK(queued_logfmt);

} // namespace
