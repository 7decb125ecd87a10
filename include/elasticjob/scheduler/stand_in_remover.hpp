// SPDX-License-Identifier: Apache-2.0
/// \file \brief Finds persistent nodes in the places of ephemeral ones, and removes them.
#ifndef ELASTICJOB_SCHEDULER_STAND_IN_REMOVER_HPP
#define ELASTICJOB_SCHEDULER_STAND_IN_REMOVER_HPP

#include <elasticjob/core/gather.hpp>
#include <elasticjob/core/identity.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/membership/stand_ins.hpp>
#include <elasticjob/registry/transaction.hpp>
#include <elasticjob/scheduler/job_context.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob::detail {

/// Used by the leader. Threads: the loop's.
template <class Environment>
class stand_in_remover {
public:
    /// The context must outlive this object.
    explicit stand_in_remover(job_context<Environment>& context) : context_{context}, instances_{context.self} {}

    /// EL-8: checks the owner of each new instance node once, and removes nodes that belong to no process. False if the
    /// check failed.
    task<bool> check_new_instances();

    /// Keeps only instances that have been checked and that are alive.
    void keep_live(std::vector<instance_id>& instances) const { instances_.keep_live(instances); }

    /// Removes a persistent node in the place of an ephemeral one, and reports it. Returns whether the node stays,
    /// because the registry refuses to remove it, which is reported once in a row.
    task<bool> remove(node_path path, node_version version);

    /// Nothing stays any more.
    void forget_told() noexcept { told_.clear(); }

private:
    job_context<Environment>& context_;
    known_instances instances_;
    std::string told_; ///< the node of the last one that was reported to stay
};

template <class Environment>
task<bool> stand_in_remover<Environment>::check_new_instances() {
    auto const fresh = instances_.unchecked(context_.view->instances());
    if (fresh.empty()) co_return true;
    auto const look = [&](instance_id const& id) { return context_.registry.exists(context_.at.instance(id)); };
    auto const found = co_await gather_each(context_.loop(), fresh, look);
    for (std::size_t i = 0; i < fresh.size(); ++i) {
        if (!found[i] && is_transient(found[i].error())) co_return false;
        if (found[i] && !*found[i]) continue; // it has gone, and does not count while it is not known to live
        bool const stands_in = found[i] && is_stand_in(*found[i]);
        instances_.note(fresh[i], !stands_in);
        if (!stands_in) continue;
        bool const stays = co_await remove(context_.at.instance(fresh[i]), (*found[i])->version);
        if (!stays) instances_.forget(fresh[i]); // its process may come back before a list without it is seen
    }
    co_return true;
}

template <class Environment>
task<bool> stand_in_remover<Environment>::remove(node_path path, node_version version) {
    transaction t{context_.generation};
    t.check(context_.at.instance(context_.self)).remove_persistent(path, version);
    auto const done = co_await context_.registry.commit(t);
    if (done && *done) {
        context_.tell_trouble(stand_in_removed(path));
        co_return false;
    }
    auto const why = done ? refusal_error(t, *done->refused) : done.error();
    bool const will_pass = is_transient(why) || why == errc::no_node || why == errc::version_conflict ||
                           why == errc::no_children_for_ephemerals;
    if (will_pass) co_return false; // it has gone or changed, or is checked again
    if (std::exchange(told_, path.str()) != path.str()) context_.tell_trouble(stand_in_stays(path, why));
    co_return true;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_STAND_IN_REMOVER_HPP
