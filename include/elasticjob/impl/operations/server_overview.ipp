// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_OPERATIONS_SERVER_OVERVIEW_IPP
#define ELASTICJOB_IMPL_OPERATIONS_SERVER_OVERVIEW_IPP

#include <elasticjob/operations/server_overview.hpp>

#include <elasticjob/core/host_name.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL std::map<std::string, std::uint32_t> count_items(assignment const& a) {
    std::map<std::string, std::uint32_t> counts;
    item_index begin = 0;
    for (auto const& r : a.runs_among(a.instances())) {
        if (r.owner != no_slot) counts[a.instances()[r.owner].str()] += r.end - begin;
        begin = r.end;
    }
    return counts;
}

ELASTICJOB_DECL result<void> check_server(std::string_view name) {
    if (auto const* fault = node_path::element_fault(name))
        return error{errc::invalid_argument, fault, std::string{name}};
    if (name.find('/') == name.npos) return success();
    return error{errc::invalid_argument, "a server's name has no '/'", std::string{name}};
}

ELASTICJOB_DECL std::string stored_host(std::optional<node> const& n) {
    return n && is_host_name(n->data) ? n->data : std::string{};
}

ELASTICJOB_DECL std::vector<std::string> instances_on(std::string_view server,
                                                      std::vector<std::string> const& instances) {
    std::vector<std::string> here;
    for (auto const& name : instances)
        if (auto const id = instance_id::parse(name); id && id->server() == server) here.push_back(name);
    return here;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_OPERATIONS_SERVER_OVERVIEW_IPP
