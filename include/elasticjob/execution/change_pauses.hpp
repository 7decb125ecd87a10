// SPDX-License-Identifier: Apache-2.0
/// \file \brief Pauses and resumes a job, or one server of it.
#ifndef ELASTICJOB_EXECUTION_CHANGE_PAUSES_HPP
#define ELASTICJOB_EXECUTION_CHANGE_PAUSES_HPP

#include <elasticjob/core/result.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/execution/job_pauses.hpp>
#include <elasticjob/registry/change_attempts.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/registry.hpp>
#include <elasticjob/registry/transaction.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace elasticjob::detail {

/// Edits the pauses in the content of their node. Returns the new content; nothing if there is nothing to change.
/// Errors: malformed_data, too_large.
result<std::optional<std::string>> pauses_after(std::string_view text, std::string_view server, bool paused,
                                                wall_time now);

/// Pauses or resumes a server; an empty one stands for the whole job (PA-1). If another client writes first or a reply
/// is lost, this reads again and repeats, a limited number of times. Errors: those of `pauses_after`; version_conflict
/// if the node kept changing; unknown_outcome if the change may be in the registry; those of the registry.
template <registry Registry>
task<result<void>> change_pauses(Registry& r, job_layout at, std::string server, bool paused, wall_time now) {
    auto const path = at.pauses();
    change_attempts attempts{20};
    while (attempts.next()) {
        ELASTICJOB_CO_TRY(auto const session, co_await connected_session(r));
        auto const there = co_await r.get(path);
        if (!there && attempts.note_read(there.error())) continue;
        bool const is_new = !there && there.error() == errc::no_node;
        if (!there && !is_new) co_return attempts.known(there.error());
        auto const text = pauses_after(there ? there->data : std::string{}, server, paused, now);
        if (!text) co_return attempts.known({text.error().code, text.error().what, path.str()});
        if (!*text) co_return success();
        transaction t{session.generation};
        if (is_new)
            t.create(path, **text);
        else
            t.set(path, **text, there->stat.version);
        auto const reply = co_await r.commit(std::move(t));
        if (reply && *reply) co_return success();
        if (!reply && !attempts.note_write(reply.error())) co_return attempts.known(reply.error());
        if (reply && reply->refused->why == errc::no_node) { // somebody has removed the parent
            auto const made = co_await r.create(at.orders(), {}, create_mode::persistent);
            if (!made && !is_conflict(made.error().code) && !attempts.note_read(made.error()))
                co_return attempts.known(made.error());
        }
    }
    co_return attempts.failure("the pauses of the job kept changing: repeat the call", path.str());
}

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/change_pauses.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_CHANGE_PAUSES_HPP
