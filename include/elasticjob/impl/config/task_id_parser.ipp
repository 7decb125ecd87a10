// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONFIG_TASK_ID_PARSER_IPP
#define ELASTICJOB_IMPL_CONFIG_TASK_ID_PARSER_IPP

#include <elasticjob/config/task_id_parser.hpp>
#include <elasticjob/core/line_text.hpp>

namespace elasticjob {

ELASTICJOB_DECL result<std::vector<item_index>> parse_item_list(std::string_view text) {
    std::vector<item_index> items;
    if (text.empty()) return items;
    std::set<item_index> seen;
    for (auto const piece : detail::split(text, ",")) {
        auto const item = detail::parse_number<item_index>(piece);
        if (!item)
            return error{errc::malformed_data, detail::in_quotes(piece) + " is not the number of an item",
                         std::string{text}};
        if (seen.insert(*item).second) items.push_back(*item);
    }
    return items;
}

ELASTICJOB_DECL result<task_meta> task_meta::parse(std::string_view text) {
    auto const parts = detail::split(text, identity_delimiter);
    if (parts.size() != 1 && parts.size() != 2 && parts.size() != 5)
        return error{errc::malformed_data, "a task must look like <job>@-@<items>", std::string{text}};
    ELASTICJOB_TRY(auto items, parse_item_list(parts.size() > 1 ? parts[1] : std::string_view{}));
    return task_meta{std::string{parts[0]}, std::move(items)};
}

ELASTICJOB_DECL result<task_id> task_id::parse(std::string_view text) {
    auto refuse = [&](char const* why) { return error{errc::malformed_data, why, std::string{text}}; };
    auto const parts = detail::split(text, identity_delimiter);
    if (parts.size() != 5) return refuse("a task id must look like <job>@-@<items>@-@READY@-@<ip>@-@<token>");
    task_id id;
    if (parts[2] == name_of(execution_type::failover))
        id.type = execution_type::failover;
    else if (parts[2] != name_of(execution_type::ready))
        return refuse("a task must be READY or FAILOVER");
    ELASTICJOB_TRY(id.meta, task_meta::parse(text));
    auto const instance_begin = static_cast<std::size_t>(parts[3].data() - text.data());
    ELASTICJOB_TRY(id.instance, instance_id::parse(text.substr(instance_begin)));
    return id;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_CONFIG_TASK_ID_PARSER_IPP
