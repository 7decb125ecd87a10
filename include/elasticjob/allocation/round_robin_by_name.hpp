// SPDX-License-Identifier: Apache-2.0
/// \file \brief A strategy that puts jobs with one item on different instances; it needs only their names.
#ifndef ELASTICJOB_ALLOCATION_ROUND_ROBIN_BY_NAME_HPP
#define ELASTICJOB_ALLOCATION_ROUND_ROBIN_BY_NAME_HPP

#include <elasticjob/allocation/closed_form.hpp>
#include <elasticjob/allocation/name_hash.hpp>
#include <elasticjob/allocation/strategy.hpp>

#include <cstdint>
#include <string_view>

namespace elasticjob {

/// Average, beginning at an instance that depends on the job's name, so that jobs with one item do not all run on the
/// first instance. Jobs with a number at the end of the name form a family: `import-1`, `import-2`, … use the instances
/// in turn, and each job begins where the previous one ends. So over a family without gaps in its numbers, the shares
/// of two instances differ by one item at most. Names without a number, and different families, begin at pseudo-random
/// instances.
///
/// Takes 24 bytes and O(length of the name), for any number of items. The result does not depend on the time, so all
/// instances agree and no item moves by itself. But when the number of instances changes, nearly all items move; if
/// that matters, use SpreadAllocation.
struct RoundRobinByName {
    static constexpr std::string_view name = "elasticjob.RoundRobinByName";

    constexpr closed_form operator()(sharding_request const& request) const noexcept {
        auto const slots = request.instance_count();
        if (slots == 0) return {};
        auto family = request.job_name;
        while (!family.empty() && family.back() >= '0' && family.back() <= '9') family.remove_suffix(1);
        std::uint64_t turn = 0; // the number, modulo the slots: a name may have more digits than fit into 64 bits
        for (char const digit : request.job_name.substr(family.size()))
            turn = (turn * 10 + static_cast<std::uint64_t>(digit - '0')) % slots;
        // For each job of the family, this number of instances has one item more; the next job begins after them.
        turn = (turn * (request.item_count % slots) + detail::hash_name(family) % slots) % slots;
        return {slots, request.item_count, {.rotated_left = static_cast<std::int64_t>(turn)}};
    }
};

static_assert(sharding_strategy<RoundRobinByName>);

} // namespace elasticjob
#endif // ELASTICJOB_ALLOCATION_ROUND_ROBIN_BY_NAME_HPP
