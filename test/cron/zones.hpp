// SPDX-License-Identifier: Apache-2.0
/// \file \brief Every zone of the machine's database, and its clock changes as the C library gives them.
#ifndef ELASTICJOB_TEST_CRON_ZONES_HPP
#define ELASTICJOB_TEST_CRON_ZONES_HPP

#include "support.hpp"
#include "tz_variable.hpp"

#include <algorithm>
#include <chrono>
#include <compare>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace cron_test {

/// At this instant the offset changes.
struct turn {
    sys_seconds at;
    std::chrono::seconds before;
    std::chrono::seconds after;

    friend bool operator==(turn const&, turn const&) = default;
    friend auto operator<=>(turn const&, turn const&) = default;
};

inline constexpr auto turns_begin = instant("1970-01-01"), turns_end = instant("2038-01-01");

inline std::filesystem::path zone_directory() {
    char const* const chosen = std::getenv("TZDIR");
    return chosen && *chosen ? chosen : "/usr/share/zoneinfo";
}

/// The names of all zones, sorted; of several names for the same bytes, only the first. Without the copies below
/// posix/, and without right/, whose clocks count leap seconds.
inline std::vector<std::string> all_zones() {
    namespace fs = std::filesystem;
    auto const root = zone_directory();
    std::vector<std::string> names;
    for (fs::recursive_directory_iterator at{root}, end; at != end; ++at) {
        auto const name = at->path().lexically_relative(root).generic_string();
        if (name == "posix" || name == "right") at.disable_recursion_pending();
        if (at->is_regular_file()) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    std::set<std::string> contents;
    std::erase_if(names, [&](std::string const& name) {
        std::ifstream file{root / name, std::ios::binary};
        std::string bytes{std::istreambuf_iterator<char>{file}, {}};
        return !bytes.starts_with("TZif") || !contents.insert(std::move(bytes)).second;
    });
    return names;
}

/// The clock changes from 1970 to 2037. It compares the offset once a day, and where the offset differs from the day
/// before, a binary search finds the second. `offset_at` is a function of an instant.
template <class Offset>
std::vector<turn> turns_of(Offset offset_at) {
    using std::chrono::days;
    using std::chrono::seconds;
    std::vector<turn> turns;
    auto known = offset_at(turns_begin);
    for (auto t = turns_begin; t < turns_end;) {
        auto const next = std::min(t + days{1}, turns_end - seconds{1});
        if (offset_at(next) == known) {
            t = t + days{1};
            continue;
        }
        auto low = t, high = next; // `low` has the known offset, `high` has another
        while (high - low > seconds{1}) {
            auto const middle = low + (high - low) / 2;
            (offset_at(middle) == known ? low : high) = middle;
        }
        turns.push_back({high, known, offset_at(high)});
        known = turns.back().after;
        t = high;
    }
    return turns;
}

/// By the C library.
inline std::vector<turn> turns_of_zone(std::string const& name) {
    tz_variable const tz{name.c_str()};
    return turns_of([&](sys_seconds t) { return std::chrono::seconds{tz.offset(t)}; });
}

} // namespace cron_test
#endif // ELASTICJOB_TEST_CRON_ZONES_HPP
