// SPDX-License-Identifier: Apache-2.0
/// \file \brief Writes a job into the registry, from any process. Catalogs that know its class run it.
#ifndef ELASTICJOB_OPERATIONS_ADD_JOB_HPP
#define ELASTICJOB_OPERATIONS_ADD_JOB_HPP

#include <elasticjob/core/wait_within.hpp>
#include <elasticjob/membership/job_chain.hpp>
#include <elasticjob/membership/stored_job.hpp>
#include <elasticjob/operations/job_settings.hpp>
#include <elasticjob/registry/change_attempts.hpp>
#include <elasticjob/registry/read_all.hpp>
#include <elasticjob/registry/registry.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob {

/// Handles a job's configuration as a member that starts with it does, but runs nothing. The registry's configuration
/// is in force, unless there is none or this one says `overwrite`. The returned decision tells which configuration is
/// in force, and lists the differences; `to_string` makes one line of it. One transaction writes it and checks that the
/// job has no tombstone and that nothing has changed since the read. After a concurrent change or a lost reply this
/// repeats it, a limited number of times. Servers that an operator has disabled stay disabled. Safe to repeat.
/// Errors: removed if the job was removed for good; invalid_config if jobs would follow one another in a circle;
/// job_conflict if the stored job has another class or type; malformed_data and those of `validate` for the stored
/// configuration; version_conflict if all attempts met concurrent changes; unknown_outcome if the
/// configuration may be in the registry; those of the registry.
template <registry Registry>
task<result<config_decision>> publish_job(Registry& r, valid_config config) {
    job_layout const at{config.name()};
    auto const& ours = config.config();
    detail::change_attempts attempts{20};
    while (attempts.next()) {
        ELASTICJOB_CO_TRY(auto const session, co_await connected_session(r));
        std::vector<node_path> paths{at.root(), at.ext(), at.removed(), at.config(), at.schedule(), at.item_labels()};
        auto reading = co_await read_all(r, std::move(paths));
        if (!reading && attempts.note_read(reading.error())) continue;
        if (!reading) co_return attempts.known(std::move(reading).error());
        auto const& nodes = *reading;
        if (nodes[2]) co_return attempts.known(detail::removed_error(at));
        auto const* stored_node = nodes[3] ? &*nodes[3] : nullptr;
        auto const* schedule_node = nodes[4] ? &*nodes[4] : nullptr;
        auto const* labels_node = nodes[5] ? &*nodes[5] : nullptr;
        auto const stored = detail::read_stored(stored_node, schedule_node, at, sharding_total_count_max);
        if (!stored && !ours.overwrite) co_return attempts.known(stored.error());
        std::optional<job_config> before;
        if (stored && *stored) before = (*stored)->config();
        auto decision = decide_config(before, ours);
        if (!decision) co_return attempts.known(decision.error());
        if (decision->what == config_decision::action::keep_stored) {
            detail::note_labels(*decision, labels_node, ours.item_labels);
            co_return decision;
        }
        auto const chain = co_await read_job_chain(r, ours);
        if (!chain && attempts.note_read(chain.error())) continue;
        if (!chain) co_return attempts.known(chain.error());
        transaction t{session.generation};
        if (!nodes[0]) t.create(at.root(), {});
        if (!nodes[1]) t.create(at.ext(), {});
        t.check_absent(at.removed());
        detail::put_config(t, at, ours, stored_node, schedule_node);
        detail::put_labels(t, at.item_labels(), labels_node, ours.item_labels);
        check_job_chain(t, *chain);
        auto const reply = co_await r.commit(std::move(t));
        if (reply && *reply) co_return decision;
        if (!reply && !attempts.note_write(reply.error())) co_return attempts.known(reply.error());
    }
    co_return attempts.failure("the job's nodes kept changing while it was being written", at.root().str());
}

/// `publish_job` as a blocking call, for programs: it is not in the audit trail. Waits up to ten seconds. Errors: as
/// above, and timed_out; those of `validate`, before anything is read or written. Threads: any but the loop's.
template <registry Registry>
result<config_decision> add_job(Registry& r, job_config config) {
    ELASTICJOB_TRY(auto valid, validate(std::move(config)));
    return detail::wait_within(r.loop(), std::chrono::seconds{10}, publish_job(r, std::move(valid)));
}

/// Adds a job as an operator's command. If the job exists with this configuration, changes nothing. `strategies` are
/// those that the members know besides this library's. Waits up to ten seconds. Errors: node_exists if a job of that
/// name exists with another configuration; all others as `change_settings`. Threads: any but the loop's.
template <registry Registry>
result<command_result> add_job(Registry& r, job_config config, command_by by,
                               std::vector<std::string> strategies = {}) {
    settings_change change{
        .config = std::move(config), .may_add = true, .strategies = std::move(strategies), .may_change = false};
    return change_settings(r, std::move(change), std::move(by));
}

} // namespace elasticjob
#endif // ELASTICJOB_OPERATIONS_ADD_JOB_HPP
