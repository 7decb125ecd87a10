// SPDX-License-Identifier: Apache-2.0
/// \file \brief The rules of each field of a cron expression, and a reader of the characters, numbers and names in its
/// text.
#ifndef ELASTICJOB_CRON_SCANNER_HPP
#define ELASTICJOB_CRON_SCANNER_HPP

#include <elasticjob/cron/problem.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace elasticjob::detail {

/// The values of a field, its largest step, and the message for a value out of range.
struct cron_field_rule {
    std::uint32_t low;
    std::uint32_t high;
    std::uint32_t step_max;
    cron_problem out_of_range;
    cron_problem unknown_name;
    std::string_view names; ///< of three letters each, for `low`, `low + 1`, ...
};

inline constexpr std::uint32_t no_step_max = 1'000'000;

inline constexpr std::array<cron_field_rule, 7> cron_field_rules{{
    {0, 59, 59, cron_problem::seconds_must_be_0_to_59, {}, {}},
    {0, 59, 59, cron_problem::minutes_must_be_0_to_59, {}, {}},
    {0, 23, 23, cron_problem::hours_must_be_0_to_23, {}, {}},
    {1, 31, 31, cron_problem::day_of_month_must_be_1_to_31, {}, {}},
    {1, 12, 12, cron_problem::month_must_be_1_to_12_or_JAN_to_DEC, cron_problem::unknown_month_name,
     "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC"},
    {1, 7, 7, cron_problem::day_of_week_must_be_1_to_7_or_SUN_to_SAT, cron_problem::unknown_day_of_week_name,
     "SUNMONTUEWEDTHUFRISAT"},
    {1970, 2225, no_step_max, cron_problem::year_must_have_four_digits, {}, {}},
}};

/// The day of the week in an expression of five fields. Both 0 and 7 are Sunday; `check` accepts the 7.
inline constexpr cron_field_rule unix_day_of_week_rule{0,
                                                       6,
                                                       7,
                                                       cron_problem::day_of_week_of_five_fields_must_be_0_to_7,
                                                       cron_problem::unknown_day_of_week_name,
                                                       "SUNMONTUEWEDTHUFRISAT"};

/// A name that stands for a whole expression.
struct cron_name {
    std::string_view name;
    std::string_view expression;
};

inline constexpr std::array<cron_name, 7> cron_names{{{"@YEARLY", "0 0 0 1 1 ?"},
                                                      {"@ANNUALLY", "0 0 0 1 1 ?"},
                                                      {"@MONTHLY", "0 0 0 1 * ?"},
                                                      {"@WEEKLY", "0 0 0 ? * SUN"},
                                                      {"@DAILY", "0 0 0 * * ?"},
                                                      {"@MIDNIGHT", "0 0 0 * * ?"},
                                                      {"@HOURLY", "0 0 * * * ?"}}};

/// A number, or the number that a name stands for, and its position.
struct cron_token {
    std::uint32_t value{};
    bool named{};
    std::size_t at{};
    std::size_t length{};
};

/// A position in the text. Converts letters to upper case. Beyond the end it reads only NULs.
class cron_scanner {
public:
    constexpr explicit cron_scanner(std::string_view text) noexcept : text_{text} {}

    constexpr std::size_t at() const noexcept { return at_; }
    constexpr bool at_end() const noexcept { return at_ == text_.size(); }
    constexpr bool at_end_of_field() const noexcept { return at_end() || peek() == ' ' || peek() == '\t'; }

    constexpr char peek(std::size_t ahead = 0) const noexcept {
        if (ahead >= text_.size() - at_) return '\0';
        char const c = text_[at_ + ahead];
        return 'a' <= c && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    }

    constexpr void skip_blanks() noexcept {
        while (!at_end() && at_end_of_field()) ++at_;
    }

    /// Consumes the rest of the field if it is this text.
    constexpr bool accept_field(std::string_view upper) noexcept {
        auto const start = at_;
        for (char const c : upper)
            if (!accept(c)) break;
        if (at_ - start == upper.size() && at_end_of_field()) return true;
        at_ = start;
        return false;
    }

    constexpr std::size_t length_of_field() const noexcept {
        auto rest = *this;
        while (!rest.at_end_of_field()) ++rest.at_;
        return rest.at_ - at_;
    }

    /// The number of fields that follow.
    constexpr std::size_t count_fields() const noexcept {
        auto rest = *this;
        std::size_t count = 0;
        for (rest.skip_blanks(); !rest.at_end(); rest.skip_blanks(), ++count) rest.at_ += rest.length_of_field();
        return count;
    }

    constexpr bool accept(char c) noexcept {
        if (at_end() || peek() != c) return false;
        ++at_;
        return true;
    }

    /// Consumes all digits. A number that does not fit becomes a large value that no field accepts.
    constexpr bool read_number(cron_token& token) noexcept {
        token = {.at = at_};
        for (; is_digit(peek()); ++at_)
            if (token.value < 100'000) token.value = token.value * 10 + static_cast<std::uint32_t>(peek() - '0');
        token.length = at_ - token.at;
        return token.length > 0;
    }

    /// Consumes up to three letters. If they are not one of `names`, returns false; `token` has their position and
    /// length.
    constexpr bool read_name(std::string_view names, cron_token& token) noexcept {
        token = {.named = true, .at = at_};
        std::array<char, 3> name{};
        for (; token.length < name.size() && is_letter(peek()); ++at_) name[token.length++] = peek();
        for (std::size_t i = 0; i < names.size(); i += name.size())
            if (names.compare(i, name.size(), name.data(), name.size()) == 0) {
                token.value = static_cast<std::uint32_t>(i / name.size());
                return true;
            }
        return false;
    }

    static constexpr bool is_digit(char c) noexcept { return '0' <= c && c <= '9'; }
    static constexpr bool is_letter(char upper) noexcept { return 'A' <= upper && upper <= 'Z'; }
    static constexpr bool is_visible(char c) noexcept { return '!' <= c && c <= '~'; }

private:
    std::string_view text_;
    std::size_t at_ = 0;
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_CRON_SCANNER_HPP
