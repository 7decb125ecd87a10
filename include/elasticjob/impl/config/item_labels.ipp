// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONFIG_ITEM_LABELS_IPP
#define ELASTICJOB_IMPL_CONFIG_ITEM_LABELS_IPP

#include <elasticjob/config/item_labels.hpp>
#include <elasticjob/core/line_text.hpp>

namespace elasticjob {

ELASTICJOB_DECL auto item_labels::needs_of(std::uint32_t count) const -> std::vector<rule> {
    std::vector<rule> needs;
    item_index begin = 0;
    auto const add = [&](item_index end, std::string const& labels) {
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

ELASTICJOB_DECL bool is_label_text(std::string_view text) noexcept {
    while (!text.empty()) {
        auto const length = detail::utf8_length(text);
        auto const byte = static_cast<unsigned char>(text.front());
        if (length == 0 || byte < ' ' || byte == 0x7f || byte == ',') return false;
        text.remove_prefix(length);
    }
    return true;
}

ELASTICJOB_DECL result<item_labels> parse_item_labels(std::string_view text) {
    auto refuse = [](std::string why) { return error{errc::invalid_config, std::move(why), "itemLabels"}; };
    item_labels parsed;
    if (detail::trim(text).empty()) return parsed;
    if (auto const commas = std::count(text.begin(), text.end(), ','); commas > std::ptrdiff_t{item_labels::rules_max})
        return refuse("must have at most " + std::to_string(item_labels::rules_max) + " rules, but has " +
                      std::to_string(commas + 1));
    bool has_rest = false;
    for (auto const piece : detail::split(text, ",")) {
        auto const equals = piece.find('=');
        auto const malformed = [&] {
            return refuse("must be like 0-9=gpu,12=ssd zone=a,*=linux, but has " + detail::in_quotes(piece));
        };
        if (equals == piece.npos) return malformed();
        auto const key = detail::trim(piece.substr(0, equals));
        auto const labels = detail::trim(piece.substr(equals + 1));
        if (labels.size() > item_labels::labels_bytes_max)
            return refuse("must need at most " + std::to_string(item_labels::labels_bytes_max) +
                          " bytes of labels for an item, but has " + detail::in_quotes(piece));
        if (!is_label_text(labels)) return malformed();
        if (key == "*") {
            if (std::exchange(has_rest, true)) return refuse("must not name the labels of * twice");
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
            return refuse("must not name the labels of item " + std::to_string(parsed.rules[i].begin) + " twice");
    return parsed;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_CONFIG_ITEM_LABELS_IPP
