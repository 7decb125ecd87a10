// SPDX-License-Identifier: Apache-2.0
/// \file \brief Which of the instants that have become due are run, and which are not: pure decisions.
#ifndef ELASTICJOB_EXECUTION_MISFIRE_HPP
#define ELASTICJOB_EXECUTION_MISFIRE_HPP

#include <elasticjob/config/misfire_policy.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/deferred.hpp>
#include <elasticjob/execution/run_record.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace elasticjob {

/// The instants that have become due since some moment.
template <class Instant = wall_time>
struct basic_due_instants {
    std::vector<Instant> newest; ///< ascending
    std::uint64_t count = 0;     ///< of all; at least so many, when there are more than `count_max`

    static constexpr std::uint64_t count_max = 10'000;

    /// One more, of which the newest `keep` are kept.
    void add(Instant t, std::size_t keep) {
        auto const at = std::lower_bound(newest.begin(), newest.end(), t);
        if (at != newest.end() && *at == t) return;
        ++count;
        newest.insert(at, t);
        if (newest.size() > keep) newest.erase(newest.begin());
    }
};

/// A template only so that including it costs nothing: see docs/decisions/0006.
using due_instants = basic_due_instants<>;

/// Those in (after, until], the last `keep` of them by name. `next` gives the first instant after another. Bounded: about
/// `count_max` steps for each halving of a longer span, in which instants are then passed over without being counted.
template <class Next>
deferred<due_instants, Next> due_between(Next const& next, wall_time after, wall_time until, std::size_t keep) {
    deferred<due_instants, Next> found;
    std::uint64_t steps = 0;
    for (auto t = after, end = until;;) {
        auto const due = next(t);
        if (!due || *due > end) return found;
        if (++steps % found.count_max == 0) {
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
template <class Instant = wall_time>
struct basic_catch_up {
    struct group {
        wall_time last{};
        std::uint64_t count = 0;
    };
    std::optional<Instant> run{}; ///< the instant to run for now
    run_source source = run_source::schedule;
    group coalesced{};   ///< made up for by that run
    group skipped{};     ///< not run at all
    wall_time through{}; ///< with this, every instant up to here is dealt with
};

using catch_up = basic_catch_up<>;

/// An instant that is less late than this, and did not find its item running, is simply run: clocks, networks and
/// changes of hands take their time. The same as Quartz's misfire threshold.
inline constexpr std::chrono::seconds on_time_span{60};

/// How many of them `decide` wants to know by name.
inline std::size_t instants_to_keep(misfire_policy const& policy) {
    return policy.rule == misfire_rule::all ? std::size_t{policy.runs_max} + 1 : 2;
}

/// Precondition: `due.newest` is not empty, and `policy.runs_max` not 0. `idle_since` is when the item's last run ended: what was due before that
/// found it running. O(instants).
template <class Instant>
basic_catch_up<Instant> decide(basic_due_instants<Instant> const& due, wall_time now,
                               deferred<std::optional<wall_time>, Instant> idle_since, misfire_policy const& policy) {
    auto const is_late = [&](wall_time t) { return (idle_since && t <= *idle_since) || now - t > on_time_span; };
    auto const is_too_late = [&](wall_time t) {
        return (policy.max_lateness.count() > 0 && now - t > policy.max_lateness) ||
               (policy.rule == misfire_rule::skip && is_late(t));
    };
    auto const newest = due.newest.back();
    basic_catch_up<Instant> c;
    c.through = newest;
    if (is_too_late(newest)) {
        c.skipped = {newest, due.count};
        return c;
    }
    auto chosen = due.newest.size() - 1;
    if (policy.rule == misfire_rule::all)
        for (chosen = due.newest.size() - std::min<std::size_t>(due.newest.size(), policy.runs_max);
             is_too_late(due.newest[chosen]);)
            ++chosen;
    c.run = c.through = due.newest[chosen];
    c.source = is_late(*c.run) ? run_source::misfire : run_source::schedule;
    auto const before = due.count - (due.newest.size() - chosen);
    if (before == 0) return c;
    auto const last = chosen > 0 ? due.newest[chosen - 1] : *c.run;
    // What is too late cannot be told apart among those that are not kept by name; it counts with its neighbours.
    bool const is_made_up_for = policy.rule == misfire_rule::once && !is_too_late(last);
    (is_made_up_for ? c.coalesced : c.skipped) = {last, before};
    return c;
}

} // namespace elasticjob
#endif // ELASTICJOB_EXECUTION_MISFIRE_HPP
