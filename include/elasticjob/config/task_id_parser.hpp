// SPDX-License-Identifier: Apache-2.0
/// \file \brief Task ids and lists of items, read back from their text by whoever looks at events.
#ifndef ELASTICJOB_CONFIG_TASK_ID_PARSER_HPP
#define ELASTICJOB_CONFIG_TASK_ID_PARSER_HPP

#include <elasticjob/config/task_id.hpp>
#include <elasticjob/config/text.hpp>
#include <elasticjob/core/identity.hpp>
#include <elasticjob/core/result.hpp>

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// The items of `0,1,2` in the order of their first appearance; none for an empty text. Commas at the end do not count.
/// O(n log n).
///
/// Errors: malformed_data, if there is anything else than items and commas, and be it a blank.
inline result<std::vector<item_index>> parse_item_list(std::string_view text) {
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

/// Which items of which job: the first two parts of a task id.
struct task_meta {
    std::string job{};
    std::vector<item_index> items{};

    /// Reads `<job>`, `<job>@-@<items>` or a whole task id.
    /// Errors: malformed_data.
    static result<task_meta> parse(std::string_view text) {
        auto const parts = detail::split(text, identity_delimiter);
        if (parts.size() != 1 && parts.size() != 2 && parts.size() != 5)
            return error{errc::malformed_data, "a task must look like <job>@-@<items>", std::string{text}};
        ELASTICJOB_TRY(auto items, parse_item_list(parts.size() > 1 ? parts[1] : std::string_view{}));
        return task_meta{std::string{parts[0]}, std::move(items)};
    }

    friend bool operator==(task_meta const&, task_meta const&) = default;
};

/// One run of some items of a job by one instance: `<job>@-@<items>@-@READY@-@<ip>@-@<token>`.
struct task_id {
    task_meta meta{};
    execution_type type = execution_type::ready;
    instance_id instance{};

    /// Errors: malformed_data, if there are not exactly five parts, the third is neither READY nor FAILOVER, or another
    /// is not what it should be.
    static result<task_id> parse(std::string_view text) {
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

    friend bool operator==(task_id const&, task_id const&) = default;
};

} // namespace elasticjob
#endif // ELASTICJOB_CONFIG_TASK_ID_PARSER_HPP
