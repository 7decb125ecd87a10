// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EVENTS_RING_EVENTS_IPP
#define ELASTICJOB_IMPL_EVENTS_RING_EVENTS_IPP

#include <elasticjob/events/ring_events.hpp>

namespace elasticjob {

ELASTICJOB_DECL std::vector<events::kept_event> RingEvents::read() const {
    std::vector<events::kept_event> all;
    std::lock_guard const lock{state_->mutex};
    all.reserve(state_->ring.size());
    for (std::size_t n = 0; n < state_->ring.size(); ++n) all.push_back(state_->ring[n]);
    return all;
}

ELASTICJOB_DECL std::uint64_t RingEvents::told() const {
    std::lock_guard const lock{state_->mutex};
    return state_->told;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_EVENTS_RING_EVENTS_IPP
