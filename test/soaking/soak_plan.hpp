// SPDX-License-Identifier: Apache-2.0
/// \file \brief `make_soak_plan`: the times and kinds of a soak's deeds, from its seed.
#ifndef ELASTICJOB_TEST_SOAKING_SOAK_PLAN_HPP
#define ELASTICJOB_TEST_SOAKING_SOAK_PLAN_HPP

#include <elasticjob/core/random.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace elasticjob::test {

enum class soak_fault : std::uint8_t {
    // A process.
    kill_worker,
    kill_leading_worker,
    freeze_worker,  ///< for less than its session lives
    suspend_worker, ///< for longer
    dismiss_worker, ///< it leaves in order, and another one comes
    cut_worker,     ///< its connections break
    isolate_worker, ///< nothing passes on its connections
    deafen_worker,  ///< replies are lost, and then the connections break
    slow_worker,    ///< what passes is late
    step_clock,     ///< the wall clock of the one worker that has a clock of its own
    // The ensemble.
    kill_server,
    kill_leading_server,
    freeze_server,
    isolate_server, ///< from the other servers
    slow_server,    ///< what the servers tell each other is late
    fill_disk,      ///< of the one server that has a small one
    lose_quorum,    ///< two servers die
    // Operators.
    trigger_job,
    trigger_server,
    trigger_item,
    pause_job,
    pause_server,
    disable_server,
    disable_item,
    edit_schedule,
    edit_items,
    edit_parameter,
    stop_run,
    remove_and_restore,
    // Java-like members.
    kill_java,
    freeze_java,
    dismiss_java,
};

inline constexpr std::array<std::string_view, 32> soak_fault_names{
    "kill_worker", "kill_leading_worker", "freeze_worker",  "suspend_worker",     "dismiss_worker",
    "cut_worker",  "isolate_worker",      "deafen_worker",  "slow_worker",        "step_clock",
    "kill_server", "kill_leading_server", "freeze_server",  "isolate_server",     "slow_server",
    "fill_disk",   "lose_quorum",         "trigger_job",    "trigger_server",     "trigger_item",
    "pause_job",   "pause_server",        "disable_server", "disable_item",       "edit_schedule",
    "edit_items",  "edit_parameter",      "stop_run",       "remove_and_restore", "kill_java",
    "freeze_java", "dismiss_java",
};

constexpr std::string_view name_of(soak_fault f) noexcept { return soak_fault_names[static_cast<std::size_t>(f)]; }

/// A fault from the beginning of an act on. The target is a number to choose a process, a server or an item by.
struct soak_deed {
    std::chrono::milliseconds after;
    soak_fault what;
    std::uint64_t target;
    std::chrono::milliseconds span; ///< how long it lasts, if it does
};

struct soak_kind {
    soak_fault what;
    std::uint64_t weight; ///< how often, compared with the others
    std::uint64_t span_min_ms, span_max_ms;
};

/// Spans of servers' faults are short enough for a quorum to come back within an act.
inline constexpr std::array<soak_kind, soak_fault_names.size()> soak_kinds{{
    {soak_fault::kill_worker, 6, 200, 4000},
    {soak_fault::kill_leading_worker, 5, 200, 4000},
    {soak_fault::freeze_worker, 4, 100, 1200},
    {soak_fault::suspend_worker, 4, 2500, 8000},
    {soak_fault::dismiss_worker, 3, 200, 3000},
    {soak_fault::cut_worker, 4, 0, 0},
    {soak_fault::isolate_worker, 4, 300, 6000},
    {soak_fault::deafen_worker, 4, 50, 1500},
    {soak_fault::slow_worker, 3, 1000, 8000},
    {soak_fault::step_clock, 3, 1000, 8000},
    {soak_fault::kill_server, 3, 500, 4000},
    {soak_fault::kill_leading_server, 4, 500, 4000},
    {soak_fault::freeze_server, 3, 500, 5000},
    {soak_fault::isolate_server, 3, 500, 6000},
    {soak_fault::slow_server, 2, 1000, 6000},
    {soak_fault::fill_disk, 2, 1000, 4000},
    {soak_fault::lose_quorum, 1, 500, 3000},
    {soak_fault::trigger_job, 3, 0, 0},
    {soak_fault::trigger_server, 2, 0, 0},
    {soak_fault::trigger_item, 2, 0, 0},
    {soak_fault::pause_job, 1, 1000, 6000},
    {soak_fault::pause_server, 2, 1000, 6000},
    {soak_fault::disable_server, 2, 1000, 6000},
    {soak_fault::disable_item, 2, 1000, 6000},
    {soak_fault::edit_schedule, 2, 0, 0},
    {soak_fault::edit_items, 2, 2000, 8000},
    {soak_fault::edit_parameter, 1, 0, 0},
    {soak_fault::stop_run, 2, 0, 0},
    {soak_fault::remove_and_restore, 1, 1000, 3000},
    {soak_fault::kill_java, 3, 200, 4000},
    {soak_fault::freeze_java, 2, 300, 6000},
    {soak_fault::dismiss_java, 2, 200, 3000},
}};

/// The deeds of an act, in order. The same seed and the same act make the same plan. Of three deeds, one takes the
/// kinds in turn, so that the rare ones come too; the weights decide the others.
inline std::vector<soak_deed> make_soak_plan(std::uint64_t seed, std::uint64_t act, std::chrono::milliseconds length) {
    random_source random{seed * 0x9E3779B97F4A7C15ULL + act};
    auto const pick = [&](std::uint64_t below) { return random.next() % below; };
    std::uint64_t weights = 0;
    for (auto const& k : soak_kinds) weights += k.weight;
    std::vector<soak_deed> plan;
    std::size_t in_turn = static_cast<std::size_t>(act) * 5;
    for (std::chrono::milliseconds at{0}; at < length; at += std::chrono::milliseconds{300 + pick(2400)}) {
        auto const* chosen = &soak_kinds[in_turn * 7 % soak_kinds.size()]; // 7 does not divide their number
        if (plan.size() % 3 == 0) {
            ++in_turn;
        } else {
            auto at_weight = pick(weights);
            for (chosen = soak_kinds.data(); at_weight >= chosen->weight; ++chosen) at_weight -= chosen->weight;
        }
        auto const span = chosen->span_min_ms + pick(chosen->span_max_ms - chosen->span_min_ms + 1);
        plan.push_back({at, chosen->what, random.next(), std::chrono::milliseconds{span}});
    }
    return plan;
}

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SOAKING_SOAK_PLAN_HPP
