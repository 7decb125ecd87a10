// SPDX-License-Identifier: Apache-2.0
/// \file \brief Which labels the items of a job need: `0-9=gpu,12=ssd zone=a,*=linux`.
#ifndef ELASTICJOB_CONFIG_ITEM_LABELS_HPP
#define ELASTICJOB_CONFIG_ITEM_LABELS_HPP

#include <elasticjob/config/text.hpp>
#include <elasticjob/core/algorithm.hpp> // sort, min
#include <elasticjob/core/deferred.hpp>
#include <elasticjob/core/identity.hpp> // item_index
#include <elasticjob/core/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// The needs of a job's items, which LabelAllocation goes by. Made by `parse_item_labels`.
template <class Text = std::string>
struct basic_item_labels {
    struct rule {
        item_index begin; ///< the items [begin, end)
        item_index end;
        Text labels; ///< words with blanks between them, all of which are needed

        friend bool operator==(rule const&, rule const&) = default;
    };
    std::vector<rule> rules; ///< in the order of the items, none of which is in two
    Text rest{};             ///< what items need that are in no rule

    bool empty() const noexcept { return rules.empty() && rest.empty(); }

    /// What each of so many items needs, `rest` included. O(rules).
    std::vector<rule> needs_of(std::uint32_t count) const {
        std::vector<rule> needs;
        item_index begin = 0;
        auto const add = [&](item_index end, Text const& labels) {
            end = std::min(end, count);
            if (begin < end && !labels.empty()) needs.push_back({begin, end, labels});
            begin = std::max(begin, end);
        };
        for (auto const& r : rules) {
            add(r.begin, rest);
            add(r.end, r.labels);
        }
        add(count, rest);
        return needs;
    }

    friend bool operator==(basic_item_labels const&, basic_item_labels const&) = default;
};

/// A template only so that including it costs nothing: see docs/decisions/0006.
using item_labels = basic_item_labels<>;

/// Whether these are words that can be labels: UTF-8, and neither commas nor control characters, tabs included.
template <class = void>
bool is_label_text(std::string_view text) noexcept {
    while (!text.empty()) {
        auto const length = detail::utf8_length(text);
        auto const byte = static_cast<unsigned char>(text.front());
        if (length == 0 || byte < ' ' || byte == 0x7f || byte == ',') return false;
        text.remove_prefix(length);
    }
    return true;
}

/// Reads `0-9=gpu,12=ssd zone=a,*=linux`: an item, items from and to, or all that are not mentioned; then, behind the
/// first `=`, what they need. Blanks around do not count. Items beyond the job's count are no mistake.
///
/// Errors: invalid_config, if a piece is not of that form, an item is in two of them, or `*` comes twice.
template <class Labels = item_labels>
result<Labels> parse_item_labels(std::string_view text) {
    auto refuse = [](std::string why) { return error{errc::invalid_config, std::move(why), "itemLabels"}; };
    Labels parsed;
    if (detail::trim(text).empty()) return parsed;
    using view = deferred<std::string_view, Labels>;
    bool has_rest = false;
    for (auto const piece : detail::split<view>(text, ",")) {
        auto const equals = piece.find('=');
        auto const malformed = [&] {
            return refuse("must be like 0-9=gpu,12=ssd zone=a,*=linux, but has " + detail::in_quotes(piece));
        };
        if (equals == piece.npos) return malformed();
        auto const key = detail::trim(piece.substr(0, equals));
        auto const labels = detail::trim(piece.substr(equals + 1));
        if (!is_label_text(labels)) return malformed();
        if (key == "*") {
            if (std::exchange(has_rest, true)) return refuse("must not say twice what * needs");
            parsed.rest = labels;
            continue;
        }
        auto const dash = key.find('-');
        item_index first = 0, last = 0;
        bool good = detail::read_number(detail::trim(key.substr(0, dash)), first);
        last = first;
        if (dash != key.npos) good = good && detail::read_number(detail::trim(key.substr(dash + 1)), last);
        if (!good || last < first || last + 1 == 0) return malformed();
        parsed.rules.push_back({first, last + 1, std::string{labels}});
    }
    std::sort(parsed.rules.begin(), parsed.rules.end(), [](auto const& a, auto const& b) { return a.begin < b.begin; });
    for (std::size_t i = 1; i < parsed.rules.size(); ++i)
        if (parsed.rules[i].begin < parsed.rules[i - 1].end)
            return refuse("must not say twice what item " + std::to_string(parsed.rules[i].begin) + " needs");
    return parsed;
}

} // namespace elasticjob
#endif // ELASTICJOB_CONFIG_ITEM_LABELS_HPP
