// SPDX-License-Identifier: Apache-2.0
/// \file \brief Parses the text of a cron expression into its sets of bits, at compile time or at run time.
#ifndef ELASTICJOB_CRON_PARSER_HPP
#define ELASTICJOB_CRON_PARSER_HPP

#include <elasticjob/cron/fields.hpp>
#include <elasticjob/cron/problem.hpp>
#include <elasticjob/cron/scanner.hpp>
#include <elasticjob/cron/search.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility> // pair

namespace elasticjob::detail {

/// The values that the text matches, or the fault in it.
struct parsed_cron {
    cron_fields fields{};
    cron_fault fault{};
};

/// A recursive-descent parser for one text. Each step consumes its part of the text, or stores the fault and returns
/// false.
///
///     expression = field 5*( blanks field ) [ blanks field ] / field 4( blanks field ) / "@" name
///     field      = "?" / element *( "," element )
///     element    = ( "*" / value [ "-" value ] / nothing ) [ "/" number ]      nothing: only before a step
///                / "L" [ "-" number ] [ "W" ] / number "W"                     in the day of the month
///                / "L" / value "L" / value "#" number                          in the day of the week
///     value      = number / name                                               a name of this field, in any case
///
///
/// Five fields follow Unix: no seconds and no year, days of the week from 0, `*` instead of Quartz's `?`, and none of
/// `?`, `L`, `W` and `#`. Time: linear in the text, plus a search for the first due time, which proves that there is
/// one.
class cron_parser {
public:
    constexpr explicit cron_parser(std::string_view text) noexcept : in_{text} {}

    constexpr parsed_cron parse() noexcept {
        parsed_cron parsed;
        if (read_fields() && prove_that_it_fires())
            parsed.fields = fields_;
        else
            parsed.fault = fault_;
        return parsed;
    }

private:
    constexpr bool read_fields() noexcept {
        in_.skip_blanks();
        if (in_.peek() == '@' && !read_name_of_schedule()) return false;
        is_unix_ = in_.count_fields() == 5;
        for (std::size_t i = 0; i < cron_field_rules.size(); ++i) {
            in_.skip_blanks();
            field_ = static_cast<cron_field>(i);
            field_at_[i] = in_.at();
            if (is_unix_ && is(cron_field::seconds)) {
                fields_.seconds = 1;
            } else if (!in_.at_end()) {
                if (!read_field()) return false;
            } else if (field_ == cron_field::year) {
                fields_.years.fill(~std::uint64_t{0});
            } else {
                return refuse_at(in_.at(), cron_problem::fewer_than_five_fields);
            }
        }
        in_.skip_blanks();
        if (!in_.at_end()) return refuse_here(cron_problem::more_than_seven_fields);
        fields_.normalise();
        return true;
    }

    /// Continues with the expression that the name stands for.
    constexpr bool read_name_of_schedule() noexcept {
        auto const at = in_.at();
        for (auto const& [name, expression] : cron_names) {
            if (!in_.accept_field(name)) continue;
            in_.skip_blanks();
            if (!in_.at_end()) return refuse_here(cron_problem::unexpected_character);
            in_ = cron_scanner{expression};
            return true;
        }
        std::size_t length = 0; // of the part that fits into a line of a log
        while (length < 20 && cron_scanner::is_visible(in_.peek(length))) ++length;
        return refuse({.at = at, .length = length}, cron_problem::unknown_name);
    }

    constexpr bool prove_that_it_fires() noexcept {
        if (first_match(fields_, 0) != no_match) return true;
        using enum cron_problem;
        bool const has_no_year = fields_.years == decltype(fields_.years){};
        auto const days = any_day_of_month_ ? cron_field::day_of_week : cron_field::day_of_month;
        field_ = has_no_year ? cron_field::year : days;
        return refuse_at(field_at_[index_of(field_)],
                         has_no_year ? years_outside_1970_to_2225 : no_such_date_in_these_months_and_years);
    }

    constexpr bool read_field() noexcept {
        auto const at = in_.at();
        if (is_unix_ && (is(cron_field::day_of_month) || is(cron_field::day_of_week)) && in_.accept_field("*")) {
            if (is(cron_field::day_of_month))
                any_day_of_month_ = true;
            else if (any_day_of_month_)
                fields_.days = all_days;
            return true;
        }
        if (!is_unix_ && in_.accept('?')) return read_question_mark(at);
        has_plain_days_ = false;
        first_last_at_ = nowhere;
        do {
            if (!read_element()) return false;
        } while (in_.accept(','));
        if (!in_.at_end_of_field()) return refuse_here(problem_here());
        if (has_plain_days_ && first_last_at_ != nowhere)
            return refuse_at(first_last_at_, is(cron_field::day_of_month) ? cron_problem::L_with_other_days_of_month
                                                                          : cron_problem::L_with_other_days_of_week);
        if (is(cron_field::day_of_week) && !any_day_of_month_)
            return refuse_at(at, is_unix_ ? cron_problem::day_of_month_and_day_of_week_of_five_fields_both_given
                                          : cron_problem::day_of_month_and_day_of_week_both_given);
        return true;
    }

    constexpr bool read_question_mark(std::size_t at) noexcept {
        if (!in_.at_end_of_field()) return refuse_here(cron_problem::question_mark_must_stand_alone);
        if (is(cron_field::day_of_month)) return any_day_of_month_ = true;
        if (!is(cron_field::day_of_week)) return refuse_at(at, cron_problem::question_mark_outside_the_day_fields);
        return !any_day_of_month_ || refuse_at(at, cron_problem::question_mark_in_both_day_fields);
    }

    constexpr bool read_element() noexcept {
        if (in_.at_end_of_field() || in_.peek() == ',') return refuse_here(cron_problem::empty_list_element);
        if (!is_unix_ && in_.peek() == 'L') {
            if (is(cron_field::day_of_month)) return read_last_day();
            if (is(cron_field::day_of_week) && !cron_scanner::is_letter(in_.peek(1))) return read_plain_last_weekday();
        }
        if (in_.accept('*') || in_.peek() == '/') return read_step({rule().low}, {rule().high}, rule().step_max);

        cron_token first;
        if (!read_value(first)) return false;
        if (!is_unix_ && is(cron_field::day_of_month) && in_.accept('W')) return add_nearest_weekday(first);
        if (!check(first)) return false;
        if (!is_unix_ && is(cron_field::day_of_week) && in_.peek() == 'L') return read_last_weekday(first);
        if (!is_unix_ && is(cron_field::day_of_week) && in_.accept('#')) return read_occurrence(first);
        if (in_.accept('-')) return read_range(first);
        // Quartz 2.2 limits no step after a value, and Java members may have `0 0/60 * * * ?`.
        auto const step_max = is_unix_ ? rule().step_max : no_step_max;
        return read_step(first, in_.peek() == '/' ? cron_token{rule().high} : first, step_max);
    }

    /// As in Quartz, a step may be larger than its range; then only the first value matches.
    constexpr bool read_range(cron_token const& first) noexcept {
        cron_token last;
        if (!read_value(last) || !check(last)) return false;
        if (first.named != last.named && !is_unix_) return refuse(last, cron_problem::range_of_a_number_and_a_name);
        if (is(cron_field::year) && last.value < first.value)
            return refuse(last, cron_problem::years_must_not_run_backwards);
        return read_step(first, last, no_step_max);
    }

    /// The step after `first` to `last`, or none.
    constexpr bool read_step(cron_token const& first, cron_token const& last, std::uint32_t step_max) noexcept {
        cron_token step{1};
        if (in_.peek() == '/' && (first.named || last.named) && !is_unix_)
            return refuse_here(cron_problem::step_after_a_name_is_ignored_by_quartz);
        if (in_.accept('/')) {
            if (!in_.read_number(step)) return refuse_here(cron_problem::step_must_be_a_number);
            if (step.value == 0) return refuse(step, cron_problem::step_must_not_be_zero);
            if (step.value > step_max) return refuse(step, cron_problem::step_is_larger_than_the_field);
        }
        has_plain_days_ = true;
        add_range(first.value, last.value, step.value);
        return true;
    }

    /// `L`, `L-3`, `LW`, `L-3W`.
    constexpr bool read_last_day() noexcept {
        note_last();
        cron_token offset{0};
        if (in_.accept('-')) {
            if (!in_.read_number(offset)) return refuse_here(cron_problem::L_offset_must_be_0_to_30);
            if (offset.value > 30) return refuse(offset, cron_problem::L_offset_must_be_0_to_30);
        }
        auto& days = in_.accept('W') ? fields_.nearest_from_end : fields_.days_from_end;
        days |= std::uint32_t{1} << (31 - offset.value);
        return true;
    }

    /// `L` alone is another name of Saturday.
    constexpr bool read_plain_last_weekday() noexcept {
        note_last();
        add_range(7, 7, 1);
        return true;
    }

    /// The `L` of `6L` and `FRIL`.
    constexpr bool read_last_weekday(cron_token const& weekday) noexcept {
        note_last();
        fields_.last_weekdays |= std::uint32_t{1} << (weekday.value - 1);
        return true;
    }

    /// `15W`. Quartz accepts 0W and then searches forever.
    constexpr bool add_nearest_weekday(cron_token const& day) noexcept {
        if (day.value < 1 || day.value > 31) return refuse(day, cron_problem::W_needs_a_day_from_1_to_31);
        fields_.nearest_weekdays |= std::uint32_t{1} << day.value;
        return true;
    }

    /// The number after the `#` of `6#3` and `FRI#3`.
    constexpr bool read_occurrence(cron_token const& weekday) noexcept {
        cron_token occurrence;
        if (!in_.read_number(occurrence)) return refuse_here(cron_problem::occurrence_must_be_1_to_5);
        if (occurrence.value < 1 || occurrence.value > 5)
            return refuse(occurrence, cron_problem::occurrence_must_be_1_to_5);
        fields_.weekdays |= month_weeks{1} << (7 * (occurrence.value - 1) + weekday.value - 1);
        return true;
    }

    /// A number or a name. `check` tests whether the number is valid for the field, because a `W` may still follow.
    constexpr bool read_value(cron_token& token) noexcept {
        if (in_.read_number(token)) return true;
        if (rule().names.empty() || !cron_scanner::is_letter(in_.peek())) return refuse_here(problem_here());
        if (!in_.read_name(rule().names, token)) return refuse(token, rule().unknown_name);
        token.value += rule().low;
        return true;
    }

    /// Accepts any year; `add_range` leaves out years without a bit.
    constexpr bool check(cron_token const& token) noexcept {
        auto const low = is(cron_field::year) ? 1000 : rule().low;
        auto const high = is(cron_field::year) ? 9999 : is_unix_day_of_week() ? 7 : rule().high;
        return (low <= token.value && token.value <= high) || refuse(token, rule().out_of_range);
    }

    /// Wraps from the highest value to the lowest if `last` is less than `first`.
    constexpr void add_range(std::uint32_t first, std::uint32_t last, std::uint32_t step) noexcept {
        auto const [low, high] = std::pair{rule().low, rule().high};
        auto const count = high - low + 1;
        if (last < first) last += count;
        for (auto value = first; value <= last && (value <= high || !is(cron_field::year)); value += step)
            if (value >= low) fields_.add(field_, (value > high ? value - count : value) + is_unix_day_of_week());
    }

    constexpr void note_last() noexcept {
        if (first_last_at_ == nowhere) first_last_at_ = in_.at();
        in_.accept('L');
    }

    constexpr bool is(cron_field field) const noexcept { return field_ == field; }
    constexpr bool is_unix_day_of_week() const noexcept { return is_unix_ && is(cron_field::day_of_week); }
    constexpr cron_field_rule const& rule() const noexcept {
        return is_unix_day_of_week() ? unix_day_of_week_rule : cron_field_rules[index_of(field_)];
    }
    static constexpr std::size_t index_of(cron_field field) noexcept { return static_cast<std::size_t>(field); }

    /// The fault of an unexpected character at this position.
    constexpr cron_problem problem_here() const noexcept {
        bool const is_special = std::string_view{"?LW#"}.find(in_.peek()) != std::string_view::npos;
        return is_unix_ && is_special ? cron_problem::special_character_needs_six_fields
                                      : cron_problem::unexpected_character;
    }

    constexpr bool refuse(cron_token const& token, cron_problem problem) noexcept {
        fault_ = {field_, problem, token.at, token.length};
        return false;
    }
    constexpr bool refuse_at(std::size_t at, cron_problem problem) noexcept { return refuse({.at = at}, problem); }
    /// Stores the fault, and quotes the character if it fits into a line of a log.
    constexpr bool refuse_here(cron_problem problem) noexcept {
        return refuse({.at = in_.at(), .length = cron_scanner::is_visible(in_.peek()) ? 1u : 0u}, problem);
    }

    static constexpr auto nowhere = std::string_view::npos;

    cron_scanner in_;
    cron_fields fields_{};
    cron_fault fault_{};
    cron_field field_{};
    std::array<std::size_t, cron_field_rules.size()> field_at_{};
    bool is_unix_ = false;                ///< there are five fields
    bool any_day_of_month_ = false;       ///< the day of the month is `?`, or `*` in an expression of five fields
    bool has_plain_days_ = false;         ///< this field has an element without L, W or #
    std::size_t first_last_at_ = nowhere; ///< the first L of this field
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_CRON_PARSER_HPP
