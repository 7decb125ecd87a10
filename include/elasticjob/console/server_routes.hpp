// SPDX-License-Identifier: Apache-2.0
/// \file \brief Servers and instances.
#ifndef ELASTICJOB_CONSOLE_SERVER_ROUTES_HPP
#define ELASTICJOB_CONSOLE_SERVER_ROUTES_HPP

#include <elasticjob/console/rows.hpp>
#include <elasticjob/console/site.hpp>
#include <elasticjob/operations/pauses.hpp>
#include <elasticjob/operations/server_overview.hpp>
#include <elasticjob/operations/shut_down.hpp>
#include <elasticjob/operations/switches.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob::detail {

/// The rows behind the cursor, which is the text that `key(row)` gives for the last row of the page before.
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

template <registry Registry>
console_reply show_instances(console_site<Registry>& s, console_call const& c) {
    auto found = list_instances(s.registry, c["job"]);
    return found ? page_by(*std::move(found), c, [](instance_overview const& i) -> std::string const& { return i.id; })
                 : problem(found.error());
}

/// Of servers in jobs that the operator may not see, nothing is said.
template <registry Registry>
console_reply show_servers(console_site<Registry>& s, console_call const& c) {
    auto found = list_servers(s.registry);
    if (!found) return problem(found.error());
    auto const is_hidden = [&](std::string const& job) { return !c.may_see(job); };
    if (!c.may_see_all()) {
        for (auto& one : *found) {
            for (auto* jobs : {&one.jobs, &one.disabled_jobs, &one.idle_jobs}) std::erase_if(*jobs, is_hidden);
            one.instances.clear();
        }
        std::erase_if(*found, [](server_overview const& one) { return one.jobs.empty(); });
    }
    return page_by(*std::move(found), c, [](server_overview const& o) -> std::string const& { return o.server; });
}

template <registry Registry>
console_reply show_server(console_site<Registry>& s, console_call const& c) {
    auto found = describe_server(s.registry, c["server"]);
    if (!found) return problem(found.error());
    std::erase_if(*found, [&](server_in_job const& one) { return !c.may_see(one.job); });
    return page_by(*std::move(found), c, [](server_in_job const& o) -> std::string const& { return o.job; });
}

template <registry Registry>
std::vector<site_route<Registry>> server_routes() {
    using S = console_site<Registry>;
    using C = console_call const;
    constexpr auto viewer = console_role::viewer, op = console_role::operator_, admin = console_role::administrator;
    return {
        {{"GET", "jobs/{job}/instances", viewer}, &show_instances<Registry>},
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
        {{"GET", "servers", viewer}, &show_servers<Registry>},
        {{"GET", "servers/{server}", viewer}, &show_server<Registry>},
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
