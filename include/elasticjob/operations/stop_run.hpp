// SPDX-License-Identifier: Apache-2.0
/// \file \brief Stops a live run, from any process.
#ifndef ELASTICJOB_OPERATIONS_STOP_RUN_HPP
#define ELASTICJOB_OPERATIONS_STOP_RUN_HPP

#include <elasticjob/core/algorithm.hpp> // min
#include <elasticjob/core/block_on.hpp>
#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/within.hpp>
#include <elasticjob/execution/run_record.hpp>
#include <elasticjob/execution/stop_request.hpp>
#include <elasticjob/operations/command.hpp>
#include <elasticjob/operations/config_with_item.hpp>
#include <elasticjob/operations/no_such_job.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/registry.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

namespace detail {

/// A live run, and the version of the record that contains it.
struct found_run {
    run_begin run;
    node_version version{};
};

/// Errors: no_node, not_running, malformed_data, those of the registry.
template <registry Registry>
task<result<found_run>> find_run(Registry& r, job_layout const& at, item_index item) {
    auto const nothing_runs = error{errc::not_running, "the item is not running", at.item(item).str()};
    auto const there = co_await r.get(at.run_record(item));
    if (!there && there.error() == errc::no_node) {
        auto const config = co_await r.get(at.config());
        if (!config && config.error() == errc::no_node)
            co_return detail::no_such_job(at.root());
        if (!config) co_return config.error();
        ELASTICJOB_CO_CHECK(config_with_item(at, *config, item));
        co_return nothing_runs;
    }
    if (!there) co_return there.error();
    ELASTICJOB_CO_TRY(auto const record, run_record::parse(there->data));
    if (!record.running) co_return nothing_runs;
    auto const id = instance_id::parse(record.running->instance);
    if (!id) co_return nothing_runs; // its instance died, and no other instance has started it yet
    ELASTICJOB_CO_TRY(auto const alive, co_await r.exists(at.instance(*id)));
    if (!alive)
        co_return error{errc::not_running, "the instance that ran the item is gone: " + record.running->instance,
                        at.item(item).str()};
    co_return found_run{*record.running, there->stat.version};
}

/// Waits until the node is gone. Errors: timed_out, those of the registry.
template <registry Registry>
task<result<void>> until_gone(Registry& r, node_path path, mono_time deadline) {
    using loop_type = typename Registry::loop_type;
    event_count<loop_type> news{r.loop()};
    while (r.loop().now() < deadline) {
        auto const seen = news.edition();
        event_watch<loop_type> gone{news};
        auto const there = co_await r.exists(path, &gone);
        if (there && !*there) co_return success();
        if (!there && !is_transient(there.error())) co_return there.error();
        auto const pause = r.loop().now() + std::chrono::milliseconds{200};
        co_await news.newer_than(seen, there ? deadline : std::min(pause, deadline));
    }
    co_return error{errc::timed_out, {}, path.str()};
}

} // namespace detail

/// Asks the item's live run to stop, with `stop_reason::ordered`, and waits until its instance has passed the request
/// on to the body. It does not wait for the end of the body. If the run ends meanwhile, the call succeeds. The request
/// names the run's due instant, so it stops no run for another instant. But if the instance dies, the request stops the
/// next attempt for the same instant. The job must be monitored. Safe to repeat.
/// Errors: no_node if there is no such job or item; not_running if no run is live; malformed_data for a record or a
/// configuration that cannot be read; timed_out if the instance has not answered
/// by the deadline, and then the request is withdrawn, unless others have given it too, or the reply to it was
/// lost; those of the registry.
template <registry Registry>
task<result<void>> request_stop(Registry& r, job_name job, item_index item, mono_time deadline) {
    job_layout const at{job};
    ELASTICJOB_CO_TRY(auto const live, co_await detail::find_run(r, at, item));
    auto const& run = live.run;
    auto const path = at.stop_order(item);
    auto const text = stop_request_text(run.due);
    event_count<typename Registry::loop_type> news{r.loop()};
    bool is_new = false;             // this call has just created the order
    std::optional<revision> created; // its own order
    for (bool is_given = false; r.loop().now() < deadline;) {
        auto const seen = news.edition();
        event_watch<typename Registry::loop_type> gone{news};
        auto const there = co_await r.get(path, &gone);
        bool const is_absent = !there && there.error() == errc::no_node;
        if (is_absent && is_given) co_return success();
        if (is_absent) {
            auto const made = co_await r.create(path, text, create_mode::persistent);
            is_given = is_new = made.has_value(); // a lost reply may give the order twice, which does no harm
            if (!made && !is_connection(made.error().code) && !(made.error() == errc::node_exists))
                co_return made.error();
        } else if (there) {
            bool const is_ours = std::exchange(is_new, false);
            if (is_ours) created = there->stat.created;
            bool const is_same = there->data == text; // an order for another run must end first
            if (is_same && !is_given && !is_ours) (void)co_await r.set(path, text, there->stat.version); // see below
            is_given = is_same;
            co_await news.newer_than(seen, deadline);
        } else if (is_connection(there.error().code)) {
            auto const pause = r.loop().now() + std::chrono::milliseconds{200};
            co_await news.newer_than(seen, pause);
        } else {
            co_return there.error();
        }
    }
    auto const left = co_await r.get(path);
    // Others who give the same order write it again.
    bool const is_unchanged = left && left->data == text && left->stat.version == 0;
    bool const is_own = is_unchanged && (is_new || left->stat.created == created);
    if (is_own) (void)co_await r.remove(path, left->stat.version);
    co_return error{errc::timed_out, "the instance that runs the item has not answered: " + run.instance,
                    at.item(item).str()};
}

/// `request_stop` as an operator's command, with one difference: the order stays even if the instance does not answer
/// by the deadline. It stops no other run, and is removed when its run has ended. A second call with the same key waits
/// again. Errors: no_node if there is no such job or item; not_running if no run is live; timed_out if the order has
/// been given, but the instance has not answered yet; malformed_data; those of `carry_out`.
template <registry Registry>
task<result<command_result>> order_stop(Registry& r, job_name job, item_index item, command_by by, mono_time deadline) {
    job_layout const at{job};
    auto const path = at.stop_order(item);
    bool const is_dry_run = by.is_dry_run;
    auto const plan = [&r, at, path, item](transaction& t) -> task<result<detail::command_plan>> {
        ELASTICJOB_CO_TRY(auto const live, co_await detail::find_run(r, at, item));
        std::vector<node_path> const paths{at.orders(), path};
        ELASTICJOB_CO_TRY(auto const nodes, co_await read_all(r, paths));
        auto const text = stop_request_text(live.run.due);
        t.check(at.run_record(item), live.version);
        if (!nodes[0]) t.create(at.orders(), {});
        if (nodes[1]) // for a run that is over, or from a call of `request_stop`, which then does not withdraw it
            t.set(path, text, nodes[1]->stat.version);
        else
            t.create(path, text);
        bool const is_given = nodes[1] && nodes[1]->data == text;
        co_return detail::command_plan{is_given ? "the run has been told to stop already; now by this command too"
                                                : "the run on " + live.run.instance + " is told to stop"};
    };
    detail::command_title title{"stop", "item " + item_name(item)};
    auto order = detail::carry_out(r, std::move(job), std::move(by), std::move(title), plan);
    ELASTICJOB_CO_TRY(auto done, co_await within(r.loop(), deadline, std::move(order)));
    if (is_dry_run) co_return done;
    auto waited = co_await detail::until_gone(r, path, deadline);
    if (!waited && waited.error() == errc::timed_out)
        waited.error().what = "the order has been given, but the instance has not answered yet: " + done.text;
    if (!waited) co_return waited.error();
    co_return done;
}

/// `request_stop` as a blocking call, `stop_run(registry, "settle", 2)`, for programs: it is not in the audit trail.
/// Errors: as above, and invalid_argument for an invalid job name. Threads: any but the loop's.
template <registry Registry>
result<void> stop_run(Registry& r, std::string_view job, item_index item,
                      std::chrono::milliseconds timeout = std::chrono::seconds{10}) {
    ELASTICJOB_TRY(auto name, job_name::parse(job));
    auto& l = r.loop();
    return block_on(l, request_stop(r, std::move(name), item, end_of_wait(l.now(), timeout)));
}

/// `order_stop` as a blocking call: `stop_run(registry, "settle", 2, {"ann"})`. Errors: as above, and invalid_argument
/// for an invalid job name. Threads: any but the loop's.
template <registry Registry>
result<command_result> stop_run(Registry& r, std::string_view job, item_index item, command_by by,
                                std::chrono::milliseconds timeout = std::chrono::seconds{10}) {
    ELASTICJOB_TRY(auto name, job_name::parse(job));
    auto& l = r.loop();
    return block_on(l, order_stop(r, std::move(name), item, std::move(by), end_of_wait(l.now(), timeout)));
}

} // namespace elasticjob
#endif // ELASTICJOB_OPERATIONS_STOP_RUN_HPP
