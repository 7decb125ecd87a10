// SPDX-License-Identifier: Apache-2.0
/// \file \brief Removes a job for good, with all its nodes except a tombstone, from any process, even while instances
/// run it.
#ifndef ELASTICJOB_OPERATIONS_REMOVE_JOB_HPP
#define ELASTICJOB_OPERATIONS_REMOVE_JOB_HPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/block_on.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/identity.hpp>
#include <elasticjob/core/within.hpp>
#include <elasticjob/operations/command.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/list_below.hpp>
#include <elasticjob/registry/read_all.hpp>
#include <elasticjob/registry/registry.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

namespace detail {

inline constexpr std::chrono::milliseconds removal_pause{100};

error restored_meanwhile(job_layout const& at);

/// The nodes on which a removal depends.
struct removal_facts {
    std::optional<node> tombstone, config, servers, instances;
};

template <registry Registry>
task<result<removal_facts>> read_removal_facts(Registry& r, job_layout at) {
    std::vector<node_path> paths{at.removed(), at.config(), at.servers(), at.instances()};
    ELASTICJOB_CO_TRY(auto nodes, co_await read_all(r, std::move(paths)));
    co_return removal_facts{std::move(nodes[0]), std::move(nodes[1]), std::move(nodes[2]), std::move(nodes[3])};
}

/// Creates the tombstone and removes the configuration. Precondition: the job's node `ext` exists. Errors: no_node if
/// nothing shows that the job exists.
result<command_plan> plan_removal(transaction& t, job_layout const& at, removal_facts const& facts);

/// Takes one step: one transaction creates the tombstone and removes the configuration. Returns whether the job is in
/// this state. If the job is `known_removed` and there is no tombstone, the job has been restored and is now another
/// one.
template <registry Registry>
task<result<bool>> replace_by_tombstone(Registry& r, job_layout at, session_generation g, bool known_removed) {
    ELASTICJOB_CO_TRY(auto const facts, co_await read_removal_facts(r, at));
    if (!facts.tombstone && known_removed) co_return restored_meanwhile(at);
    if (facts.tombstone && !facts.config) co_return true;
    ELASTICJOB_CO_TRY(auto const ext, co_await r.exists(at.ext()));
    transaction t{g};
    if (!ext) t.create(at.ext(), {});
    ELASTICJOB_CO_CHECK(plan_removal(t, at, facts));
    ELASTICJOB_CO_TRY(auto const reply, co_await r.commit(std::move(t)));
    co_return static_cast<bool>(reply);
}

/// Removes the nodes of instances that do not leave by themselves. Members that ignore tombstones leave when their node
/// is gone (SD-1), and a persistent node belongs to no process. Returns one of the instances that are still registered,
/// if any.
template <registry Registry>
task<result<std::optional<std::string>>> remove_remaining_instances(Registry& r, job_layout at,
                                                                    node_watch<typename Registry::loop_type>& watch) {
    std::optional<std::string> waiting_for;
    auto const names = co_await r.children(at.instances(), &watch);
    if (!names && names.error() == errc::no_node) co_return waiting_for;
    if (!names) co_return names.error();
    for (auto const& name : *names) {
        auto const path = at.instances() / name;
        ELASTICJOB_CO_TRY(auto const there, co_await r.exists(path));
        if (!there) continue;
        auto const id = instance_id::parse(name);
        if (there->owner != 0 && id && !id->is_java()) {
            waiting_for = name;
            continue;
        }
        auto const removed = co_await r.remove(path);
        if (!removed && !is_conflict(removed.error().code)) co_return removed.error();
    }
    co_return waiting_for;
}

/// Removes everything except the tombstone and the audit trail, from the leaves up, in transactions as large as
/// possible. Each transaction checks that the tombstone still exists. Returns whether only these two are left. Errors:
/// version_conflict if the job has been restored; those of the registry.
template <registry Registry>
task<result<bool>> remove_nodes(Registry& r, job_layout at, session_generation g) {
    ELASTICJOB_CO_TRY(auto doomed, co_await list_below(r, at.root()));
    auto const stays = [&](auto const& p) {
        return p == at.root() || p == at.ext() || p == at.removed() || p == at.audit();
    };
    std::erase_if(doomed, stays);
    if (doomed.empty()) co_return true;
    while (!doomed.empty()) {
        transaction t{g};
        t.check(at.removed());
        for (; !doomed.empty(); doomed.pop_back()) {
            operation const o{operation::kind::remove, doomed.back()};
            if (!t.has_room(r.limits(), 1, o.bytes())) break;
            t.add(o);
        }
        ELASTICJOB_CO_TRY(auto const reply, co_await r.commit(std::move(t)));
        if (!reply && reply.refused->operation == 0) co_return restored_meanwhile(at);
        if (!reply) break; // another caller was faster, or a member has just written
    }
    co_return false; // not known yet
}

/// Takes steps until only the tombstone and the audit trail are left and `last` succeeds. `is_removed`: the tombstone
/// has been seen before.
template <registry Registry, class Last>
task<result<void>> remove_with(Registry& r, job_layout at, mono_time deadline, Last last, bool is_removed = false) {
    using loop_type = typename Registry::loop_type;
    event_count<loop_type> news{r.loop()};
    std::optional<std::string> instance;
    for (;;) {
        auto const seen = news.edition();
        event_watch<loop_type> watch{news};
        auto const g = r.session().generation;
        auto done = co_await replace_by_tombstone(r, at, g, is_removed);
        instance.reset();
        if (done && *done) {
            is_removed = true;
            auto waiting_for = co_await remove_remaining_instances(r, at, watch);
            if (!waiting_for)
                done = std::move(waiting_for).error();
            else
                instance = *std::move(waiting_for);
        }
        if (done && *done && !instance) done = co_await remove_nodes(r, at, g);
        if (done && *done && !instance) done = co_await last(r, at, g);
        if (done && *done && !instance) co_return success();
        if (!done && !is_transient(done.error())) co_return done.error();
        if (r.loop().now() >= deadline) break;
        bool const is_moving = done && !instance;
        auto const until = instance ? deadline : r.loop().now() + removal_pause;
        if (!is_moving) co_await news.newer_than(seen, std::min(deadline, until));
    }
    if (!is_removed)
        co_return error{errc::timed_out, "it is not known whether the job is removed: repeat the call",
                        at.root().str()};
    if (instance)
        co_return error{
            errc::timed_out,
            "the job is removed, but this instance has not left yet, so its nodes are still there: repeat the call "
            "to remove them",
            at.instances().str() + "/" + *instance};
    co_return error{errc::timed_out,
                    "the job is removed, but some of its nodes are left: repeat the call to remove them",
                    at.root().str()};
}

struct keep_tombstone {
    template <registry Registry>
    task<result<bool>> operator()(Registry&, job_layout, session_generation) const {
        co_return true;
    }
};

} // namespace detail

/// Removes a job for good. First, one transaction removes its configuration and creates the tombstone, `ext/removed`.
/// From then on no instance can join the job, no run begins, and no restart restores the job; only restore_job does.
/// The job's instances let their runs end, record them, and leave in order. Java members ignore tombstones, so their
/// nodes are removed, which makes them leave. When the last instance has left, all nodes of the job except the
/// tombstone and the audit trail are removed, in as many transactions as necessary. The removal may stop after any
/// step, and every step may be repeated, by the same caller, by another one, or by several at once. Errors: no_node if
/// there is no such job; timed_out if instances are still registered at the deadline or the registry has not answered:
/// the error tells which, and whether the job is already removed; version_conflict if the job is restored meanwhile;
/// those of the registry.
template <registry Registry>
task<result<void>> request_removal(Registry& r, job_name job, mono_time deadline) {
    job_layout const at{job};
    return detail::remove_with(r, at, deadline, detail::keep_tombstone{});
}

/// `request_removal` as an operator's command. The transaction that creates the tombstone records the command in the
/// audit trail, which stays beside the tombstone. If the job was removed already, the call only removes the rest of its
/// nodes. A second call with the same key continues to wait and to remove nodes, unless the job has been restored
/// since: that ends each call, with the result of the command. Other errors: as `request_removal`, and those of
/// `carry_out`. After timed_out repeat the call with the same key:
/// the error tells whether the job is removed already.
template <registry Registry>
task<result<command_result>> order_removal(Registry& r, job_name job, command_by by, mono_time deadline) {
    job_layout const at{job};
    bool const is_dry_run = by.is_dry_run;
    auto const plan = [&r, at](transaction& t) -> task<result<detail::command_plan>> {
        ELASTICJOB_CO_TRY(auto const facts, co_await detail::read_removal_facts(r, at));
        co_return detail::plan_removal(t, at, facts);
    };
    detail::command_title title{"remove"};
    title.may_create = title.may_be_removed = true;
    auto order = detail::carry_out(r, std::move(job), std::move(by), std::move(title), plan);
    ELASTICJOB_CO_TRY(auto done, co_await within(r.loop(), deadline, std::move(order)));
    if (is_dry_run) co_return done;
    auto const cleared = co_await detail::remove_with(r, at, deadline, detail::keep_tombstone{}, true);
    bool const is_restored = !cleared && cleared.error() == errc::version_conflict; // since then
    if (!cleared && !is_restored) co_return cleared.error();
    co_return done;
}

/// `request_removal` as a blocking call, `remove_job(registry, "settle")`, for programs: it is not in the audit trail.
/// Errors: as above, and invalid_argument for an invalid job name. Threads: any but the loop's.
template <registry Registry>
result<void> remove_job(Registry& r, std::string_view job,
                        std::chrono::milliseconds timeout = std::chrono::seconds{60}) {
    ELASTICJOB_TRY(auto name, job_name::parse(job));
    auto& l = r.loop();
    return block_on(l, request_removal(r, std::move(name), end_of_wait(l.now(), timeout)));
}

/// `order_removal` as a blocking call: `remove_job(registry, "settle", {"ann"})`. Errors: as above, and
/// invalid_argument for an invalid job name. Threads: any but the loop's.
template <registry Registry>
result<command_result> remove_job(Registry& r, std::string_view job, command_by by,
                                  std::chrono::milliseconds timeout = std::chrono::seconds{60}) {
    ELASTICJOB_TRY(auto name, job_name::parse(job));
    auto& l = r.loop();
    return block_on(l, order_removal(r, std::move(name), std::move(by), end_of_wait(l.now(), timeout)));
}

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/operations/remove_job.ipp>
#endif
#endif // ELASTICJOB_OPERATIONS_REMOVE_JOB_HPP
