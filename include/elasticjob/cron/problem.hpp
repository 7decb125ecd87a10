// SPDX-License-Identifier: Apache-2.0
/// \file \brief The faults of a cron expression's text, and their messages.
#ifndef ELASTICJOB_CRON_PROBLEM_HPP
#define ELASTICJOB_CRON_PROBLEM_HPP

#include <elasticjob/cron/fields.hpp> // cron_field

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace elasticjob::detail {

/// The names are for people: the compiler prints them if a literal is wrong.
enum class cron_problem : std::uint8_t {
    none,
    fewer_than_five_fields,
    more_than_seven_fields,
    empty_list_element,
    unexpected_character,
    seconds_must_be_0_to_59,
    minutes_must_be_0_to_59,
    hours_must_be_0_to_23,
    day_of_month_must_be_1_to_31,
    month_must_be_1_to_12_or_JAN_to_DEC,
    unknown_month_name,
    day_of_week_must_be_1_to_7_or_SUN_to_SAT,
    unknown_day_of_week_name,
    year_must_have_four_digits,
    years_must_not_run_backwards,
    step_must_be_a_number,
    step_must_not_be_zero,
    step_is_larger_than_the_field,
    step_after_a_name_is_ignored_by_quartz,
    range_of_a_number_and_a_name,
    question_mark_outside_the_day_fields,
    question_mark_must_stand_alone,
    question_mark_in_both_day_fields,
    day_of_month_and_day_of_week_both_given,
    L_with_other_days_of_month,
    L_with_other_days_of_week,
    L_offset_must_be_0_to_30,
    W_needs_a_day_from_1_to_31,
    occurrence_must_be_1_to_5,
    day_of_week_of_five_fields_must_be_0_to_7,
    day_of_month_and_day_of_week_of_five_fields_both_given,
    special_character_needs_six_fields,
    unknown_name,
    years_outside_1970_to_2225,
    no_such_date_in_these_months_and_years,
};

/// The fault and the correct form. A message that Quartz has too begins with Quartz's words, because people search for
/// them.
struct cron_wording {
    std::string_view wrong;
    std::string_view right;
};

constexpr cron_wording wording_of(cron_problem problem) noexcept {
    using enum cron_problem;
    switch (problem) {
    case none:
        break;
    case fewer_than_five_fields:
        return {"Unexpected end of expression",
                "There are six or seven fields: seconds minutes hours day-of-month month day-of-week [year]; or five: "
                "the same without seconds and year"};
    case more_than_seven_fields:
        return {"Unexpected text after the seventh field", "The year is the last field"};
    case empty_list_element:
        return {"An element of the list is empty", "Write a value between two commas"};
    case unexpected_character:
        return {"Unexpected character", "A field is a list of values, ranges a-b and steps a/n; days of the month also "
                                        "take L, L-n, LW and nW, days of the week nL and n#k"};
    case seconds_must_be_0_to_59:
    case minutes_must_be_0_to_59:
        return {"Minute and Second values must be between 0 and 59", ""};
    case hours_must_be_0_to_23:
        return {"Hour values must be between 0 and 23", ""};
    case day_of_month_must_be_1_to_31:
        return {"Day of month values must be between 1 and 31", ""};
    case month_must_be_1_to_12_or_JAN_to_DEC:
        return {"Month values must be between 1 and 12", ""};
    case unknown_month_name:
        return {"Invalid Month value", "Months are 1 to 12 or JAN to DEC"};
    case day_of_week_must_be_1_to_7_or_SUN_to_SAT:
        return {"Day-of-Week values must be between 1 and 7", "1 is Sunday"};
    case unknown_day_of_week_name:
        return {"Invalid Day-of-Week value", "Days are 1 to 7 or SUN to SAT"};
    case year_must_have_four_digits:
        return {"Invalid Year value", "Years are written with four digits"};
    case years_must_not_run_backwards:
        return {"A range of years must not run backwards", "Write the earlier one first"};
    case step_must_be_a_number:
        return {"'/' must be followed by an integer", ""};
    case step_must_not_be_zero:
        return {"A step must not be zero", "Leave it out to name one value"};
    case step_is_larger_than_the_field:
        return {"Increment too large", "At most 59 for seconds and minutes, 23 for hours, 31 for days, 12 for months "
                                       "and 7 for weekdays"};
    case step_after_a_name_is_ignored_by_quartz:
        return {"A step after a name has no agreed meaning", "Write the values as numbers: 2-6/2 for MON-FRI/2"};
    case range_of_a_number_and_a_name:
        return {"A range has a number at one end and a name at the other", "Write 2-6 or MON-FRI: Quartz, which Java "
                                                                           "members use, refuses 2-FRI"};
    case question_mark_outside_the_day_fields:
        return {"'?' can only be specified for Day-of-Month or Day-of-Week", "Write '*' for every value"};
    case question_mark_must_stand_alone:
        return {"Illegal character after '?'", "'?' is a whole field"};
    case question_mark_in_both_day_fields:
        return {"'?' can only be specified for Day-of-Month -OR- Day-of-Week", "Write '*' for every day"};
    case day_of_month_and_day_of_week_both_given:
        return {"Support for specifying both a day-of-week AND a day-of-month parameter is not implemented",
                "Write '?' for one of them"};
    case L_with_other_days_of_month:
        return {"Support for specifying 'L' and 'LW' with other days of the month is not implemented",
                "Lists may hold several of L, L-n, LW and nW"};
    case L_with_other_days_of_week:
        return {"Support for specifying 'L' with other days of the week is not implemented",
                "Lists may hold several of nL and n#k"};
    case L_offset_must_be_0_to_30:
        return {"Offset from last day must be <= 30", ""};
    case W_needs_a_day_from_1_to_31:
        return {"The 'W' option does not make sense with values larger than 31", "Nor with 0: days are 1 to 31"};
    case occurrence_must_be_1_to_5:
        return {"A numeric value between 1 and 5 must follow the '#' option", "FRI#3 is the third Friday"};
    case day_of_week_of_five_fields_must_be_0_to_7:
        return {"Day-of-Week values of five fields must be between 0 and 7", "0 and 7 are Sunday, as for Unix"};
    case day_of_month_and_day_of_week_of_five_fields_both_given:
        return {"Five fields with a day-of-month AND a day-of-week mean either of them for Unix, which no expression "
                "of six fields says",
                "Write '*' for one of them, and a second schedule for the other"};
    case special_character_needs_six_fields:
        return {"'?', 'L', 'W' and '#' are for expressions of six fields",
                "Write the seconds before the minutes; five fields are minutes hours day-of-month month day-of-week"};
    case unknown_name:
        return {"Unknown name of a schedule",
                "The names are @yearly, @annually, @monthly, @weekly, @daily, @midnight and @hourly"};
    case years_outside_1970_to_2225:
        return {"No fire: schedules run from 1970 to 2225", ""};
    case no_such_date_in_these_months_and_years:
        return {"No fire: these months and years have no such day", ""};
    }
    return {};
}

/// A problem, with its field and its part of the text.
struct cron_fault {
    cron_field field{}; ///< if there are too few fields, the first missing one
    cron_problem problem{};
    std::size_t at{}; ///< offset of the offending character
    std::size_t length{};

    constexpr explicit operator bool() const noexcept { return problem != cron_problem::none; }

    /// Columns are counted from 1.
    constexpr std::size_t column() const noexcept { return at + 1; }

    /// Whether the text is well formed, but no time ever matches it.
    constexpr bool is_about_never_firing() const noexcept {
        return problem >= cron_problem::years_outside_1970_to_2225;
    }
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_CRON_PROBLEM_HPP
