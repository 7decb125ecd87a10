// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_OPERATIONS_TRIGGER_IPP
#define ELASTICJOB_IMPL_OPERATIONS_TRIGGER_IPP

#include <elasticjob/operations/trigger.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL result<void> check_keeps_record(job_layout const& at, std::optional<node> const& config,
                                                item_index item) {
    if (!config) return error{errc::no_node, "the job has just been removed", at.config().str()};
    ELASTICJOB_TRY(auto const read, config_with_item(at, *config, item));
    if (read.monitor_execution) return success();
    return error{errc::invalid_argument,
                 "the job is not monitored, so its items have no records: trigger the job or a server",
                 at.item(item).str()};
}

ELASTICJOB_DECL result<std::optional<instance_id>> java_owner(std::optional<node> const& assigned,
                                                              std::optional<node> const& first_item,
                                                              std::optional<node> const& named, item_index item) {
    ELASTICJOB_TRY(auto const in_force, assignment_in_force(assigned, first_item));
    auto id = instance_id::parse(owner_of(in_force, named, item));
    if (!id || !id->is_java()) return std::nullopt;
    return *std::move(id);
}

ELASTICJOB_DECL result<run_record> record_with_trigger(job_layout const& at, item_index item, node const* there,
                                                       revision obeyed, wall_time now) {
    run_record record;
    record.obeyed = obeyed; // without a record, other members may have obeyed earlier orders already
    if (there) {
        ELASTICJOB_TRY(record, run_record::parse(there->data));
    }
    auto const refuse = [&](std::string what) {
        return error{errc::version_conflict, std::move(what), at.run_record(item).str()};
    };
    if (record.running) return refuse("the item runs: repeat the command when it has ended, or stop it first");
    if (record.retry || record.resume) return refuse("the item is to run already: it waits for another attempt");
    now = std::chrono::floor<std::chrono::milliseconds>(now);
    record.retry = run_retry{now, run_source::trigger, 1, now};
    return record;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_OPERATIONS_TRIGGER_IPP
