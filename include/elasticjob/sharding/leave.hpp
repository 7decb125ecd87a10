// SPDX-License-Identifier: Apache-2.0
/// \file \brief Removes an instance from a job in order.
#ifndef ELASTICJOB_SHARDING_LEAVE_HPP
#define ELASTICJOB_SHARDING_LEAVE_HPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/registry/read_all.hpp>
#include <elasticjob/registry/registry.hpp>
#include <elasticjob/sharding/departure.hpp>

#include <utility>

namespace elasticjob {

/// Makes the requests that `departure` decides on, and repeats them while replies are lost. Precondition: none of the
/// instance's items runs any more. Errors: those of the registry; version_conflict if `deadline` passed while the nodes
/// kept changing; timed_out if it passed while the registry did not answer.
template <registry Registry>
task<result<void>> leave(Registry& r, job_layout at, instance_id self, session_generation g, mono_time deadline,
                         bool has_traits = false, bool has_java_members = false) {
    departure decisions{at, std::move(self), g, deadline, has_traits, has_java_members};
    for (auto step = decisions.begin(r.session());;) {
        switch (step.what) {
        case departure_step::kind::read:
            step = decisions.nodes_read(co_await read_all(r, std::move(step.paths)), r.limits(), r.session(),
                                        r.loop().now());
            break;
        case departure_step::kind::read_items:
            step = decisions.items_read(co_await read_item_nodes(r, at), r.limits(), r.loop().now());
            break;
        case departure_step::kind::commit:
            step = decisions.committed(co_await r.commit(std::move(step.changes)), r.session(), r.loop().now());
            break;
        case departure_step::kind::pause: {
            auto const edition = r.session_changed().edition();
            auto const pause = std::min(deadline, r.loop().now() + std::chrono::milliseconds{100});
            co_await r.session_changed().newer_than(edition, pause);
            step = decisions.resumed(r.session());
            break;
        }
        case departure_step::kind::finished:
            co_return std::move(step.outcome);
        }
    }
}

} // namespace elasticjob
#endif // ELASTICJOB_SHARDING_LEAVE_HPP
