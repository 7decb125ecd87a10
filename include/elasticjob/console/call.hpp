// SPDX-License-Identifier: Apache-2.0
/// \file \brief One call of the console's interface: the request, its route, and its operator.
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

/// The operator who has sent a request, as the server has identified them.
struct console_operator {
    std::string name;
    console_rights rights{};
};

/// The parameters in a path: the segments in the places of `{name}` in the pattern. Nothing if the path does not match.
std::optional<text_pairs> match_pattern(std::string_view pattern, std::vector<std::string> const& path);

/// A method, the pattern of a path (`registries/{registry}/jobs/{job}`), and the lowest role that the operator must
/// have. If the pattern has a job, the role must hold in that job. Otherwise it must hold in any job to read, and in
/// all jobs to do more.
struct console_route_shape {
    std::string_view method;
    std::string_view pattern;
    console_role least;
};

/// A key for a command whose client has given none; empty for any other request.
std::string make_key_for(console_request const& r);

struct console_call {
    console_request const& request;
    console_operator const& by_whom;
    text_pairs parameters{}; ///< of the path
    std::string made_key{};  ///< see `make_key_for`

    std::string_view operator[](std::string_view name) const { return find_text(parameters, name); }

    bool is_dry_run() const { return request.parameter("dry_run") == "true"; }

    /// Refuses a request that may change something if its query has more than a correct `dry_run`: a misspelt one would
    /// carry the command out. Errors: invalid_argument.
    result<void> check_query() const;

    /// The operator, the key and the dry-run flag of the request's command.
    command_by by() const;

    /// If a command may have been carried out, or only a part of it, names the key that was made for it, so that the
    /// client can repeat it.
    void tell_key(console_reply& reply) const;

    /// Whether the operator may know that the job exists.
    bool may_see(std::string_view job) const { return by_whom.rights.in_job(job) >= console_role::viewer; }
    bool may_see_all() const { return by_whom.rights.in_all_jobs() >= console_role::viewer; }

    /// Whether the operator may see the runs of a job; of all jobs if the name is empty.
    bool may_see_runs_of(std::string_view job) const { return job.empty() ? may_see_all() : may_see(job); }

    /// Whether the operator may take the route.
    bool is_allowed(console_route_shape const& route) const;

    /// The item in the path. Errors: invalid_argument.
    result<item_index> item() const;

    /// The instant in `text`. `where` names its parameter in errors. Errors: invalid_argument.
    result<wall_time> instant(std::string_view text, std::string_view where) const;

    /// The value of `limit`, or 100. Errors: invalid_argument.
    result<std::uint32_t> limit() const;
};

/// The error if an operator lacks a role.
error lacks_role(std::string_view operator_name, console_role least);

console_reply reply_for(result<command_result> const& done);

/// The answer to a command in several jobs. If it failed in one of them, the worst failure is the answer; the same
/// request with the same key continues the command.
console_reply reply_for(result<std::vector<command_in_job>> const& all);

console_reply json_reply(std::string body);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/call.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_CALL_HPP
