// SPDX-License-Identifier: Apache-2.0
/// \file \brief Shared by the tests of cron/: readable instants, and repeatable random numbers.
#ifndef ELASTICJOB_TEST_CRON_SUPPORT_HPP
#define ELASTICJOB_TEST_CRON_SUPPORT_HPP

#include <elasticjob/cron/expression.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>

namespace cron_test {

using std::chrono::sys_seconds;

/// `instant("2024-02-29 12:00:00")`, or the day alone for its midnight; UTC.
constexpr sys_seconds instant(std::string_view text) {
    auto const number = [&](std::size_t at, std::size_t length) {
        int n = 0;
        for (char const c : text.substr(at, length)) n = n * 10 + (c - '0');
        return n;
    };
    using namespace std::chrono;
    sys_seconds const midnight = sys_days{year{number(0, 4)} / number(5, 2) / number(8, 2)};
    if (text.size() == 10) return midnight;
    return midnight + hours{number(11, 2)} + minutes{number(14, 2)} + seconds{number(17, 2)};
}

inline std::string text_of(sys_seconds t) {
    using namespace std::chrono;
    auto const day = floor<days>(t);
    year_month_day const date{day};
    hh_mm_ss const time{t - day};
    char text[64];
    std::snprintf(text, sizeof text, "%04d-%02u-%02u %02d:%02d:%02d", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                  static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                  static_cast<int>(time.seconds().count()));
    return text;
}

/// ELASTICJOB_TEST_SEED, or a constant. A test prints it, so that a failure can be repeated.
inline std::uint64_t seed() {
    char const* const chosen = std::getenv("ELASTICJOB_TEST_SEED");
    return chosen ? std::strtoull(chosen, nullptr, 10) : 20'240'229;
}

class dice {
public:
    explicit dice(std::uint64_t s) : engine_{s} {}

    /// From low to high, both included. The distributions of the standard differ between libraries; this one does not.
    unsigned from_to(unsigned low, unsigned high) { return low + static_cast<unsigned>(engine_() % (high - low + 1)); }
    bool one_in(unsigned n) { return from_to(1, n) == 1; }

private:
    std::mt19937_64 engine_;
};

} // namespace cron_test
#endif // ELASTICJOB_TEST_CRON_SUPPORT_HPP
