// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_OPERATIONS_SWITCHES_IPP
#define ELASTICJOB_IMPL_OPERATIONS_SWITCHES_IPP

#include <elasticjob/operations/switches.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL command_title title_of(switched to, std::string subject) {
    return {to == switched::on ? "enable" : "disable", std::move(subject)};
}

ELASTICJOB_DECL command_plan put_servers(transaction& t, std::vector<node_path> const& paths,
                                         std::vector<std::optional<node>> const& nodes, switched to) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < paths.size(); ++i) {
        bool const is_off = nodes[i] && nodes[i]->data == server_disabled;
        if (!nodes[i] || is_off == (to == switched::off)) continue;
        t.set(paths[i], std::string{to == switched::off ? server_disabled : ""}, nodes[i]->stat.version);
        ++count;
    }
    std::string const state{to == switched::off ? "disabled" : "enabled"};
    if (count == 0) return {"it was " + state + " already", false};
    return {std::to_string(count) + (count == 1 ? " server is " : " servers are ") + state};
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_OPERATIONS_SWITCHES_IPP
