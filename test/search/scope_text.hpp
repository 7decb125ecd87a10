// SPDX-License-Identifier: Apache-2.0
/// \file \brief Reads the scope of a search from a text such as `items=2 dues=1`, and chooses the scopes of a run.
#ifndef ELASTICJOB_TEST_SEARCH_SCOPE_TEXT_HPP
#define ELASTICJOB_TEST_SEARCH_SCOPE_TEXT_HPP

#include <support/full_run.hpp>

#include <charconv>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace elasticjob::test {

/// A number of a scope, or a property (`split=1`).
class scope_field {
public:
    scope_field(std::string_view name, int& number, int least = 0, int most = 9)
        : name_{name},
          number_{&number},
          least_{least},
          most_{most} {}
    scope_field(std::string_view name, bool& property) : name_{name}, property_{&property} {}

    std::string_view name() const { return name_; }
    bool set(int n) const {
        if (n < least_ || n > most_) return false;
        if (number_) *number_ = n;
        if (property_) *property_ = n != 0;
        return true;
    }

private:
    std::string_view name_;
    int* number_ = nullptr;
    bool* property_ = nullptr;
    int least_ = 0, most_ = 9;
};

/// Reads `name=number` in any order. Unnamed fields keep their values. Returns the words that it cannot read.
inline std::string read_scope(std::string_view text, std::initializer_list<scope_field> fields) {
    std::string unread;
    while (!text.empty()) {
        auto const word = text.substr(0, text.find(' '));
        text.remove_prefix(word.size() < text.size() ? word.size() + 1 : word.size());
        auto const equals = word.find('=');
        bool is_read = word.empty();
        int n = 0;
        auto const* const last = word.data() + word.size();
        bool const is_number = equals != word.npos &&
                               std::from_chars(word.data() + equals + 1, last, n) == std::from_chars_result{last, {}};
        for (auto const& f : fields) is_read = is_read || (is_number && f.name() == word.substr(0, equals) && f.set(n));
        if (!is_read) unread += " " + std::string{word};
    }
    return unread;
}

/// Begins the text of a scope of the lease. All other scopes are those of a whole job.
inline constexpr std::string_view lease_word = "lease ";

/// Whether this run searches scopes that take seconds.
inline bool searches_large_scopes() { return amount_for_this_run({.full = 1, .usual = 0, .sanitized = 0}) != 0; }

/// The environment variable ELASTICJOB_SEARCH.
inline std::optional<std::string_view> scope_by_hand() {
    char const* const text = std::getenv("ELASTICJOB_SEARCH");
    return text ? std::optional<std::string_view>{text} : std::nullopt;
}

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SEARCH_SCOPE_TEXT_HPP
