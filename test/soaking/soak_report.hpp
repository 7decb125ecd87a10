// SPDX-License-Identifier: Apache-2.0
/// \file \brief The report at the end of a soak.
#ifndef ELASTICJOB_TEST_SOAKING_SOAK_REPORT_HPP
#define ELASTICJOB_TEST_SOAKING_SOAK_REPORT_HPP

#include <soaking/soak_checker.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

namespace elasticjob::test {

inline void print_summary(soak_checker const& c) {
    auto const& t = c.totals();
    std::cout << "faults:\n";
    for (auto const& [what, n] : t.counts)
        if (what.starts_with("fault ")) std::cout << "  " << what.substr(6) << ' ' << n << '\n';
    std::cout << "seen:\n";
    for (auto const& [what, n] : t.counts)
        if (!what.starts_with("fault ")) std::cout << "  " << what << ' ' << n << '\n';
    std::cout << "longest time without a leader: " << t.longest_without_leader_us / 1000 << " ms ("
              << t.where_without_leader << ")\n"
              << "longest time without a run of an item: " << t.longest_item_gap_us / 1000 << " ms ("
              << t.where_item_gap << ")\n"
              << "violations: " << c.violations().size() << '\n';
    for (auto const& v : c.violations()) std::cout << "  " << v.rule << ' ' << v.job << ": " << v.what << '\n';
}

/// The lines of the log around the first violation: those of its job, and those of faults and commands.
inline void print_surroundings(soak_violation const& v, std::filesystem::path const& log) {
    constexpr std::int64_t around_us = 5'000'000;
    constexpr std::size_t lines_max = 120;
    std::cout << "around " << v.at_us << " in " << log.string() << ":\n";
    std::ifstream file{log};
    std::deque<std::string> shown;
    for (std::string text; std::getline(file, text);) {
        auto const l = soak_line::parse(text);
        if (!l || l->at_us < v.at_us - around_us || l->at_us > v.at_us + around_us || l->verb == "node") continue;
        if (l->who == "driver" || l->job == v.job || v.job == "-") shown.push_back(text.substr(0, 200));
        if (shown.size() > lines_max && l->at_us < v.at_us) shown.pop_front();
        if (shown.size() > lines_max) break;
    }
    for (auto const& text : shown) std::cout << "  " << text << '\n';
}

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SOAKING_SOAK_REPORT_HPP
