// SPDX-License-Identifier: Apache-2.0
/// \file \brief The labels that the items of a job need: `0-9=gpu,12=ssd zone=a,*=linux`.
#ifndef ELASTICJOB_CONFIG_ITEM_LABELS_HPP
#define ELASTICJOB_CONFIG_ITEM_LABELS_HPP

#include <elasticjob/config/text.hpp>
#include <elasticjob/core/algorithm.hpp> // sort, min
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/identity.hpp> // item_index
#include <elasticjob/core/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// The labels that the items of a job need, for LabelAllocation. Made by `parse_item_labels`.
struct item_labels {
    struct rule {
        item_index begin; ///< the items [begin, end)
        item_index end;
        std::string labels; ///< words separated by blanks; all of them are needed

        friend bool operator==(rule const&, rule const&) = default;
    };
    std::vector<rule> rules; ///< in the order of the items; each item is in one rule at most
    std::string rest{};      ///< the labels that all other items need

    /// The maximum number of rules, and of bytes of the labels of one rule.
    static constexpr std::size_t rules_max = 10'000;
    static constexpr std::size_t labels_bytes_max = 1'000;

    bool empty() const noexcept { return rules.empty() && rest.empty(); }

    /// The labels that each of `count` items needs, `rest` included. O(rules).
    std::vector<rule> needs_of(std::uint32_t count) const;

    friend bool operator==(item_labels const&, item_labels const&) = default;
};

/// Whether the words can be labels: UTF-8 without commas, tabs or other control characters.
bool is_label_text(std::string_view text) noexcept;

/// Parses `0-9=gpu,12=ssd zone=a,*=linux`. Each rule names an item, a range of items, or `*` for all others. After its
/// first `=` it lists the labels that they need. Blanks around both are ignored. Items beyond the job's item count are
/// accepted.
///
/// Errors: invalid_config if a rule does not have that form, an item is in two rules, `*` occurs twice, or a limit of
/// `item_labels` is exceeded.
result<item_labels> parse_item_labels(std::string_view text);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/config/item_labels.ipp>
#endif
#endif // ELASTICJOB_CONFIG_ITEM_LABELS_HPP
