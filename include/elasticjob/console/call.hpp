// SPDX-License-Identifier: Apache-2.0
/// \file \brief One call of the console's interface: the request, the route that it took, and who sent it.
#ifndef ELASTICJOB_CONSOLE_CALL_HPP
#define ELASTICJOB_CONSOLE_CALL_HPP

#include <elasticjob/console/access.hpp>
#include <elasticjob/console/message.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/identity.hpp>
#include <elasticjob/operations/command.hpp>
#include <elasticjob/operations/command_in_job.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob::detail {

/// Who sends a request, as it was found out by the server.
struct console_operator {
    std::string name;
    console_rights rights{};
};

/// The parameters in a path: the segments that stand where the pattern has `{name}`. Nothing if the path does not
/// match.
std::optional<text_pairs> match_pattern(std::string_view pattern, std::vector<std::string> const& path);

/// A method, the pattern of a path (`registries/{registry}/jobs/{job}`), and what the operator must at least be: in the
/// job if the pattern has one, otherwise in any job to read, and in all jobs to do more.
struct console_route_shape {
    std::string_view method;
    std::string_view pattern;
    console_role least;
};

struct console_call {
    console_request const& request;
    console_operator const& by_whom;
    text_pairs parameters{}; ///< of the path

    std::string_view operator[](std::string_view name) const { return find_text(parameters, name); }

    bool is_dry_run() const { return request.parameter("dry_run") == "true"; }

    /// The command that the request gives.
    command_by by() const { return {by_whom.name, std::string{request.header("idempotency-key")}, is_dry_run()}; }

    /// Whether the operator may know of the job.
    bool may_see(std::string_view job) const { return by_whom.rights.in_job(job) >= console_role::viewer; }
    bool may_see_all() const { return by_whom.rights.in_all_jobs() >= console_role::viewer; }

    /// Whether the operator may see the runs of a job; of all jobs if the name is empty.
    bool may_see_runs_of(std::string_view job) const { return job.empty() ? may_see_all() : may_see(job); }

    /// Whether the route may be taken.
    bool is_allowed(console_route_shape const& route) const;

    /// An item in the path. Errors: invalid_argument.
    result<item_index> item() const;

    /// An instant in the path. Errors: invalid_argument.
    result<wall_time> instant(std::string_view text, std::string_view where) const;

    /// `limit`, or 100. Errors: invalid_argument.
    result<std::uint32_t> limit() const;
};

/// Why an operator may not do what needs that role.
error lacks_role(std::string_view operator_name, console_role least);

console_reply reply_for(result<command_result> const& done);

/// A command in several jobs. If it was refused in one of them, that is the answer: the same request under the same key
/// goes on.
console_reply reply_for(result<std::vector<command_in_job>> const& all);

console_reply json_reply(std::string body);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/call.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_CALL_HPP
