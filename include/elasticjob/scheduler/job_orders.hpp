// SPDX-License-Identifier: Apache-2.0
/// \file \brief Carries out operators' orders: to run all items, to stop a run, to read a record again.
#ifndef ELASTICJOB_SCHEDULER_JOB_ORDERS_HPP
#define ELASTICJOB_SCHEDULER_JOB_ORDERS_HPP

#include <elasticjob/config/text.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/reactions.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/execution/stop_request.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/node.hpp>
#include <elasticjob/registry/retry_pauses.hpp>
#include <elasticjob/scheduler/item_runs.hpp>
#include <elasticjob/scheduler/job_context.hpp>
#include <elasticjob/scheduler/job_share.hpp>

#include <string_view>

namespace elasticjob::detail {

/// Removes each order when it has been carried out. Threads: the loop's.
template <class Environment>
class job_orders {
    using runs = item_runs<Environment>;

public:
    /// All three belong to the job and must outlive this object.
    job_orders(job_context<Environment>& context, job_share<Environment>& share, runs& r)
        : context_{context},
          share_{share},
          runs_{r} {}

    /// TR-1, the order of Java members and their console: removes it from this instance's node and runs the instance's
    /// items. An item that is running runs once more afterwards. The order is identified by the revision that wrote it,
    /// so that a lost reply neither loses nor doubles it.
    next_step handle_java_triggers();

    /// Handles orders for single items. The instance that runs the item, or else its owner, removes each order.
    next_step handle_item_orders();

private:
    // Each returns when to check again at the latest.
    task<mono_time> take_trigger(revision order, node_version version);
    task<mono_time> handle_each_order();

    typename runs::order_answer carry_out(std::string_view name, node const& order);

    job_context<Environment>& context_;
    job_share<Environment>& share_;
    runs& runs_;
    revision obeyed_ = 0; ///< of the last trigger
    lasting_failure failed_trigger_{}, failed_removal_{};
};

template <class Environment>
next_step job_orders<Environment>::handle_java_triggers() {
    auto const* node = context_.view->self();
    bool const is_ordered = context_.is_registered() && !context_.is_leaving && node && node->data == trigger_order;
    if (!is_ordered) return {};
    return take_trigger(node->stat.modified, node->stat.version);
}

template <class Environment>
task<mono_time> job_orders<Environment>::take_trigger(revision order, node_version version) {
    auto const path = context_.at.instance(context_.self);
    auto const taken = co_await context_.registry.set(path, {}, version, context_.generation);
    auto const until =
        taken ? mono_time::max() : context_.now() + context_.after_failure(failed_trigger_, taken.error());
    if (taken) failed_trigger_.end();
    if (std::exchange(obeyed_, order) != order) {
        co_await share_.known();
        runs_.order_all(context_.wall_milliseconds());
    }
    co_return until;
}

template <class Environment>
next_step job_orders<Environment>::handle_item_orders() {
    if (!context_.is_registered() || !context_.view->has_orders()) return {};
    return handle_each_order();
}

template <class Environment>
task<mono_time> job_orders<Environment>::handle_each_order() {
    auto until = mono_time::max();
    bool has_failed = false;
    auto const orders = context_.view->orders();
    for (auto const& [name, order] : orders) {
        if (!context_.is_registered()) continue;
        auto const answer = carry_out(name, order);
        if (answer == runs::order_answer::not_yet) until = std::min<mono_time>(until, context_.now() + retry_pause);
        if (answer != runs::order_answer::done) continue;
        auto const path = context_.at.orders() / name;
        auto const taken = co_await context_.registry.remove(path, order.stat.version, context_.generation);
        if (taken || is_conflict(taken.error().code)) continue; // another instance has removed it
        has_failed = true;
        until = std::min<mono_time>(until, context_.now() + context_.after_failure(failed_removal_, taken.error()));
    }
    if (!has_failed) failed_removal_.end();
    co_return until;
}

template <class Environment>
auto job_orders<Environment>::carry_out(std::string_view name, node const& order) -> typename runs::order_answer {
    auto const is_for = [&](std::string_view what, item_index& item) {
        return name.starts_with(what) && read_number(name.substr(what.size()), item);
    };
    item_index item = 0;
    if (is_for("stop-", item)) return runs_.stop(item, parse_stop_request(order.data).value_or(wall_time{}));
    if (is_for("look-", item)) return runs_.look_again(item);
    return runs::order_answer::not_ours;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_JOB_ORDERS_HPP
