// SPDX-License-Identifier: Apache-2.0
// A week of a large cluster in virtual time, and a picture of it: which instance ran how much when.
//
//   simulate_at_scale [--instances N] [--items N] [--days N] [--seed N] [--svg FILE]
//
// Ten jobs share the items, each with a schedule of its own, from every hour to once a week. A rack of ten machines
// loses its power on the second day, two racks do on the fourth, half of all followers lag behind by up to a second on
// the third. All machines begin with the previous version of the library. On the fifth day, or on the last one if there
// are fewer, they get the present version, one after another. Every invariant of docs/simulation.md is checked after
// each step. Exit status 1: one did not hold.
#include <elasticjob/testing/simulation.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::testing;
using namespace std::chrono_literals;

namespace {

struct settings {
    std::uint32_t instances = 100;
    std::uint32_t items = 10'000;
    std::uint32_t days = 7;
    std::uint64_t seed = 1;
    std::string svg{};
};

constexpr std::uint32_t rack_size = 10;
constexpr auto column = 1h; ///< of the picture

/// Each is due at a minute of its own.
struct plan_of_job {
    char const* name;
    char const* cron;
    std::chrono::milliseconds lasts;
};
constexpr std::array<plan_of_job, 10> jobs{{
    {"hourly", "0 0 * * * ?", 20s},
    {"every-two-hours", "0 5 0/2 * * ?", 60s},
    {"office-hours", "0 10/30 9-17 ? * MON-FRI", 90s},
    {"every-three-hours", "0 15 0/3 * * ?", 5min},
    {"every-four-hours", "0 20 0/4 * * ?", 10s},
    {"every-six-hours", "0 25 0/6 * * ?", 20min},
    {"nightly", "0 30 2 * * ?", 45min},
    {"mornings", "0 35 6 ? * MON-FRI", 2min},
    {"evenings", "0 45 22 * * ?", 30min},
    {"weekly", "0 50 3 ? * SUN", 2h},
}};

/// Runs of each instance in each hour, and the hours in which its machine was down.
struct history {
    static constexpr std::string_view name = "history";
    struct row {
        std::map<std::int64_t, std::uint32_t> runs{};
        std::map<std::int64_t, bool> is_down{};
        std::optional<mono_time> down_since{};
    };
    std::shared_ptr<std::vector<row>> rows = std::make_shared<std::vector<row>>();
    std::shared_ptr<std::map<std::string, std::uint64_t>> sums =
        std::make_shared<std::map<std::string, std::uint64_t>>();

    static std::int64_t column_of(mono_time t) { return t.time_since_epoch() / column; }

    std::string on(observation const& o, cluster_view const&) const {
        using kind = observation::kind;
        auto& r = (*rows)[o.node];
        switch (o.what) {
        case kind::body_began:
            ++r.runs[column_of(o.at)];
            ++(*sums)["runs"];
            break;
        case kind::started:
            if (o.source == run_source::failover) ++(*sums)["failover runs"];
            if (o.source == run_source::misfire) ++(*sums)["runs that make up for missed instants"];
            break;
        case kind::skipped:
            ++(*sums)["skipped"];
            break;
        case kind::resharded:
            ++(*sums)["shardings"];
            break;
        case kind::process_killed:
        case kind::process_ended:
            r.down_since = o.at;
            break;
        case kind::process_began:
            ++(*sums)["processes of the " + (o.text.empty() ? "present" : o.text) + " version"];
            if (r.down_since)
                for (auto c = column_of(*r.down_since); c <= column_of(o.at); ++c) r.is_down[c] = true;
            r.down_since.reset();
            break;
        default:
            break;
        }
        return {};
    }
};

/// One path for each shade: machines from top to bottom, hours from left to right.
void draw(std::string const& file, history const& h, settings const& with) {
    constexpr int cell = 6, left = 60, top = 40;
    constexpr std::array<std::string_view, 6> shades{"#e8eef7", "#b7cbe6", "#7fa3d1", "#4a7ab8", "#21528f", "#c0392b"};
    std::array<std::string, shades.size()> paths;
    std::uint32_t most = 1;
    for (auto const& r : *h.rows)
        for (auto const& [unused, n] : r.runs) most = std::max(most, n);
    auto const hours = with.days * 24;
    for (std::size_t n = 0; n < h.rows->size(); ++n)
        for (std::uint32_t c = 0; c < hours; ++c) {
            auto const& r = (*h.rows)[n];
            auto const runs = r.runs.contains(c) ? r.runs.at(c) : 0;
            auto const part = std::log1p(runs) / std::log1p(most); // hours of a deploy have many times the usual runs
            std::size_t const shade = r.is_down.contains(c) ? 5
                                      : runs == 0           ? 0
                                                            : 1 + std::min(3U, static_cast<unsigned>(4 * part));
            paths[shade] += "M" + std::to_string(left + static_cast<int>(c) * cell) + " " +
                            std::to_string(top + static_cast<int>(n) * cell) + "h5v5h-5z";
        }
    auto const width = left + static_cast<int>(hours) * cell + 20;
    auto const height = top + static_cast<int>(h.rows->size()) * cell + 20;
    std::ofstream out{file};
    out << "<svg xmlns='http://www.w3.org/2000/svg' width='" << width << "' height='" << height
        << "' font-family='sans-serif' font-size='11'>\n<rect width='100%' height='100%' fill='white'/>\n<text x='"
        << left << "' y='14'>" << with.instances << " instances, " << with.items << " items, " << with.days
        << " days; a column is an hour; the darker, the more runs (at most " << most
        << "); red: the machine was down</text>\n";
    for (std::uint32_t d = 0; d < with.days; ++d)
        out << "<text x='" << left + static_cast<int>(d) * 24 * cell << "' y='32'>day " << d + 1 << "</text>\n";
    for (std::size_t n = 0; n < h.rows->size(); n += rack_size)
        out << "<text x='4' y='" << top + static_cast<int>(n) * cell + 10 << "'>rack " << n / rack_size + 1
            << "</text>\n";
    for (std::size_t s = 0; s < shades.size(); ++s)
        out << "<path fill='" << shades[s] << "' d='" << paths[s] << "'/>\n";
    out << "</svg>\n";
}

fault_plan week_of(settings const& with, std::uint32_t new_version) {
    fault_plan all;
    auto const racks = std::max(1U, with.instances / rack_size);
    auto const lose = [&](std::uint32_t rack, std::chrono::milliseconds at, std::chrono::milliseconds span) {
        for (std::uint32_t n = 0; n < rack_size; ++n) {
            auto const node = (rack % racks) * rack_size + n;
            if (racks > 1 && node < with.instances)
                all.push_back({.at = at, .what = fault_kind::crash, .node = node, .span = span});
        }
    };
    lose(3, 24h + 10h + 20min + 7s, 40min);
    lose(6, 72h + 2h + 40min, 2h); // in the middle of the nightly runs
    lose(7, 72h + 2h + 40min, 2h);
    for (std::uint32_t node = 0; node < with.instances; node += 2)
        all.push_back({.at = 48h, .what = fault_kind::stale_reads, .node = node, .span = 24h});
    auto const day_of_deploy = std::min(with.days, 5U) - 1;
    for (std::uint32_t node = 0; node < with.instances; ++node)
        all.push_back({.at = day_of_deploy * 24h + 14h + node * 60s,
                       .what = fault_kind::deploy,
                       .node = node,
                       .span = 20s,
                       .count = new_version});
    std::erase_if(all, [&](fault const& f) { return f.at >= with.days * 24h; });
    std::stable_sort(all.begin(), all.end(), [](fault const& a, fault const& b) { return a.at < b.at; });
    return all;
}

int simulate(settings const& with) {
    simulation_options o;
    o.scheduler.items_max = 10'000;
    o.start -= 20min; // so that all have joined when the first items are due
    o.steps_in_second_max = 100'000 + 2'000 * std::uint64_t{with.items} + 20'000 * std::uint64_t{with.instances};
    history const seen;
    seen.rows->resize(with.instances);
    simulation<> s{with.seed, o};
    for (auto const& j : jobs) {
        job_config c;
        c.name = j.name;
        c.cron = j.cron;
        c.failover = true;
        c.sharding_total_count = static_cast<int>(with.items / jobs.size());
        s.add_job(std::move(c), [lasts = j.lasts](sharding_context const&) {
            return simulated_run{.duration = lasts, .stops_after = 100ms};
        });
    }
    s.add_nodes(with.instances);
    constexpr std::uint32_t present = 0;
    auto const previous = s.add_version(previous_version);
    for (std::uint32_t node = 0; node < with.instances; ++node) s.set_version(node, previous);
    s.add_invariant(seen);
    // One joins after another: the machines of a real cluster do not start within a second either.
    for (std::uint32_t node = 1; node < with.instances; ++node)
        for (std::uint32_t job = 0; job < jobs.size(); ++job) s.set_member(node, job, false);
    auto plan = week_of(with, present);
    for (std::uint32_t node = 1; node < with.instances; ++node)
        for (std::uint32_t job = 0; job < jobs.size(); ++job)
            plan.push_back({.at = node * 5s, .what = fault_kind::join, .node = node, .job = job});
    std::stable_sort(plan.begin(), plan.end(), [](fault const& a, fault const& b) { return a.at < b.at; });

    auto const begin = std::chrono::steady_clock::now();
    s.start_all();
    s.schedule_faults(plan);
    for (std::uint32_t day = 0; day < with.days && !s.is_over(); ++day) {
        s.run_for(24h);
        std::cout << "day " << day + 1 << ": " << (*seen.sums)["runs"] << " runs, " << s.steps() << " steps, "
                  << std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begin).count()
                  << " s" << std::endl;
    }
    if (!s.is_over()) {
        s.end_faults();
        s.run_for(o.settle);
        s.stop_all();
    }
    for (auto const& [what, n] : *seen.sums) std::cout << what << ": " << n << '\n';
    std::cout << "requests: " << s.server().counts().reads << " reads, " << s.server().counts().writes << " writes\n";
    if (!with.svg.empty()) draw(with.svg, seen, with);
    if (!s.is_over()) return 0;
    std::cerr << to_string(s.violations().front()) << '\n';
    return 1;
}

std::optional<settings> read(int count, char** words) {
    settings with;
    auto const number = [](std::string_view text, auto& into) {
        auto const end = text.data() + text.size();
        auto const done = std::from_chars(text.data(), end, into);
        return done.ec == std::errc{} && done.ptr == end && into > 0;
    };
    for (int n = 1; n + 1 < count; n += 2) {
        std::string_view const name = words[n], value = words[n + 1];
        bool const is_known = name == "--instances" ? number(value, with.instances)
                              : name == "--items"   ? number(value, with.items)
                              : name == "--days"    ? number(value, with.days)
                              : name == "--seed"    ? number(value, with.seed)
                                                    : name == "--svg";
        if (!is_known) return std::nullopt;
        if (name == "--svg") with.svg = value;
    }
    bool const is_possible = count % 2 == 1 && with.instances <= 1'000 && with.items >= jobs.size() &&
                             with.items <= 100'000 && with.days <= 366;
    if (!is_possible) return std::nullopt;
    return with;
}

} // namespace

int main(int count, char** words) {
    auto const with = read(count, words);
    if (with) return simulate(*with);
    std::cerr
        << "usage: simulate_at_scale [--instances N, at most 1000] [--items N, from 10 to 100000] [--days N, at most "
           "366] [--seed N] [--svg FILE]\n";
    return 2;
}
