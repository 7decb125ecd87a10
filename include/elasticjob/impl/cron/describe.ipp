// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CRON_DESCRIBE_IPP
#define ELASTICJOB_IMPL_CRON_DESCRIBE_IPP

#include <elasticjob/cron/describe.hpp>
#include <elasticjob/cron/value_list.hpp>

#include <array>
#include <vector>

namespace elasticjob::detail {

/// If there are more times of day than this, they are not listed one by one.
inline constexpr std::size_t described_times_max = 6;

ELASTICJOB_DECL std::string two_digits(int value) {
    return {static_cast<char>('0' + value / 10), static_cast<char>('0' + value % 10)};
}

ELASTICJOB_DECL std::string ordinal(int n) {
    static constexpr std::array words{"first", "second", "third", "fourth", "fifth"};
    return words[static_cast<std::size_t>(n - 1)];
}

/// `a, b and c`.
ELASTICJOB_DECL std::string joined(std::vector<std::string> const& parts) {
    std::string text;
    for (std::size_t i = 0; i < parts.size(); ++i)
        text.append(i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ").append(parts[i]);
    return text;
}

/// `1, 2 and 5 to 9`, with each value worded by `word_of`.
template <class WordOf>
std::string listed(value_list const& values, WordOf word_of) {
    std::vector<std::string> parts;
    for (auto const& [first, last] : values.runs())
        parts.push_back(first == last ? word_of(first) : word_of(first) + " to " + word_of(last));
    return joined(parts);
}

ELASTICJOB_DECL std::string number_text(int value) { return std::to_string(value); }

/// `second 5`, `seconds 5 and 20`.
ELASTICJOB_DECL std::string numbered(std::string_view unit, value_list const& values) {
    return std::string{unit} + (values.size() == 1 ? " " : "s ") + listed(values, number_text);
}

/// `every second`, `every 5 minutes`; empty if there is no such interval.
ELASTICJOB_DECL std::string paced(std::string_view unit, value_list const& values) {
    if (values.is_all()) return "every " + std::string{unit};
    auto const pace = values.pace();
    return pace == 0 ? "" : "every " + std::to_string(pace) + " " + std::string{unit} + "s";
}

/// `2nd`, for the divisors of 60.
ELASTICJOB_DECL std::string nth(int n) { return std::to_string(n) + (n == 2 ? "nd" : n == 3 ? "rd" : "th"); }

/// `from 09:00 to 17:59`, `in the hours of 9, 11 and 20`; empty for all hours. `last_minute` belongs to the range.
ELASTICJOB_DECL std::string hours_text(value_list const& hours, int last_minute) {
    if (hours.is_all()) return {};
    auto const runs = hours.runs();
    if (hours.size() == 1 || (runs.size() == 1 && hours.size() > 2))
        return " from " + two_digits(hours.front()) + ":00 to " + two_digits(hours.back()) + ":" +
               two_digits(last_minute);
    if (hours.pace() != 0) return " in every " + nth(hours.pace()) + " hour";
    return " in the hours of " + listed(hours, number_text);
}

ELASTICJOB_DECL std::string clock_times(value_list const& seconds, value_list const& minutes, value_list const& hours) {
    std::vector<std::string> times;
    bool const shows_seconds = !(seconds.size() == 1 && seconds.front() == 0);
    for (int const h : hours)
        for (int const m : minutes)
            for (int const s : seconds)
                times.push_back(two_digits(h) + ":" + two_digits(m) + (shows_seconds ? ":" + two_digits(s) : ""));
    return "at " + joined(times);
}

/// The time of day, and whether the text states an interval, which needs no "every day".
struct time_words {
    std::string text;
    bool is_pace;
};

ELASTICJOB_DECL time_words time_of_day_words(cron_fields const& f) {
    auto const seconds = value_list::of_bits(f.seconds, 0, 59);
    auto const minutes = value_list::of_bits(f.minutes, 0, 59);
    auto const hours = value_list::of_bits(f.hours, 0, 23);
    bool const on_the_minute = seconds.size() == 1 && seconds.front() == 0;
    bool const on_the_hour = on_the_minute && minutes.size() == 1 && minutes.front() == 0;
    if (seconds.size() * minutes.size() * hours.size() <= described_times_max && !(on_the_hour && hours.pace() != 0))
        return {clock_times(seconds, minutes, hours), false};
    if (on_the_hour) {
        if (auto const pace = paced("hour", hours); !pace.empty()) return {pace, true};
        if (hours.runs().size() > 1) return {clock_times(seconds, minutes, hours), false};
        return {"every hour" + hours_text(hours, 0), true};
    }
    std::string text;
    if (!on_the_minute) {
        text = paced("second", seconds);
        if (text.empty()) text = "at " + numbered("second", seconds);
    }
    auto const pace = paced("minute", minutes);
    if (on_the_minute)
        text = !pace.empty() ? pace : "at " + numbered("minute", minutes) + (hours.is_all() ? " of every hour" : "");
    else if (!minutes.is_all())
        text += pace.empty() ? " in " + numbered("minute", minutes) : " in every " + nth(minutes.pace()) + " minute";
    else if (seconds.pace() == 0)
        text += " of every minute";
    return {text + hours_text(hours, 59), true};
}

ELASTICJOB_DECL std::string day_words(cron_fields const& f) {
    // Here weeks begin on Monday.
    static constexpr std::array names{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};
    auto const name_of = [](int day) { return std::string{names[static_cast<std::size_t>(day)]}; };
    auto const from_monday = [](int from_sunday) { return (from_sunday + 6) % 7; };
    std::vector<std::string> parts;
    if (auto const whole = whole_weekdays(f.weekdays)) {
        auto const days = value_list::of_bits((whole >> 1) | (whole & 1) << 6, 0, 6);
        auto const runs = days.runs();
        bool const is_range = runs.size() == 1 && days.size() > 2;
        parts.push_back((is_range ? "from " : "on ") + listed(days, name_of));
    }
    if (f.days && f.days != all_days)
        parts.push_back("on " + numbered("day", value_list::of_bits(f.days, 1, 31)) + " of the month");
    auto const before_the_last = [](int bit, std::string const& what) {
        auto const count = 31 - bit;
        if (count == 0) return "on the last " + what + " of the month";
        auto const day = std::to_string(count) + (count == 1 ? " day" : " days") + " before the last day of the month";
        return what == "day" ? day : "on the weekday nearest to " + day;
    };
    auto const add_each = [&](std::uint64_t bits, auto words_of) {
        for (; bits; bits &= bits - 1) parts.push_back(words_of(std::countr_zero(bits)));
    };
    add_each(f.days_from_end, [&](int bit) { return before_the_last(bit, "day"); });
    add_each(f.nearest_weekdays,
             [](int day) { return "on the weekday nearest to day " + std::to_string(day) + " of the month"; });
    add_each(f.nearest_from_end, [&](int bit) { return before_the_last(bit, "weekday"); });
    add_each(f.weekdays & ~every_week(whole_weekdays(f.weekdays)), [&](int bit) {
        return "on the " + ordinal(bit / 7 + 1) + " " + name_of(from_monday(bit % 7)) + " of the month";
    });
    add_each(f.last_weekdays, [&](int bit) { return "on the last " + name_of(from_monday(bit)) + " of the month"; });
    return joined(parts);
}

} // namespace elasticjob::detail

namespace elasticjob {

ELASTICJOB_DECL std::string describe(cron_expression const& expression) {
    static constexpr std::array months{"January", "February", "March",     "April",   "May",      "June",
                                       "July",    "August",   "September", "October", "November", "December"};
    auto const& f = expression.fields();
    auto [text, is_pace] = detail::time_of_day_words(f);
    auto const days = detail::day_words(f);
    if (!days.empty())
        text += (is_pace ? ", " : " ") + days;
    else if (!is_pace)
        text += " every day";
    if (auto const list = detail::value_list::of_bits(f.months, 1, 12); !list.is_all())
        text +=
            ", in " + detail::listed(list, [](int m) { return std::string{months[static_cast<std::size_t>(m - 1)]}; });
    if (auto const years = detail::value_list::of_years(f); !years.is_all())
        text += (years.size() == 1 ? ", in the year " : ", in the years ") + detail::listed(years, detail::number_text);
    return text;
}

ELASTICJOB_DECL result<std::string> describe_cron(std::string_view text) {
    ELASTICJOB_TRY(auto const expression, parse_cron(text));
    return describe(expression);
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_CRON_DESCRIBE_IPP
