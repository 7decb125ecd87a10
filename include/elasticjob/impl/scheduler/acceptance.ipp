// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_SCHEDULER_ACCEPTANCE_IPP
#define ELASTICJOB_IMPL_SCHEDULER_ACCEPTANCE_IPP

#include <elasticjob/scheduler/acceptance.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL result<due_times> acceptance::times_of(valid_config const& c) const {
    ELASTICJOB_CHECK(check_item_count(c.config(), items_max));
    ELASTICJOB_CHECK(check_strategy(strategy, c.config()));
    auto due = due_times::of(c, zone);
    if (due && hears_rounds && !due->has_rounds())
        return error{errc::invalid_config,
                     "with a fixed delay each item is due at times of its own: there are no rounds to listen to",
                     "schedules"};
    return due;
}

ELASTICJOB_DECL result<void> acceptance::operator()(valid_config const& c) const {
    ELASTICJOB_CHECK(times_of(c));
    return success();
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_SCHEDULER_ACCEPTANCE_IPP
