// SPDX-License-Identifier: Apache-2.0
/// \file \brief Which of the instants that have become due are run, and which are not: pure decisions.
#ifndef ELASTICJOB_EXECUTION_MISFIRE_HPP
#define ELASTICJOB_EXECUTION_MISFIRE_HPP

#include <elasticjob/config/misfire_policy.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/execution/run_record.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace elasticjob {

/// The instants that have become due since some moment.
struct due_instants {
    std::vector<wall_time> newest; ///< ascending
    std::uint64_t count = 0;       ///< of all; at least so many, if the span was halved

    static constexpr std::uint64_t count_max = 10'000;
    /// A longer span is halved after so many looks (see `timetable::looks_max`), too: the first time, and later.
    static constexpr std::uint64_t looks_at_first = 1'000'000;
    static constexpr std::uint64_t looks_later = 50'000;

    /// One more, of which the newest `keep` are kept.
    void add(wall_time t, std::size_t keep);
};

/// Those in (after, until], the last `keep` of them by name. `next` gives the first instant after another. Bounded: about
/// `count_max` steps for each halving of a longer span, in which instants are then passed over without being counted.
/// `looks`, if given, is what `next` adds its work to: where steps take many, a span is halved after fewer of them.
template <class Next>
due_instants due_between(Next const& next, wall_time after, wall_time until, std::size_t keep,
                         std::uint64_t const* looks = nullptr) {
    due_instants found;
    std::uint64_t steps = 0;
    auto looks_left = found.looks_at_first;
    for (auto t = after, end = until;;) {
        auto const looks_before = looks ? *looks : 0;
        auto const due = next(t);
        if (!due || *due > end) return found;
        auto const taken = (looks ? *looks : 0) - looks_before;
        bool const is_costly = taken > looks_left && end - t > std::chrono::seconds{1};
        looks_left -= std::min(looks_left, taken);
        if (++steps % found.count_max == 0 || is_costly) {
            looks_left = found.looks_later;
            auto const middle = t + (end - t) / 2;
            auto const later = next(middle);
            (later && *later <= end ? t : end) = middle;
            continue;
        }
        found.add(*due, keep);
        t = *due;
    }
}

/// What is to be done about due instants.
struct catch_up {
    struct group {
        wall_time last{};
        std::uint64_t count = 0;
    };
    std::optional<wall_time> run{}; ///< the instant to run for now
    run_source source = run_source::schedule;
    group coalesced{};   ///< made up for by that run
    group skipped{};     ///< not run at all
    wall_time through{}; ///< with this, every instant up to here is dealt with
};

/// An instant that is less late than this, and did not find its item running, is simply run: clocks, networks and
/// changes of hands take their time. The same as Quartz's misfire threshold.
inline constexpr std::chrono::seconds on_time_span{60};

/// How many of them `decide` wants to know by name.
std::size_t instants_to_keep(misfire_policy const& policy);

/// Precondition: `due.newest` is not empty, and `policy.runs_max` not 0. `idle_since` is when the item's last run ended: what was due before that
/// found it running. O(instants).
catch_up decide(due_instants const& due, wall_time now, std::optional<wall_time> idle_since,
                misfire_policy const& policy);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/misfire.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_MISFIRE_HPP
