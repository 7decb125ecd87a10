// SPDX-License-Identifier: Apache-2.0
// What the next fire costs: from random instants and in a chain, in UTC and in a zone with summer time, beside the
// plain way (fields of a tm, one after the other) and beside the floor (splitting an instant into a date). Wanted is
// less than 50 ns in UTC and less than 80 ns in a zone with summer time, for all of these expressions.
//
// 2026-11-21, Intel Xeon with AVX-512, 2 shared and busy cores of 2.6 GHz, g++ 12.2 -O2, ns of CPU time, least of nine
// runs:
//
// | expression          | parse | UTC random | chain | New_York random | chain | tm fields random | chain |
// |---------------------|-------|------------|-------|-----------------|-------|------------------|-------|
// | * * * * * ?         |   336 |         19 |    12 |              35 |    23 |               78 |    62 |
// | 0/5 * * * * ?       |   269 |         19 |    13 |              35 |    23 |              185 |   244 |
// | 0 0/5 * * * ?       |   204 |         20 |    14 |              36 |    24 |              489 |  2904 |
// | 0 0 12 * * ?        |   156 |         20 |    17 |              39 |    26 |              713 |  6460 |
// | 0 15 10 ? * MON-FRI |   164 |         22 |    22 |              42 |    28 |             1357 |  6543 |
// | 0 0/5 14,18 * * ?   |   192 |         19 |    14 |              37 |    24 |              503 |  3017 |
// | 0 0 0 1 1 ?         |   116 |         22 |    21 |              59 |    54 |              447 |  9070 |
// | 0 15 10 L * ?       |   119 |         18 |    21 |              36 |    46 |                  |       |
// | 0 15 10 ? * 6L      |   127 |         21 |    29 |              41 |    52 |                  |       |
// | 0 15 10 ? * 6#3     |   129 |         25 |    26 |              48 |    49 |                  |       |
// | 0 15 10 15W * ?     |   129 |         31 |    34 |              55 |    58 |                  |       |
// | 0 0 0 29 2 ?        |   124 |         38 |    41 |              70 |    65 |             4627 | 15172 |
//
// The floor: a date of an instant 4.5 ns, the segment of New York's clock 20 ns. Loading New York 14 us. Nothing of it
// but the loading allocates (test/cron/no_heap_test.cpp). In a chain each start waits for the fire before; from random
// instants the processor mispredicts more and waits less. TmSearch knows neither L nor W nor #.
#include <elasticjob/cron/next.hpp>
#include <elasticjob/cron/tzif_zone.hpp>

#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace elasticjob;
using std::chrono::seconds;
using std::chrono::sys_seconds;

constexpr std::array corpus{
    "* * * * * ?", "0/5 * * * * ?", "0 0/5 * * * ?",  "0 0 12 * * ?",    "0 15 10 ? * MON-FRI", "0 0/5 14,18 * * ?",
    "0 0 0 1 1 ?", "0 15 10 L * ?", "0 15 10 ? * 6L", "0 15 10 ? * 6#3", "0 15 10 15W * ?",     "0 0 0 29 2 ?",
};

/// Six years from 2020 on, the same in each run.
std::vector<sys_seconds> random_instants() {
    std::mt19937_64 engine{7};
    std::vector<sys_seconds> instants(4096);
    for (auto& t : instants)
        t = sys_seconds{seconds{1'577'836'800 + static_cast<std::int64_t>(engine() % 189'000'000)}};
    return instants;
}

/// The rival: a set of values for each field, and a tm that is pushed forward field by field and repaired by timegm. It
/// knows plain fields only, and this is how most cron libraries work.
class TmSearch {
public:
    explicit TmSearch(detail::cron_fields const& f) {
        for (unsigned i = 0; i < 60; ++i) seconds_[i] = f.seconds >> i & 1, minutes_[i] = f.minutes >> i & 1;
        for (unsigned i = 0; i < 24; ++i) hours_[i] = f.hours >> i & 1;
        for (unsigned i = 1; i < 32; ++i) days_[i] = f.days >> i & 1;
        for (unsigned i = 1; i < 13; ++i) months_[i] = f.months >> i & 1;
        for (unsigned i = 0; i < 7; ++i) weekdays_[i] = f.weekdays >> i & 1;
        by_weekday_ = f.weekdays != 0;
    }

    /// Whether the expression is one that this can do.
    static bool knows(detail::cron_fields const& f) {
        auto const weekdays = static_cast<std::uint32_t>(f.weekdays & 0x7f);
        return !f.days_from_end && !f.nearest_weekdays && !f.nearest_from_end && !f.last_weekdays &&
               f.weekdays == detail::every_week(weekdays);
    }

    std::time_t next(std::time_t after) const {
        std::time_t const t = after + 1;
        std::tm at{};
        for (::gmtime_r(&t, &at); !matches(at); ::timegm(&at)) { // timegm carries what ran over
            if (!months_[static_cast<unsigned>(at.tm_mon + 1)])
                at.tm_mon += 1, at.tm_mday = 1, at.tm_hour = at.tm_min = at.tm_sec = 0;
            else if (!matches_day(at))
                at.tm_mday += 1, at.tm_hour = at.tm_min = at.tm_sec = 0;
            else if (!hours_[static_cast<unsigned>(at.tm_hour)])
                at.tm_hour += 1, at.tm_min = at.tm_sec = 0;
            else if (!minutes_[static_cast<unsigned>(at.tm_min)])
                at.tm_min += 1, at.tm_sec = 0;
            else
                at.tm_sec += 1;
        }
        return ::timegm(&at);
    }

private:
    bool matches_day(std::tm const& at) const {
        return by_weekday_ ? weekdays_[static_cast<unsigned>(at.tm_wday)] : days_[static_cast<unsigned>(at.tm_mday)];
    }
    bool matches(std::tm const& at) const {
        return months_[static_cast<unsigned>(at.tm_mon + 1)] && matches_day(at) &&
               hours_[static_cast<unsigned>(at.tm_hour)] && minutes_[static_cast<unsigned>(at.tm_min)] &&
               seconds_[static_cast<unsigned>(at.tm_sec)];
    }

    std::array<bool, 60> seconds_{}, minutes_{};
    std::array<bool, 24> hours_{};
    std::array<bool, 32> days_{};
    std::array<bool, 13> months_{};
    std::array<bool, 7> weekdays_{};
    bool by_weekday_{};
};

template <class Zone>
void random_starts(benchmark::State& state, cron_expression const& e, Zone const& zone) {
    auto const instants = random_instants();
    std::size_t i = 0;
    for (auto _ : state) benchmark::DoNotOptimize(next_fire(e, instants[i++ % instants.size()], zone));
}

template <class Zone>
void chain(benchmark::State& state, cron_expression const& e, Zone const& zone) {
    auto const begin = random_instants().front();
    auto t = begin;
    for (auto _ : state) t = next_fire(e, t, zone).value_or(begin);
    benchmark::DoNotOptimize(t);
}

void rival_chain(benchmark::State& state, TmSearch const& search) {
    std::time_t t = random_instants().front().time_since_epoch().count();
    for (auto _ : state) benchmark::DoNotOptimize(t = search.next(t));
}

void rival_random(benchmark::State& state, TmSearch const& search) {
    auto const instants = random_instants();
    std::size_t i = 0;
    for (auto _ : state)
        benchmark::DoNotOptimize(search.next(instants[i++ % instants.size()].time_since_epoch().count()));
}

void parse(benchmark::State& state, char const* text) {
    for (auto _ : state) benchmark::DoNotOptimize(parse_cron(text));
}

void floor_date_of(benchmark::State& state) {
    auto const instants = random_instants();
    std::size_t i = 0;
    for (auto _ : state) {
        auto const t = instants[i++ % instants.size()].time_since_epoch().count();
        benchmark::DoNotOptimize(detail::date_of(static_cast<std::int32_t>(t / detail::seconds_per_day)));
    }
}

void floor_zone(benchmark::State& state, TzifZone const& zone) {
    auto const instants = random_instants();
    std::size_t i = 0;
    for (auto _ : state) benchmark::DoNotOptimize(zone.at(instants[i++ % instants.size()]));
}

void load_zone(benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(TzifZone::load("America/New_York"));
}

} // namespace

int main(int argc, char** argv) {
    auto const zone = TzifZone::load("America/New_York");
    if (!zone) {
        std::fprintf(stderr, "%s\n", to_string(zone.error()).c_str());
        return EXIT_FAILURE;
    }
    auto const add = [](std::string const& what, char const* text, auto... body) { // a cell: `column/expression`
        benchmark::RegisterBenchmark((what + "/" + text).c_str(), body...);
    };
    benchmark::RegisterBenchmark("floor: date", floor_date_of);
    benchmark::RegisterBenchmark("floor: New_York at", floor_zone, *zone);
    benchmark::RegisterBenchmark("load New_York", load_zone);
    for (char const* text : corpus) {
        auto const e = parse_cron(text).value();
        add("parse", text, parse, text);
        add("random UTC", text, random_starts<UtcZone>, e, UtcZone{});
        add("chain UTC", text, chain<UtcZone>, e, UtcZone{});
        add("random New_York", text, random_starts<TzifZone>, e, *zone);
        add("chain New_York", text, chain<TzifZone>, e, *zone);
        if (!TmSearch::knows(e.fields())) continue;
        add("rival random UTC", text, rival_random, TmSearch{e.fields()});
        add("rival chain UTC", text, rival_chain, TmSearch{e.fields()});
    }
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
    return EXIT_SUCCESS;
}
