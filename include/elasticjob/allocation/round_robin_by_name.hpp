// SPDX-License-Identifier: Apache-2.0
/// \file \brief Jobs of one item: different jobs on different instances, by nothing but their names.
#ifndef ELASTICJOB_ALLOCATION_ROUND_ROBIN_BY_NAME_HPP
#define ELASTICJOB_ALLOCATION_ROUND_ROBIN_BY_NAME_HPP

#include <elasticjob/allocation/closed_form.hpp>
#include <elasticjob/allocation/name_hash.hpp>
#include <elasticjob/allocation/strategy.hpp>

#include <cstdint>
#include <string_view>

namespace elasticjob {

/// Average, beginning at an instance that follows from the job's name, so that jobs of one item do not all run on the
/// first. A number at the end of the name counts as such: `import-1`, `import-2`, … go round the instances in turn, each
/// beginning where the one before has ended, so that no instance has more than one item more than another of such a
/// family (as long as its numbers have no gaps). Names without one, and different families, are as random.
///
/// Stored as 24 bytes and computed in O(length of the name), at any number of items; the time plays no part, so all
/// instances agree and nothing moves by itself. But when the number of instances changes, nearly all moves: where that
/// matters, SpreadAllocation.
struct RoundRobinByName {
    static constexpr std::string_view name = "elasticjob.RoundRobinByName";

    constexpr closed_form operator()(sharding_request const& request) const noexcept {
        auto const slots = request.instance_count();
        if (slots == 0) return {};
        auto family = request.job_name;
        while (!family.empty() && family.back() >= '0' && family.back() <= '9') family.remove_suffix(1);
        std::uint64_t turn = 0; // the number, modulo the slots: names have room for more than 64 bits
        for (char const digit : request.job_name.substr(family.size()))
            turn = (turn * 10 + static_cast<std::uint64_t>(digit - '0')) % slots;
        // Each member of the family has one item more on so many instances; the next one begins behind them.
        turn = (turn * (request.item_count % slots) + detail::hash_name(family) % slots) % slots;
        return {slots, request.item_count, {.rotated_left = static_cast<std::int64_t>(turn)}};
    }
};

static_assert(sharding_strategy<RoundRobinByName>);

} // namespace elasticjob
#endif // ELASTICJOB_ALLOCATION_ROUND_ROBIN_BY_NAME_HPP
