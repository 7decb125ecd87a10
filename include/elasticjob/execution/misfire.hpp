// SPDX-License-Identifier: Apache-2.0
/// \file \brief Decides which due instants are run and which are not: pure functions.
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
    std::uint64_t count = 0;       ///< of all of them; a lower bound if the span was halved

    static constexpr std::uint64_t count_max = 10'000;
    /// The number of search steps (see `timetable::looks_max`) after which a span is halved: at first, and later.
    static constexpr std::uint64_t looks_at_first = 1'000'000;
    static constexpr std::uint64_t looks_later = 50'000;

    /// Adds an instant and keeps the newest `keep` of them.
    void add(wall_time t, std::size_t keep);
};

/// The instants in (after, until], with the last `keep` of them listed, at most `count_max`. `next` returns the first
/// instant after another. Bounded: a longer span is halved after about `count_max` instants. If its second half has
/// enough instants to be listed, the others of the first half are skipped without being counted. If `looks` is given,
/// `next` adds its search steps to it, and a span with expensive instants is halved earlier; then fewer may be listed.
template <class Next>
due_instants due_between(Next const& next, wall_time after, wall_time until, std::size_t keep,
                         std::uint64_t const* looks = nullptr) {
    due_instants found;            // those up to t
    std::vector<wall_time> behind; // those after end, latest first
    auto room = std::min<std::size_t>(keep, found.count_max);
    auto const looks_now = [&] { return looks ? *looks : 0; };
    auto looks_left = found.looks_at_first;
    std::uint64_t steps = 0;
    for (auto t = after, end = until;;) {
        auto const looks_before = looks_now();
        auto const due = next(t);
        if (!due || *due > end) break;
        auto const taken = looks_now() - looks_before;
        bool const is_costly = taken > looks_left && end - t > std::chrono::seconds{1};
        looks_left -= std::min(looks_left, taken);
        if (++steps % found.count_max != 0 && !is_costly) {
            found.add(*due, room);
            t = *due;
            continue;
        }
        looks_left = found.looks_later;
        auto const middle = t + (end - t) / 2;
        auto const looks_max = looks_now() + looks_left;
        due_instants later;
        auto one = next(middle);
        for (; one && *one <= end && later.count < room && looks_now() <= looks_max; one = next(*one))
            later.add(*one, room);
        if (one && *one <= end) {
            found.newest.clear();
            t = middle;
        } else {
            behind.insert(behind.end(), later.newest.rbegin(), later.newest.rend());
            found.count += later.count;
            room -= later.newest.size();
            end = middle;
        }
    }
    auto const surplus = found.newest.size() - std::min(found.newest.size(), room);
    found.newest.erase(found.newest.begin(), found.newest.begin() + static_cast<std::ptrdiff_t>(surplus));
    found.newest.insert(found.newest.end(), behind.rbegin(), behind.rend());
    return found;
}

/// The decision about due instants.
struct catch_up {
    struct group {
        wall_time last{};
        std::uint64_t count = 0;
    };
    std::optional<wall_time> run{}; ///< the instant to run for now
    run_source source = run_source::schedule;
    group coalesced{};   ///< covered by that run
    group skipped{};     ///< not run at all
    wall_time through{}; ///< with this decision, every instant up to here is handled
};

/// An instant that is less late than this, and did not find its item running, counts as on time, because clocks,
/// networks and changes of the owner cause delays. The same as Quartz's misfire threshold.
inline constexpr std::chrono::seconds on_time_span{60};

/// The number of listed instants that `decide` needs.
std::size_t instants_to_keep(misfire_policy const& policy);

/// Precondition: `due.newest` is not empty, and `policy.runs_max` not 0. `idle_since` is the end of the item's last
/// run: earlier instants found the item running. O(instants).
catch_up decide(due_instants const& due, wall_time now, std::optional<wall_time> idle_since,
                misfire_policy const& policy);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/misfire.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_MISFIRE_HPP
