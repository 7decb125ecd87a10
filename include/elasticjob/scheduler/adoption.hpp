// SPDX-License-Identifier: Apache-2.0
/// \file \brief Takes up runs that a dead instance left behind in items of Java members, which keep no records.
#ifndef ELASTICJOB_SCHEDULER_ADOPTION_HPP
#define ELASTICJOB_SCHEDULER_ADOPTION_HPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/gather.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/execution/run_record.hpp>
#include <elasticjob/scheduler/item_runs.hpp>
#include <elasticjob/scheduler/job_context.hpp>
#include <elasticjob/sharding/interrupted_items.hpp>
#include <elasticjob/sharding/item_claim.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace elasticjob::detail {

/// The interrupted items among those that this instance checks. Errors: those of the registry.
template <registry Registry>
task<result<unattended>> find_interrupted(Registry& r, job_view<Registry> const& view, job_layout at, instance_id self,
                                          std::uint32_t count) {
    assignment in_force;
    std::optional<item_nodes> owners;
    if (auto const* a = view.assignment_in_force()) {
        in_force = *a;
        owners.emplace(in_force);
    } else {
        ELASTICJOB_CO_TRY(owners, co_await read_item_nodes(r, at));
    }
    auto found =
        unattended_items(*owners, count, view.instances(), view.available_instances(), self, has_java_leader(view));
    auto const read = [&](item_index i) { return r.get(at.run_record(i)); };
    auto const records = co_await gather_each(r.loop(), found.items, read);
    std::vector<item_index> interrupted;
    for (std::size_t n = 0; n < records.size(); ++n) {
        if (!records[n] && records[n].error() == errc::no_node) continue;
        if (!records[n]) co_return records[n].error();
        auto const record = run_record::parse(records[n]->data);
        if (record && record->running && !view.has_instance(record->running->instance))
            interrupted.push_back(found.items[n]);
    }
    found.items = std::move(interrupted);
    co_return found;
}

/// A Java member that becomes the owner of an item does not read the item's record, so it does not know that a dead
/// instance was running it. One of our members runs such an item once more, under `sharding/<i>/failover`, whichever
/// instance owns it (JV-5). Each member checks a share of the items when an instance has gone, and when the list of
/// available instances changes, because other members may have divided the items by an older list. Threads: the loop's.
template <class Environment>
class adoption {
    using Registry = typename Environment::registry_type;

public:
    /// Both belong to the job and must outlive this object.
    adoption(job_context<Environment>& context, item_runs<Environment>& runs) : context_{context}, runs_{runs} {}

    task<void> keep();

private:
    /// Whether an instance has gone since the last call, or other instances are available.
    bool has_to_look();

    bool is_possible() const;

    job_context<Environment>& context_;
    item_runs<Environment>& runs_;
    std::vector<instance_id> known_;     ///< the instances
    std::vector<instance_id> available_; ///< those that may own items
    lasting_failure failed_{};
};

template <class Environment>
task<void> adoption<Environment>::keep() {
    bool is_due = true;
    for (std::optional<owners_source> looked_at;;) {
        auto const seen = context_.news.edition();
        auto until = mono_time::max();
        if (has_to_look()) {
            is_due = true;
            looked_at.reset();
        }
        auto const now = context_.owners_source_now();
        if (is_due && is_possible() && looked_at != now) {
            auto const count = static_cast<std::uint32_t>(runs_.terms().config->config().sharding_total_count);
            auto const found =
                co_await find_interrupted(context_.registry, *context_.view, context_.at, context_.self, count);
            if (found) {
                failed_.end();
                runs_.adopt(found->items);
                looked_at = now;
                is_due = found->has_orphans;
            } else {
                until = context_.now() + context_.after_failure(failed_, found.error());
            }
        }
        co_await context_.news.newer_than(seen, until);
    }
}

template <class Environment>
bool adoption<Environment>::has_to_look() {
    bool const has_lost = std::any_of(known_.begin(), known_.end(),
                                      [&](instance_id const& id) { return !context_.view->has_instance(id.str()); });
    known_ = context_.view->instances();
    auto const before = std::exchange(available_, context_.view->available_instances());
    return has_lost || before != available_;
}

template <class Environment>
bool adoption<Environment>::is_possible() const {
    auto const& terms = runs_.terms();
    return context_.is_registered() && terms.is_open && terms.config->config().failover && terms.is_monitored() &&
           context_.view->has_java_members() && context_.view->knows_servers();
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_ADOPTION_HPP
