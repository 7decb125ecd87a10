// SPDX-License-Identifier: Apache-2.0
/// \file \brief The interface of the console of 2.1.5, `/api`, for scripts that use it: its paths and its JSON, but
/// with the roles, the checks and the audit trail of this console.
#ifndef ELASTICJOB_CONSOLE_JAVA_ROUTES_HPP
#define ELASTICJOB_CONSOLE_JAVA_ROUTES_HPP

#include <elasticjob/console/item_routes.hpp> // order_for_item
#include <elasticjob/console/java_rows.hpp>
#include <elasticjob/console/job_routes.hpp> // visible_rows
#include <elasticjob/console/options.hpp>
#include <elasticjob/console/server_routes.hpp> // visible_servers
#include <elasticjob/console/site.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/operations/remove_job.hpp>
#include <elasticjob/operations/shut_down.hpp>
#include <elasticjob/operations/switches.hpp>
#include <elasticjob/operations/trigger.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob::detail {

/// The console of 2.1.5 works on one registry and one database at a time, which its users choose. Here these are always
/// the first registry and the first database of the console.
template <loop Loop>
struct java_console {
    console_site<Loop>& site;
    console_database const* database; ///< null: the console has none

    std::string_view database_name() const { return database ? database->name() : std::string_view{}; }
};

/// A route below `api/`.
template <loop Loop>
struct java_route : console_route_shape {
    console_reply (*answer)(java_console<Loop> const&, console_call const&);
};

/// Answers 204 if a command has succeeded, as 2.1.5 does, and otherwise the answer of this console.
console_reply without_content(console_reply done);
template <class Done>
console_reply java_reply(Done const& done) {
    return without_content(reply_for(done));
}

/// The list that contains only the registry, or the database, in use: its name, without address and password.
console_reply show_java_choice(std::string_view name, text_pairs const& more = {});

/// The answer to a choice of a registry or a database: whether the body names the one in use.
console_reply connect_java(std::string_view name_in_use, console_call const& c);

/// Refuses to add or remove a registry or a database, because the start of the console determines them.
console_reply refuse_java_choice();

/// `database`: null if there is none; then the answer has no rows.
console_reply show_java_executions(console_database const* database, console_call const& c, zone_ref zone);
console_reply show_java_states(console_database const* database, console_call const& c, zone_ref zone);

template <loop Loop>
console_reply show_java_jobs(console_site<Loop>& s, console_call const& c) {
    auto const rows = visible_rows(s, c);
    if (!rows) return problem(rows.error());
    return json_reply(java_list(*rows, [](auto const& row) { return java_text(row->overview); }));
}

template <loop Loop>
console_reply show_java_items(console_site<Loop>& s, console_call const& c) {
    constexpr std::uint32_t items_max = 10'000;
    auto const page = list_items(s.registry, c["job"], {.items_max = items_max});
    if (!page) return problem(page.error());
    if (page->next)
        return problem({errc::too_large, "the job has more than 10000 items: list them by pages, with /api/v1", "job"});
    return json_reply(java_list(page->items, [](item_overview const& i) { return java_text(i); }));
}

template <loop Loop>
console_reply change_java_settings(console_site<Loop>& s, console_call const& c) {
    auto const job = job_of_java_settings(c.request.body);
    if (!job) return problem(job.error());
    if (c.by_whom.rights.in_job(*job) < console_role::administrator)
        return problem({errc::no_auth, "this needs the role administrator in the job", *job}, 403);
    auto const now = read_settings(s.registry, *job);
    if (!now) return problem(now.error());
    auto next = with_java_settings(now->config, c.request.body);
    if (!next) return problem(next.error());
    return java_reply(change_settings(s.registry, {*std::move(next), now->tag, false, s.strategies, true}, c.by()));
}

template <loop Loop>
console_reply show_java_server(console_site<Loop>& s, console_call const& c) {
    auto found = describe_server(s.registry, c["server"]);
    if (!found && !(found.error() == errc::no_node)) return problem(found.error());
    if (!found) return json_reply("[]");
    std::erase_if(*found, [&](server_in_job const& one) { return !one.has_node || !c.may_see(one.job); });
    return json_reply(java_list(*found, [](server_in_job const& one) { return java_text(one); }));
}

template <loop Loop>
console_reply switch_java_item(console_site<Loop>& s, console_call const& c, switched to) {
    return without_content(
        order_for_item(c, [&](item_index i) { return switch_item(s.registry, c["job"], i, to, c.by()); }));
}

template <loop Loop>
std::vector<java_route<Loop>> const& java_routes() {
    using J = java_console<Loop> const;
    using C = console_call const;
    constexpr auto viewer = console_role::viewer, op = console_role::operator_, admin = console_role::administrator;
    static std::vector<java_route<Loop>> const all{
        {{"GET", "jobs/count", viewer},
         +[](J& j, C& c) {
             auto const rows = visible_rows(j.site, c);
             return rows ? json_reply(std::to_string(rows->size())) : problem(rows.error());
         }},
        {{"GET", "jobs", viewer}, +[](J& j, C& c) { return show_java_jobs(j.site, c); }},
        {{"GET", "jobs/config/{job}", viewer},
         +[](J& j, C& c) {
             auto const found = read_settings(j.site.registry, c["job"]);
             return found ? json_reply(java_text(found->config)) : problem(found.error());
         }},
        {{"PUT", "jobs/config", viewer},
         +[](J& j, C& c) { return change_java_settings(j.site, c); }}, // checks further roles itself
        {{"DELETE", "jobs/config/{job}", admin},
         +[](J& j, C& c) { return java_reply(remove_job(j.site.registry, c["job"], c.by())); }},
        {{"POST", "jobs/{job}/trigger", op},
         +[](J& j, C& c) { return java_reply(trigger_job(j.site.registry, c["job"], c.by())); }},
        {{"POST", "jobs/{job}/disable", op},
         +[](J& j, C& c) { return java_reply(switch_job(j.site.registry, c["job"], switched::off, c.by())); }},
        {{"DELETE", "jobs/{job}/disable", op},
         +[](J& j, C& c) { return java_reply(switch_job(j.site.registry, c["job"], switched::on, c.by())); }},
        {{"POST", "jobs/{job}/shutdown", op},
         +[](J& j, C& c) { return java_reply(shut_down_job(j.site.registry, c["job"], c.by())); }},
        {{"GET", "jobs/{job}/sharding", viewer}, +[](J& j, C& c) { return show_java_items(j.site, c); }},
        {{"POST", "jobs/{job}/sharding/{item}/disable", op},
         +[](J& j, C& c) { return switch_java_item(j.site, c, switched::off); }},
        {{"DELETE", "jobs/{job}/sharding/{item}/disable", op},
         +[](J& j, C& c) { return switch_java_item(j.site, c, switched::on); }},
        {{"GET", "servers/count", viewer},
         +[](J& j, C& c) {
             auto const servers = visible_servers(j.site, c);
             return servers ? json_reply(std::to_string(servers->size())) : problem(servers.error());
         }},
        {{"GET", "servers", viewer},
         +[](J& j, C& c) {
             auto const servers = visible_servers(j.site, c);
             if (!servers) return problem(servers.error());
             return json_reply(java_list(*servers, [](server_overview const& one) { return java_text(one); }));
         }},
        {{"POST", "servers/{server}/disable", op},
         +[](J& j, C& c) {
             return java_reply(switch_server_everywhere(j.site.registry, c["server"], switched::off, c.by()));
         }},
        {{"DELETE", "servers/{server}/disable", op},
         +[](J& j, C& c) {
             return java_reply(switch_server_everywhere(j.site.registry, c["server"], switched::on, c.by()));
         }},
        {{"POST", "servers/{server}/shutdown", op},
         +[](J& j, C& c) { return java_reply(shut_down_server_everywhere(j.site.registry, c["server"], c.by())); }},
        {{"DELETE", "servers/{server}", admin},
         +[](J& j, C& c) { return java_reply(remove_server_everywhere(j.site.registry, c["server"], c.by())); }},
        {{"GET", "servers/{server}/jobs", viewer}, +[](J& j, C& c) { return show_java_server(j.site, c); }},
        {{"POST", "servers/{server}/jobs/{job}/disable", op},
         +[](J& j, C& c) {
             return java_reply(switch_server(j.site.registry, c["job"], c["server"], switched::off, c.by()));
         }},
        {{"DELETE", "servers/{server}/jobs/{job}/disable", op},
         +[](J& j, C& c) {
             return java_reply(switch_server(j.site.registry, c["job"], c["server"], switched::on, c.by()));
         }},
        {{"POST", "servers/{server}/jobs/{job}/shutdown", op},
         +[](J& j, C& c) { return java_reply(shut_down_server(j.site.registry, c["job"], c["server"], c.by())); }},
        {{"DELETE", "servers/{server}/jobs/{job}", admin},
         +[](J& j, C& c) { return java_reply(remove_server(j.site.registry, c["job"], c["server"], c.by())); }},
        {{"GET", "registry-center/activated", viewer}, +[](J&, C&) { return json_reply("true"); }},
        {{"GET", "registry-center", viewer},
         +[](J& j, C&) {
             return show_java_choice(j.site.name, {{"namespace", j.site.name_space}});
         }},
        {{"POST", "registry-center/connect", viewer}, +[](J& j, C& c) { return connect_java(j.site.name, c); }},
        {{"POST", "registry-center", viewer}, +[](J&, C&) { return refuse_java_choice(); }},
        {{"DELETE", "registry-center", viewer}, +[](J&, C&) { return refuse_java_choice(); }},
        {{"GET", "data-source/activated", viewer}, +[](J& j, C&) { return json_reply(j.database ? "true" : "false"); }},
        {{"GET", "data-source", viewer}, +[](J& j, C&) { return show_java_choice(j.database_name()); }},
        {{"POST", "data-source/connect", viewer}, +[](J& j, C& c) { return connect_java(j.database_name(), c); }},
        {{"POST", "data-source/connectTest", viewer}, +[](J&, C&) { return refuse_java_choice(); }},
        {{"POST", "data-source", viewer}, +[](J&, C&) { return refuse_java_choice(); }},
        {{"DELETE", "data-source", viewer}, +[](J&, C&) { return refuse_java_choice(); }},
        {{"GET", "event-trace/execution", viewer},
         +[](J& j, C& c) { return show_java_executions(j.database, c, j.site.zone); }},
        {{"GET", "event-trace/status", viewer},
         +[](J& j, C& c) { return show_java_states(j.database, c, j.site.zone); }},
    };
    return all;
}

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/java_routes.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_JAVA_ROUTES_HPP
