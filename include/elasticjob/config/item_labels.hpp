// SPDX-License-Identifier: Apache-2.0
/// \file \brief Which labels the items of a job need: `0-9=gpu,12=ssd zone=a,*=linux`.
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

/// The needs of a job's items, which LabelAllocation goes by. Made by `parse_item_labels`.
struct item_labels {
    struct rule {
        item_index begin; ///< the items [begin, end)
        item_index end;
        std::string labels; ///< words with blanks between them, all of which are needed

        friend bool operator==(rule const&, rule const&) = default;
    };
    std::vector<rule> rules; ///< in the order of the items, none of which is in two
    std::string rest{};      ///< what items need that are in no rule

    /// The most rules, and the most bytes that the labels of one have.
    static constexpr std::size_t rules_max = 10'000;
    static constexpr std::size_t labels_bytes_max = 1'000;

    bool empty() const noexcept { return rules.empty() && rest.empty(); }

    /// What each of so many items needs, `rest` included. O(rules).
    std::vector<rule> needs_of(std::uint32_t count) const;

    friend bool operator==(item_labels const&, item_labels const&) = default;
};

/// Whether these are words that can be labels: UTF-8, and neither commas nor control characters, tabs included.
bool is_label_text(std::string_view text) noexcept;

/// Reads `0-9=gpu,12=ssd zone=a,*=linux`: an item, items from and to, or all that are not mentioned; then, behind the
/// first `=`, what they need. Blanks around do not count. Items beyond the job's count are no mistake.
///
/// Errors: invalid_config, if a piece is not of that form, an item is in two of them, `*` comes twice, or there is
/// more of it than `item_labels` may have.
result<item_labels> parse_item_labels(std::string_view text);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/config/item_labels.ipp>
#endif
#endif // ELASTICJOB_CONFIG_ITEM_LABELS_HPP
