// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_SCHEDULER_LEADER_DUTY_IPP
#define ELASTICJOB_IMPL_SCHEDULER_LEADER_DUTY_IPP

#include <elasticjob/scheduler/leader_duty.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL leader_duty duty_of(leadership const& now) noexcept {
    if (!now.is_member) return leader_duty::none;
    if (now.is_standing) return leader_duty::withdraw;
    if (now.leads) return now.is_disabled ? leader_duty::resign : leader_duty::keep_sharded;
    if (!now.is_enabled) return leader_duty::none;
    if (!now.leader) return leader_duty::stand;
    return now.leader->stat.owner == 0 ? leader_duty::remove_stand_in : leader_duty::none;
}

ELASTICJOB_DECL std::optional<error> failed_elections::note(error const& e) {
    auto const kind = std::uint64_t{1} << static_cast<unsigned>(e.code);
    bool const is_due = (failed_ & kind) && !(reported_ & kind);
    failed_ |= kind;
    if (!is_due) return std::nullopt;
    reported_ |= kind;
    return error{e.code, "the job has no leader, because elections keep failing: " + e.what, e.where};
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_SCHEDULER_LEADER_DUTY_IPP
