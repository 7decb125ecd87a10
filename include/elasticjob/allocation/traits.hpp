// SPDX-License-Identifier: Apache-2.0
/// \file \brief Weights and labels of instances, and the labels that items need.
#ifndef ELASTICJOB_ALLOCATION_TRAITS_HPP
#define ELASTICJOB_ALLOCATION_TRAITS_HPP

#include <elasticjob/core/identity.hpp> // item_index

#include <cstdint>
#include <string_view>

namespace elasticjob {

/// The traits of an instance. Labels are words separated by blanks, in any order: `gpu zone=a`.
struct instance_traits {
    std::uint32_t weight = 1; ///< its share, compared with other instances; 0: no items
    std::string_view labels{};

    friend constexpr bool operator==(instance_traits const&, instance_traits const&) = default;
};

/// The items [begin, end) may go only to instances that have all these labels.
struct item_need {
    item_index begin;
    item_index end;
    std::string_view labels;

    friend constexpr bool operator==(item_need const&, item_need const&) = default;
};

namespace detail {

/// Removes the first word from the front of the text and returns it; empty if there is none left.
constexpr std::string_view take_label(std::string_view& text) noexcept {
    while (text.starts_with(' ')) text.remove_prefix(1);
    auto const word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size());
    return word;
}

} // namespace detail

/// Whether `labels` contains the label. O(length).
constexpr bool has_label(std::string_view labels, std::string_view label) noexcept {
    for (;;) {
        auto const word = detail::take_label(labels);
        if (word.empty()) return false;
        if (word == label) return true;
    }
}

/// Whether `labels` contains all needed labels. O(product of the lengths).
constexpr bool has_labels(std::string_view labels, std::string_view needed) noexcept {
    for (;;) {
        auto const word = detail::take_label(needed);
        if (word.empty()) return true;
        if (!has_label(labels, word)) return false;
    }
}

/// The value of the first label of the form `key=value`: in `gpu zone=a`, the value of `zone` is `a`. Empty if there is
/// none.
constexpr std::string_view label_value(std::string_view labels, std::string_view key) noexcept {
    for (;;) {
        auto const word = detail::take_label(labels);
        if (word.empty()) return {};
        if (word.size() > key.size() && word.starts_with(key) && word[key.size()] == '=')
            return word.substr(key.size() + 1);
    }
}

} // namespace elasticjob
#endif // ELASTICJOB_ALLOCATION_TRAITS_HPP
