// SPDX-License-Identifier: Apache-2.0
/// \file \brief The commands `elasticjob servers …` and `instances …`.
#ifndef ELASTICJOB_COMMAND_LINE_SERVER_COMMANDS_HPP
#define ELASTICJOB_COMMAND_LINE_SERVER_COMMANDS_HPP

#include <elasticjob/command_line/command.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/operations/pauses.hpp>
#include <elasticjob/operations/server_overview.hpp>
#include <elasticjob/operations/shut_down.hpp>
#include <elasticjob/operations/switches.hpp>
#include <elasticjob/operations/trigger.hpp>

#include <string>
#include <vector>

namespace elasticjob::cli {

namespace detail {

report table_of(std::vector<server_overview> const& all);
report table_of(std::vector<server_in_job> const& all);
report table_of(std::vector<instance_overview> const& all);

template <class Found>
answer answer_for_list(Found const& found) {
    return found ? answer{.rows = table_of(*found)} : failure(found.error());
}

/// Gives a command for a server, in the job of the arguments or in all jobs.
template <class InOne, class Everywhere>
answer on_server(arguments const& a, InOne in_one, Everywhere everywhere) {
    return a.job.empty() ? cli::answer_for(everywhere()) : cli::answer_for(in_one());
}

template <loop Loop>
answer switch_one(registry_ref<Loop> r, arguments const& a, switched to) {
    return on_server(
        a, [&] { return switch_server(r, a.job, a.server, to, a.by()); },
        [&] { return switch_server_everywhere(r, a.server, to, a.by()); });
}

} // namespace detail

template <loop Loop>
std::vector<command<Loop>> server_commands() {
    using R = registry_ref<Loop>;
    using A = arguments const;
    constexpr auto a_server = takes::server | takes::in_job | takes::a_command;
    constexpr auto named = &arguments::server;
    return {
        {{"servers list", "all servers, over all jobs", takes::watching},
         +[](R r, A&) { return detail::answer_for_list(list_servers(r)); }},
        {{"servers show", "a server in each of its jobs", takes::server | takes::watching},
         +[](R r, A& a) { return detail::answer_for_list(describe_server(r, a.server)); }},
        {{"servers trigger", "have the items of a server run once, now",
          takes::server | takes::in_this_job | takes::a_command},
         +[](R r, A& a) { return answer_for(trigger_server(r, a.job, a.server, a.by())); }},
        {{"servers disable", "disable a server: it gets no items", a_server, named},
         +[](R r, A& a) { return detail::switch_one(r, a, switched::off); }},
        {{"servers enable", "enable a server", a_server},
         +[](R r, A& a) { return detail::switch_one(r, a, switched::on); }},
        {{"servers pause", "let no run begin on a server; its items stay there", a_server, named},
         +[](R r, A& a) {
             return detail::on_server(
                 a, [&] { return pause_server(r, a.job, a.server, a.by()); },
                 [&] { return pause_server_everywhere(r, a.server, a.by()); });
         }},
        {{"servers resume", "end the pause of a server", a_server},
         +[](R r, A& a) {
             return detail::on_server(
                 a, [&] { return resume_server(r, a.job, a.server, a.by()); },
                 [&] { return resume_server_everywhere(r, a.server, a.by()); });
         }},
        {{"servers shut-down", "have the instances of a server leave", a_server, named},
         +[](R r, A& a) {
             return detail::on_server(
                 a, [&] { return shut_down_server(r, a.job, a.server, a.by()); },
                 [&] { return shut_down_server_everywhere(r, a.server, a.by()); });
         }},
        {{"servers remove", "remove a server that has no instance", a_server, named},
         +[](R r, A& a) {
             return detail::on_server(
                 a, [&] { return remove_server(r, a.job, a.server, a.by()); },
                 [&] { return remove_server_everywhere(r, a.server, a.by()); });
         }},
        {{"instances list", "the instances of a job", takes::job | takes::watching},
         +[](R r, A& a) { return detail::answer_for_list(list_instances(r, a.job)); }},
        {{"instances shut-down", "have an instance leave its job", takes::job | takes::instance | takes::a_command,
          &arguments::job},
         +[](R r, A& a) { return answer_for(shut_down_instance(r, a.job, a.instance, a.by())); }},
    };
}

} // namespace elasticjob::cli

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/command_line/server_commands.ipp>
#endif
#endif // ELASTICJOB_COMMAND_LINE_SERVER_COMMANDS_HPP
