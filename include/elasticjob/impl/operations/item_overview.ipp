// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_OPERATIONS_ITEM_OVERVIEW_IPP
#define ELASTICJOB_IMPL_OPERATIONS_ITEM_OVERVIEW_IPP

#include <elasticjob/operations/item_overview.hpp>

#include <array>

namespace elasticjob {

ELASTICJOB_DECL std::string_view name_of(console_item_status s) noexcept {
    constexpr std::array<std::string_view, 4> names{"DISABLED", "RUNNING", "SHARDING_FLAG", "PENDING"};
    return names[static_cast<std::size_t>(s)];
}

ELASTICJOB_DECL std::string_view name_of(item_health h) noexcept {
    constexpr std::array<std::string_view, 8> names{"unreadable", "running", "interrupted", "disabled",
                                                    "retrying",   "unowned", "orphaned",    "idle"};
    return names[static_cast<std::size_t>(h)];
}

} // namespace elasticjob

namespace elasticjob::detail {

ELASTICJOB_DECL item_overview overview_of(item_index item, item_reading const& read,
                                          std::vector<std::string> const& instances, job_layout const& at) {
    auto const is_here = [&](std::string const& id) {
        return std::find(instances.begin(), instances.end(), id) != instances.end();
    };
    item_overview one{item, read.owner};
    one.is_failover = read.failover.has_value();
    one.is_disabled = read.disabled.has_value();
    if (read.record) {
        auto record = run_record::parse(read.record->data);
        if (!record) {
            one.fault = std::move(record).error();
            one.fault->where = at.run_record(item).str() + ": " + one.fault->where;
        } else {
            one.running = std::move(record->running);
            one.retry = record->resume ? std::move(record->resume) : std::move(record->retry);
            one.progress = run_record::parse_progress(read.record->data);
            one.ledger = std::move(record->ledger);
            one.next_due = one.retry ? one.retry->at : record->next_due;
            one.dead_letters = record->dead_letters.size();
        }
    }
    one.status = read.disabled         ? console_item_status::disabled
                 : read.mark           ? console_item_status::running
                 : !is_here(one.owner) ? console_item_status::sharding_flag
                                       : console_item_status::pending;
    bool const is_interrupted = one.running && !is_here(one.running->instance);
    one.health = one.fault                  ? item_health::unreadable
                 : is_interrupted           ? item_health::interrupted
                 : one.running || read.mark ? item_health::running
                 : read.disabled            ? item_health::disabled
                 : one.retry                ? item_health::retrying
                 : one.owner.empty()        ? item_health::unowned
                 : !is_here(one.owner)      ? item_health::orphaned
                                            : item_health::idle;
    return one;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_OPERATIONS_ITEM_OVERVIEW_IPP
