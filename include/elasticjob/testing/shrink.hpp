// SPDX-License-Identifier: Apache-2.0
/// \file \brief Finds the faults of a plan that matter: removes others as long as the plan still fails.
#ifndef ELASTICJOB_TESTING_SHRINK_HPP
#define ELASTICJOB_TESTING_SHRINK_HPP

#include <elasticjob/testing/fault_plan.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>

namespace elasticjob::testing {

struct shrink_limits {
    std::size_t tries = 400;
    std::chrono::milliseconds time{60'000}; ///< of real time; checked between tries
};

struct shrunk_plan {
    fault_plan plan;
    std::size_t tries = 0;
    bool is_minimal = false; ///< true: the plan no longer fails if any single fault is removed
};

/// Delta debugging (ddmin by Zeller and Hildebrandt, by complements): removes smaller and smaller parts. `fails` plays
/// a plan and returns whether it still fails. Precondition: `plan` fails.
template <std::predicate<fault_plan const&> Fails>
shrunk_plan shrink(fault_plan plan, Fails fails, shrink_limits limits = {}) {
    auto const until = std::chrono::steady_clock::now() + limits.time;
    shrunk_plan best{std::move(plan)};
    auto const may_try = [&] { return best.tries < limits.tries && std::chrono::steady_clock::now() < until; };
    for (std::size_t parts = 1; !best.plan.empty();) {
        auto const size = best.plan.size();
        auto const length = (size + parts - 1) / parts;
        bool has_shrunk = false;
        for (std::size_t begin = 0; begin < best.plan.size();) {
            if (!may_try()) return best;
            auto rest = best.plan;
            auto const first = rest.begin() + static_cast<std::ptrdiff_t>(begin);
            rest.erase(first, first + static_cast<std::ptrdiff_t>(std::min(length, rest.size() - begin)));
            ++best.tries;
            if (fails(rest)) {
                best.plan = std::move(rest);
                has_shrunk = true;
            } else {
                begin += length;
            }
        }
        if (length == 1 && !has_shrunk) break;
        parts = length == 1 ? best.plan.size() : std::min(parts * 2, std::max<std::size_t>(best.plan.size(), 1));
    }
    best.is_minimal = true;
    return best;
}

} // namespace elasticjob::testing
#endif // ELASTICJOB_TESTING_SHRINK_HPP
