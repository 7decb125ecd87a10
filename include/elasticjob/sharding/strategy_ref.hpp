// SPDX-License-Identifier: Apache-2.0
/// \file \brief A sharding strategy of any type as a value, so that the code around it is compiled once.
#ifndef ELASTICJOB_SHARDING_STRATEGY_REF_HPP
#define ELASTICJOB_SHARDING_STRATEGY_REF_HPP

#include <elasticjob/allocation/strategies.hpp>
#include <elasticjob/config/job_config.hpp>
#include <elasticjob/core/algorithm.hpp> // find
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/sharding/assignment.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace elasticjob::detail {

/// What the leader of a job needs of a strategy: its constants, and a function pointer. Copyable; strategies have no
/// state.
class strategy_ref {
public:
    template <sharding_strategy S>
    static constexpr strategy_ref of() noexcept {
        using answer = std::remove_cvref_t<decltype(S{}(std::declval<sharding_request const&>()))>;
        strategy_ref r;
        r.names_ = names_of<S>;
        r.uses_traits_ = strategy_uses_traits<S>;
        r.may_leave_items_ = allocation_may_leave_items<answer>;
        r.shard_ = &shard_with<S>;
        return r;
    }

    /// The first name, if it is a choice of several strategies.
    constexpr std::string_view name() const noexcept { return names_.front(); }
    constexpr std::span<std::string_view const> names() const noexcept { return names_; }
    bool has_name(std::string_view wanted) const {
        return std::find(names_.begin(), names_.end(), wanted) != names_.end();
    }

    constexpr bool uses_traits() const noexcept { return uses_traits_; }
    constexpr bool may_leave_items() const noexcept { return may_leave_items_; }

    /// Calls the strategy, and lets its exceptions through. The assignment has this epoch and this strategy's name.
    assignment shard(sharding_request const& request, std::uint64_t epoch, std::string name) const {
        return shard_(request, epoch, std::move(name));
    }

private:
    constexpr strategy_ref() = default;

    template <class S>
    static constexpr auto find_names() {
        if constexpr (strategy_is_a_choice<S>)
            return S::names;
        else
            return std::array{std::string_view{S::name}};
    }
    template <class S>
    static constexpr auto names_of = find_names<S>();

    template <class S>
    static assignment shard_with(sharding_request const& request, std::uint64_t epoch, std::string name) {
        std::vector<instance_id> instances{request.instances.begin(), request.instances.end()};
        return {epoch, std::move(name), std::move(instances), S{}(request)};
    }

    std::span<std::string_view const> names_{};
    bool uses_traits_ = false, may_leave_items_ = false;
    assignment (*shard_)(sharding_request const&, std::uint64_t, std::string) = nullptr;
};

/// Whether a scheduler with this strategy may run a job with this configuration. Strategies are compiled in, and all
/// members of a job must use the same one (SG-1). Errors: unknown_strategy.
result<void> check_strategy(strategy_ref const& strategy, job_config const& config);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/sharding/strategy_ref.ipp>
#endif
#endif // ELASTICJOB_SHARDING_STRATEGY_REF_HPP
