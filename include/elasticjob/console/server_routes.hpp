// SPDX-License-Identifier: Apache-2.0
/// \file \brief The routes for servers and instances.
#ifndef ELASTICJOB_CONSOLE_SERVER_ROUTES_HPP
#define ELASTICJOB_CONSOLE_SERVER_ROUTES_HPP

#include <elasticjob/console/rows.hpp>
#include <elasticjob/console/site.hpp>
#include <elasticjob/operations/pauses.hpp>
#include <elasticjob/operations/server_overview.hpp>
#include <elasticjob/operations/shut_down.hpp>
#include <elasticjob/operations/switches.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob::detail {

/// The rows after the cursor. The cursor is `key(row)` of the last row of the previous page.
template <class Row, class Key>
console_reply page_by(std::vector<Row> rows, console_call const& c, Key key) {
    auto const limit = c.limit();
    if (!limit) return problem(limit.error());
    auto const total = rows.size();
    if (auto const after = c.request.parameter("after"); !after.empty())
        std::erase_if(rows, [&](Row const& row) { return std::string_view{key(row)} <= after; });
    std::string next;
    if (rows.size() > *limit) {
        rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(*limit), rows.end());
        next = key(rows.back());
    }
    return json_reply(begin_list(rows, next, total).finish());
}

template <loop Loop>
console_reply show_instances(console_site<Loop>& s, console_call const& c) {
    auto found = list_instances(s.registry, c["job"]);
    if (!found) return problem(found.error());
    return page_by(*std::move(found), c, [](auto const& i) -> std::string const& { return i.id; });
}

/// All servers, without the jobs that the operator may not see. Then their instances and host names, which may come
/// from any job, are left out too.
template <loop Loop>
result<std::vector<server_overview>> visible_servers(console_site<Loop>& s, console_call const& c) {
    ELASTICJOB_TRY(auto found, list_servers(s.registry));
    if (c.may_see_all()) return found;
    auto const is_hidden = [&](std::string const& job) { return !c.may_see(job); };
    for (auto& one : found) {
        for (auto* jobs : {&one.jobs, &one.disabled_jobs, &one.paused_jobs, &one.idle_jobs})
            std::erase_if(*jobs, is_hidden);
        one.instances.clear();
        one.host.clear();
    }
    std::erase_if(found, [](server_overview const& one) { return one.jobs.empty(); });
    return found;
}

template <loop Loop>
console_reply show_servers(console_site<Loop>& s, console_call const& c) {
    auto found = visible_servers(s, c);
    if (!found) return problem(found.error());
    return page_by(*std::move(found), c, [](server_overview const& o) -> std::string const& { return o.server; });
}

template <loop Loop>
console_reply show_server(console_site<Loop>& s, console_call const& c) {
    auto found = describe_server(s.registry, c["server"]);
    if (!found) return problem(found.error());
    std::erase_if(*found, [&](server_in_job const& one) { return !c.may_see(one.job); });
    if (found->empty()) // the same answer as for a server that does not exist
        return problem({errc::no_node, "no job has a server of that name", std::string{c["server"]}});
    return page_by(*std::move(found), c, [](auto const& o) -> std::string const& { return o.job; });
}

template <loop Loop>
std::vector<site_route<Loop>> server_routes() {
    using S = console_site<Loop>;
    using C = console_call const;
    constexpr auto viewer = console_role::viewer, op = console_role::operator_, admin = console_role::administrator;
    return {
        {{"GET", "jobs/{job}/instances", viewer}, &show_instances<Loop>},
        {{"POST", "jobs/{job}/instances/{instance}/shut-down", op},
         +[](S& s, C& c) { return reply_for(shut_down_instance(s.registry, c["job"], c["instance"], c.by())); }},
        {{"POST", "jobs/{job}/servers/{server}/disable", op},
         +[](S& s, C& c) {
             return reply_for(switch_server(s.registry, c["job"], c["server"], switched::off, c.by()));
         }},
        {{"POST", "jobs/{job}/servers/{server}/enable", op},
         +[](S& s, C& c) { return reply_for(switch_server(s.registry, c["job"], c["server"], switched::on, c.by())); }},
        {{"POST", "jobs/{job}/servers/{server}/pause", op},
         +[](S& s, C& c) { return reply_for(pause_server(s.registry, c["job"], c["server"], c.by())); }},
        {{"POST", "jobs/{job}/servers/{server}/resume", op},
         +[](S& s, C& c) { return reply_for(resume_server(s.registry, c["job"], c["server"], c.by())); }},
        {{"POST", "jobs/{job}/servers/{server}/shut-down", op},
         +[](S& s, C& c) { return reply_for(shut_down_server(s.registry, c["job"], c["server"], c.by())); }},
        {{"POST", "jobs/{job}/servers/{server}/remove", admin},
         +[](S& s, C& c) { return reply_for(remove_server(s.registry, c["job"], c["server"], c.by())); }},
        {{"GET", "servers", viewer}, &show_servers<Loop>},
        {{"GET", "servers/{server}", viewer}, &show_server<Loop>},
        {{"POST", "servers/{server}/disable", op},
         +[](S& s, C& c) {
             return reply_for(switch_server_everywhere(s.registry, c["server"], switched::off, c.by()));
         }},
        {{"POST", "servers/{server}/enable", op},
         +[](S& s, C& c) {
             return reply_for(switch_server_everywhere(s.registry, c["server"], switched::on, c.by()));
         }},
        {{"POST", "servers/{server}/pause", op},
         +[](S& s, C& c) { return reply_for(pause_server_everywhere(s.registry, c["server"], c.by())); }},
        {{"POST", "servers/{server}/resume", op},
         +[](S& s, C& c) { return reply_for(resume_server_everywhere(s.registry, c["server"], c.by())); }},
        {{"POST", "servers/{server}/shut-down", op},
         +[](S& s, C& c) { return reply_for(shut_down_server_everywhere(s.registry, c["server"], c.by())); }},
        {{"POST", "servers/{server}/remove", admin},
         +[](S& s, C& c) { return reply_for(remove_server_everywhere(s.registry, c["server"], c.by())); }},
    };
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_CONSOLE_SERVER_ROUTES_HPP
