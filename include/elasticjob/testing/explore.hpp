// SPDX-License-Identifier: Apache-2.0
/// \file \brief Plays a scenario with many seeds, and reports the first failure, its cause, and the command that
/// replays it.
#ifndef ELASTICJOB_TESTING_EXPLORE_HPP
#define ELASTICJOB_TESTING_EXPLORE_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/random.hpp>
#include <elasticjob/testing/fault_plan.hpp>
#include <elasticjob/testing/observatory.hpp>
#include <elasticjob/testing/shrink.hpp>

#include <concepts>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob::testing {

/// Builds the cluster for a seed: returns a pointer to a `simulation` with its jobs and nodes, before its first step.
/// Each replay calls it again, so its result must depend on nothing but its arguments.
template <class S>
concept scenario = requires(S& build, std::uint64_t seed, fault_plan const& plan, std::chrono::milliseconds length) {
    build(seed)->play(plan, length);
    { build(seed)->violations() } -> std::convertible_to<std::vector<violation> const&>;
    { build(seed)->transcript() } -> std::convertible_to<std::string>;
};

/// The environment overrides the options, so that one command replays a failure:
///
/// | variable          | meaning                                                                         |
/// |-------------------|---------------------------------------------------------------------------------|
/// | ELASTICJOB_SEED   | play only this seed, and print everything that happens                          |
/// | ELASTICJOB_FAULTS | play this plan, with lines separated by `;`, instead of the seed's plan         |
/// | ELASTICJOB_SEEDS  | the number of fixed seeds                                                       |
/// | ELASTICJOB_FRESH  | the number of fresh seeds from the machine                                      |
struct explore_options {
    std::uint64_t seeds = 100; ///< seeds 1 to this number
    std::uint64_t fresh = 3;
    std::chrono::milliseconds length{240'000}; ///< the time in which faults happen
    fault_rates rates{};
    shrink_limits shrinking{};
    std::string command{}; ///< the command that replays a failure; empty: this program
};

/// The result of an exploration.
struct exploration {
    std::uint64_t seeds = 0;
    std::vector<std::uint64_t> fresh{};
    std::chrono::nanoseconds virtual_time{};
    std::uint64_t steps = 0;

    std::optional<std::uint64_t> failed{}; ///< the failed seed, which was the last one played
    std::optional<violation> wrong{};
    fault_plan faults{};  ///< a subset of the faults that suffices for the failure
    std::string report{}; ///< for people: the command that replays the failure, or the transcript of a single seed

    bool holds() const noexcept { return !failed; }
};

namespace detail {

std::uint64_t number_from(char const* variable, std::uint64_t otherwise);

/// The command of a process, as a shell reads it. `words`: each ends with a NUL.
std::string shell_command(std::string_view words);

/// The command that started this process.
std::string this_command();

std::string in_one_line(fault_plan const& plan);

/// The end of a long text, beginning with a whole line.
std::string_view last_lines(std::string_view text, std::size_t bytes_most);

} // namespace detail

/// Plays the fixed seeds and then the fresh ones, up to the first failure. Then finds a subset of the faults that
/// violates the same invariant. The number of seeds and the limits of `shrink` limit its duration.
template <scenario Scenario>
exploration explore(explore_options const& options, Scenario build) {
    exploration e;
    auto const play = [&](std::uint64_t seed, fault_plan const& plan) {
        auto s = build(seed);
        s->play(plan, options.length);
        e.virtual_time += s->world().now().time_since_epoch();
        e.steps += s->steps();
        return s;
    };
    auto const first_wrong = [](auto const& s) -> std::optional<violation> {
        if (s->violations().empty()) return std::nullopt;
        return s->violations().front();
    };
    auto const tell = [&](std::uint64_t seed, fault_plan const& plan) {
        auto const command = options.command.empty() ? detail::this_command() : options.command;
        e.failed = seed;
        e.report = "seed " + std::to_string(seed) + ": " + to_string(*e.wrong) +
                   "\nreplay it with:\n  ELASTICJOB_SEED=" + std::to_string(seed) + " " + command + "\n";
        auto const small = shrink(
            plan,
            [&](fault_plan const& less) {
                auto const still = first_wrong(play(seed, less));
                return still && still->invariant == e.wrong->invariant;
            },
            options.shrinking);
        e.faults = small.plan;
        e.report += "of " + std::to_string(plan.size()) + " faults " + std::to_string(small.plan.size()) +
                    " are enough (" + std::to_string(small.tries) + " tries" +
                    (!small.is_minimal    ? "; there may be fewer"
                     : small.plan.empty() ? "; it takes none"
                                          : "; without any one of them it holds") +
                    "):\n  ELASTICJOB_SEED=" + std::to_string(seed) + " ELASTICJOB_FAULTS='" +
                    detail::in_one_line(small.plan) + "' " + command + "\n" + to_string(small.plan);
        e.report += "how that ends:\n";
        e.report += detail::last_lines(play(seed, small.plan)->transcript(), 4000);
    };

    if (auto const only = detail::number_from("ELASTICJOB_SEED", 0)) {
        auto plan = make_fault_plan(only, options.length, build(only)->targets(), options.rates);
        if (auto const* text = std::getenv("ELASTICJOB_FAULTS")) {
            auto given = parse_fault_plan(text);
            if (!given) {
                e.failed = only;
                e.report = "ELASTICJOB_FAULTS: " + to_string(given.error());
                return e;
            }
            plan = *std::move(given);
        }
        e.seeds = 1;
        auto const s = play(only, plan);
        e.wrong = first_wrong(s);
        if (e.wrong) e.failed = only;
        e.faults = std::move(plan);
        e.report = s->transcript();
        return e;
    }
    std::vector<std::uint64_t> seeds;
    for (std::uint64_t n = 1; n <= detail::number_from("ELASTICJOB_SEEDS", options.seeds); ++n) seeds.push_back(n);
    for (auto n = detail::number_from("ELASTICJOB_FRESH", options.fresh); n > 0; --n) {
        e.fresh.push_back(random_source::machine_seed() % 1'000'000'000 + 1'000'000);
        seeds.push_back(e.fresh.back());
    }
    for (auto const seed : seeds) {
        ++e.seeds;
        auto const plan = make_fault_plan(seed, options.length, build(seed)->targets(), options.rates);
        e.wrong = first_wrong(play(seed, plan));
        if (!e.wrong) continue;
        tell(seed, plan);
        return e;
    }
    return e;
}

} // namespace elasticjob::testing

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/testing/explore.ipp>
#endif
#endif // ELASTICJOB_TESTING_EXPLORE_HPP
