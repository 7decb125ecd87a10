// SPDX-License-Identifier: Apache-2.0
/// \file \brief Parses task ids and lists of items, for readers of events.
#ifndef ELASTICJOB_CONFIG_TASK_ID_PARSER_HPP
#define ELASTICJOB_CONFIG_TASK_ID_PARSER_HPP

#include <elasticjob/config/task_id.hpp>
#include <elasticjob/config/text.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/identity.hpp>
#include <elasticjob/core/result.hpp>

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// The items of `0,1,2`, in the order of their first appearance; none for an empty text. Ignores commas at the end. O(n
/// log n).
///
/// Errors: malformed_data if the text contains anything but items and commas; even a blank is an error.
result<std::vector<item_index>> parse_item_list(std::string_view text);

/// A job and its items: the first two parts of a task id.
struct task_meta {
    std::string job{};
    std::vector<item_index> items{};

    /// Parses `<job>`, `<job>@-@<items>` or a whole task id.
    /// Errors: malformed_data.
    static result<task_meta> parse(std::string_view text);

    friend bool operator==(task_meta const&, task_meta const&) = default;
};

/// One run of some items of a job by one instance: `<job>@-@<items>@-@READY@-@<ip>@-@<token>`.
struct task_id {
    task_meta meta{};
    execution_type type = execution_type::ready;
    instance_id instance{};

    /// Errors: malformed_data if there are not exactly five parts, if the third is neither READY nor FAILOVER, or if
    /// another part is invalid.
    static result<task_id> parse(std::string_view text);

    friend bool operator==(task_id const&, task_id const&) = default;
};

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/config/task_id_parser.ipp>
#endif
#endif // ELASTICJOB_CONFIG_TASK_ID_PARSER_HPP
