// SPDX-License-Identifier: Apache-2.0
/// \file \brief Changes the schedule of a job for all its members.
#ifndef ELASTICJOB_MEMBERSHIP_CHANGE_SCHEDULE_HPP
#define ELASTICJOB_MEMBERSHIP_CHANGE_SCHEDULE_HPP

#include <elasticjob/config/job_config.hpp>
#include <elasticjob/config/validation.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/membership/job_chain.hpp>
#include <elasticjob/membership/stored_job.hpp>
#include <elasticjob/registry/change_attempts.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/read_all.hpp>
#include <elasticjob/registry/registry.hpp>
#include <elasticjob/registry/transaction.hpp>

#include <string>
#include <utility>
#include <vector>

namespace elasticjob {

/// Replaces only `cron` and `schedules` in the stored configuration. Calls `accept`, a `result<void>(valid_config
/// const&)`, before the write; an error from it prevents the write. `items_max` as for `enroll`. If another client
/// writes first or a reply is lost, this reads again and repeats, at most 20 times in all. Errors: those of `validate`
/// and `accept`; no_node if the job does not exist; invalid_config if jobs would wait for each other; version_conflict
/// if the nodes kept changing; unknown_outcome if the change may be in the registry; those of the registry.
template <registry Registry, class Accept>
task<result<void>> change_schedule(Registry& r, job_layout at, std::string cron, std::vector<job_schedule> schedules,
                                   Accept accept, std::uint32_t items_max = sharding_total_count_max) {
    detail::change_attempts attempts{20};
    while (attempts.next()) {
        ELASTICJOB_CO_TRY(auto const session, co_await connected_session(r));
        std::vector<node_path> paths{at.config(), at.schedule()};
        auto reading = co_await read_all(r, std::move(paths));
        if (!reading && attempts.note_read(reading.error())) continue;
        if (!reading) co_return attempts.known(std::move(reading).error());
        auto const& nodes = *reading;
        auto const* stored_node = nodes[0] ? &*nodes[0] : nullptr;
        auto const* schedule_node = nodes[1] ? &*nodes[1] : nullptr;
        auto const stored = detail::read_stored(stored_node, schedule_node, at, items_max);
        if (!stored) co_return attempts.known(stored.error());
        if (!*stored) co_return attempts.known({errc::no_node, "the job has been removed", at.root().str()});
        auto config = (*stored)->config();
        config.cron = cron;
        config.schedules = schedules;
        auto const valid = validate(std::move(config));
        if (!valid) co_return attempts.known(valid.error());
        auto const accepted = accept(*valid);
        if (!accepted) co_return attempts.known(accepted.error());
        auto const& wanted = valid->config();
        auto const chain = co_await read_job_chain(r, wanted);
        if (!chain && attempts.note_read(chain.error())) continue;
        if (!chain) co_return attempts.known(chain.error());
        bool const is_there = stored_node->data == to_json(wanted) &&
                              (schedule_node ? schedule_node->data : std::string{}) == to_schedule_text(wanted);
        if (attempts.may_be_done() && is_there) co_return success();
        transaction t{session.generation};
        detail::put_config(t, at, wanted, stored_node, schedule_node);
        check_job_chain(t, *chain);
        auto const reply = co_await r.commit(std::move(t));
        if (reply && *reply) co_return success();
        if (!reply && !attempts.note_write(reply.error())) co_return attempts.known(reply.error());
    }
    co_return attempts.failure("the job's configuration kept changing while its schedule was being written",
                               at.config().str());
}

} // namespace elasticjob
#endif // ELASTICJOB_MEMBERSHIP_CHANGE_SCHEDULE_HPP
