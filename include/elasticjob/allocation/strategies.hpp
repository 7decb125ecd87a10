// SPDX-License-Identifier: Apache-2.0
/// \file \brief Combines several strategies in one program; each job names one of them.
#ifndef ELASTICJOB_ALLOCATION_STRATEGIES_HPP
#define ELASTICJOB_ALLOCATION_STRATEGIES_HPP

#include <elasticjob/allocation/run_list.hpp>
#include <elasticjob/allocation/stored_runs.hpp>
#include <elasticjob/allocation/strategy.hpp>

#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace elasticjob {

/// `job_scheduler<ZkRegistry, Strategies<AverageAllocation, StickyAllocation>>` runs jobs of either strategy. The job's
/// `jobShardingStrategyClass` names the strategy. If it changes while the job runs, the leader shards the job again. A
/// job that names no strategy gets average allocation if that is in the list, or else the first one. All members of the
/// job need the strategy that the job names.
///
/// A model of `sharding_strategy`. Its results are those of the named strategy, converted to runs, which costs O(runs).
/// Preconditions: `request.strategy` is the name of one of the strategies, or empty for the first; no two strategies
/// have the same name.
template <sharding_strategy First, sharding_strategy... Others>
class Strategies {
    template <class S>
    using answer_of = std::remove_cvref_t<decltype(std::declval<S const&>()(std::declval<sharding_request const&>()))>;

public:
    static constexpr std::string_view name = First::name;
    static constexpr bool uses_traits =
        detail::strategy_uses_traits<First> || (detail::strategy_uses_traits<Others> || ...);
    static constexpr bool may_leave_items = detail::allocation_may_leave_items<answer_of<First>> ||
                                            (detail::allocation_may_leave_items<answer_of<Others>> || ...);

    /// Whether one of the strategies has that name.
    static constexpr bool has(std::string_view wanted) {
        return wanted == First::name || ((wanted == Others::name) || ...);
    }

    /// The names of all strategies, in order.
    static constexpr std::array<std::string_view, 1 + sizeof...(Others)> names{First::name, Others::name...};

    constexpr basic_stored_runs<may_leave_items> operator()(sharding_request const& request) const {
        std::vector<run> runs;
        auto const ask = [&](auto const& strategy) {
            append_runs(strategy(request), runs);
            return true;
        };
        auto const ask_if_named = [&]<class S>(S const& strategy) {
            return request.strategy == std::string_view{S::name} && ask(strategy);
        };
        bool const is_asked = ask_if_named(First{}) || (ask_if_named(Others{}) || ...);
        if (!is_asked) ask(First{});
        return {request.instance_count(), std::move(runs)};
    }
};

namespace detail {

template <class S>
inline constexpr bool strategy_is_a_choice = requires(std::string_view name) {
    S::has(name);
};

/// Whether `S` is, or contains, the strategy with that name.
template <sharding_strategy S>
constexpr bool strategy_has_name(std::string_view name) {
    if constexpr (strategy_is_a_choice<S>)
        return S::has(name);
    else
        return name == std::string_view{S::name};
}

} // namespace detail

} // namespace elasticjob
#endif // ELASTICJOB_ALLOCATION_STRATEGIES_HPP
