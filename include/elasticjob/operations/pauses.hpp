// SPDX-License-Identifier: Apache-2.0
/// \file \brief Pauses and resumes a job or a server; from any process.
#ifndef ELASTICJOB_OPERATIONS_PAUSES_HPP
#define ELASTICJOB_OPERATIONS_PAUSES_HPP

#include <elasticjob/core/wait_within.hpp>
#include <elasticjob/execution/change_pauses.hpp>
#include <elasticjob/execution/job_pauses.hpp>
#include <elasticjob/operations/command_in_job.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// The operator's decision on a pause.
enum class pausing : std::uint8_t { pause, resume };

/// The pauses of a job and of its servers, including those that are over; none if the job does not exist. One request.
/// Errors: malformed_data; those of the registry.
template <registry Registry>
task<result<std::vector<job_pause>>> find_pauses(Registry& r, job_name job) {
    job_layout const at{job};
    auto const there = co_await r.get(at.pauses());
    if (!there && !(there.error() == errc::no_node)) co_return there.error();
    ELASTICJOB_CO_TRY(auto const pauses, job_pauses::parse(there ? there->data : std::string{}));
    co_return pauses.all();
}

/// Pauses or resumes a server of a job, or the whole job if `server` is empty. During a pause no run begins there, and
/// the items keep their owners (PA-1). Live runs continue. Instants that become due meanwhile are skipped and recorded
/// as skipped. Java members do not know pauses. Errors: no_node if there is no such job, or it has no such server;
/// malformed_data if the pauses cannot be read; invalid_argument for an invalid server name; too_large if 1,000 servers
/// are paused; those of `carry_out`.
template <registry Registry>
task<result<command_result>> order_pause(Registry& r, job_name job, std::string server, pausing what, command_by by) {
    job_layout const at{job};
    bool const is_pause = what == pausing::pause;
    if (!server.empty()) {
        ELASTICJOB_CO_CHECK(detail::check_server(server));
    }
    auto const plan = [&r, at, server, is_pause](transaction& t) -> task<result<detail::command_plan>> {
        auto const known = server.empty() ? at.config() : at.server(server);
        std::vector<node_path> const paths{at.pauses(), at.orders(), known};
        ELASTICJOB_CO_TRY(auto const nodes, co_await read_all(r, paths));
        if (!nodes[2])
            co_return error{errc::no_node,
                            server.empty() ? "the job has just been removed"
                                           : "the job has no server of that name: list its servers",
                            known.str()};
        std::string const subject = server.empty() ? "the job" : "the server";
        auto const text = nodes[0] ? nodes[0]->data : std::string{};
        auto const next = detail::pauses_after(text, server, is_pause, r.loop().wall_now());
        if (!next) co_return error{next.error().code, next.error().what, at.pauses().str()};
        if (!*next)
            co_return detail::command_plan{subject + (is_pause ? " was paused already" : " was not paused"), false};
        if (!nodes[1]) t.create(at.orders(), {});
        if (nodes[0])
            t.set(at.pauses(), **next, nodes[0]->stat.version);
        else
            t.create(at.pauses(), **next);
        co_return detail::command_plan{subject + (is_pause ? " is paused" : " is resumed")};
    };
    detail::command_title title{is_pause ? "pause" : "resume", server.empty() ? server : "server " + server};
    co_return co_await detail::carry_out(r, std::move(job), std::move(by), std::move(title), plan);
}

/// Pauses or resumes a server in all jobs that have a node for it: one command for each job, under the same key. If
/// some of them failed, repeat it with that key. The result has the outcome for each job. Errors: as `find_server`.
template <registry Registry>
task<result<std::vector<command_in_job>>> order_pause_everywhere(Registry& r, std::string server, pausing what,
                                                                 command_by by) {
    ELASTICJOB_CO_TRY(auto const origin, detail::checked(std::move(by)));
    auto const command = [&](job_name job) { return order_pause(r, std::move(job), server, what, origin); };
    co_return co_await detail::for_each_job_of(r, server, command);
}

// The functions above as blocking calls. Those for one job wait up to ten seconds. Errors: as above, and timed_out:
// repeat the call with the same key; invalid_argument for an invalid job name. Threads: any but the loop's.

/// The pauses of a job and of its servers. Errors: as `find_pauses`.
template <registry Registry>
result<std::vector<job_pause>> list_pauses(Registry& r, std::string_view job) {
    return detail::wait_for_job(r, job, [&](job_name name) { return find_pauses(r, std::move(name)); });
}

/// Pauses the whole job. Errors: as `order_pause`.
template <registry Registry>
result<command_result> pause_job(Registry& r, std::string_view job, command_by by) {
    return detail::wait_for_job(r, job,
                                [&](job_name name) { return order_pause(r, std::move(name), {}, pausing::pause, by); });
}

/// Ends the pause of the whole job; pauses of its servers continue. Errors: as `order_pause`.
template <registry Registry>
result<command_result> resume_job(Registry& r, std::string_view job, command_by by) {
    return detail::wait_for_job(
        r, job, [&](job_name name) { return order_pause(r, std::move(name), {}, pausing::resume, by); });
}

/// Pauses one server of a job. Errors: as `order_pause`; invalid_argument also for an empty name.
template <registry Registry>
result<command_result> pause_server(Registry& r, std::string_view job, std::string_view server, command_by by) {
    ELASTICJOB_CHECK(detail::check_server(server));
    return detail::wait_for_job(r, job, [&](job_name name) {
        return order_pause(r, std::move(name), std::string{server}, pausing::pause, by);
    });
}

/// Ends the pause of one server of a job. Errors: as `pause_server`.
template <registry Registry>
result<command_result> resume_server(Registry& r, std::string_view job, std::string_view server, command_by by) {
    ELASTICJOB_CHECK(detail::check_server(server));
    return detail::wait_for_job(r, job, [&](job_name name) {
        return order_pause(r, std::move(name), std::string{server}, pausing::resume, by);
    });
}

/// Pauses one server in all its jobs. Waits up to `timeout`. Errors: as `order_pause_everywhere`.
template <registry Registry>
result<std::vector<command_in_job>>
pause_server_everywhere(Registry& r, std::string_view server, command_by by,
                        std::chrono::milliseconds timeout = std::chrono::seconds{60}) {
    auto order = order_pause_everywhere(r, std::string{server}, pausing::pause, std::move(by));
    return detail::wait_within(r.loop(), timeout, std::move(order));
}

/// Ends the pause of one server in all its jobs. Waits up to `timeout`. Errors: as `order_pause_everywhere`.
template <registry Registry>
result<std::vector<command_in_job>>
resume_server_everywhere(Registry& r, std::string_view server, command_by by,
                         std::chrono::milliseconds timeout = std::chrono::seconds{60}) {
    auto order = order_pause_everywhere(r, std::string{server}, pausing::resume, std::move(by));
    return detail::wait_within(r.loop(), timeout, std::move(order));
}

} // namespace elasticjob
#endif // ELASTICJOB_OPERATIONS_PAUSES_HPP
