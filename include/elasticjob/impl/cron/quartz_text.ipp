// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CRON_QUARTZ_TEXT_IPP
#define ELASTICJOB_IMPL_CRON_QUARTZ_TEXT_IPP

#include <elasticjob/cron/quartz_text.hpp>
#include <elasticjob/cron/value_list.hpp>

namespace elasticjob::detail {

/// The elements of a field, separated by commas.
struct cron_field_text {
    std::string text{};

    void add(std::string const& element) { text.append(text.empty() ? "" : ",").append(element); }

    /// `*`, `5/15`, `9-17`, `1-9/2`, `1,2,20`.
    void add_values(value_list const& values) {
        if (values.is_all()) return add("*");
        if (auto const step = values.step(); step > 1) {
            auto const first = std::to_string(values.front());
            auto const last = values.back() + step > values.high() ? "" : "-" + std::to_string(values.back());
            return add(first + last + "/" + std::to_string(step));
        }
        for (auto const& [first, last] : values.runs())
            add(first == last ? std::to_string(first) : std::to_string(first) + "-" + std::to_string(last));
    }
};

ELASTICJOB_DECL std::string days_of_month_text(cron_fields const& f) {
    cron_field_text days;
    if (f.days) days.add_values(value_list::of_bits(f.days, 1, 31));
    auto const add_each = [&](std::uint32_t bits, auto text_of) {
        for (; bits; bits &= bits - 1) days.add(text_of(std::countr_zero(bits)));
    };
    auto const from_end = [](int bit) { return bit == 31 ? std::string{"L"} : "L-" + std::to_string(31 - bit); };
    add_each(f.days_from_end, from_end);
    add_each(f.nearest_weekdays, [](int day) { return std::to_string(day) + "W"; });
    add_each(f.nearest_from_end, [&](int bit) { return from_end(bit) + "W"; });
    return days.text;
}

ELASTICJOB_DECL std::string days_of_week_text(cron_fields const& f) {
    static constexpr char const* names[] = {"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"};
    cron_field_text days;
    // A plain weekday is not allowed next to `nL`; a list of all its occurrences is.
    auto const whole = f.last_weekdays ? 0 : whole_weekdays(f.weekdays);
    if (whole)
        for (auto const& [first, last] : value_list::of_bits(whole, 0, 6).runs())
            days.add(first == last ? names[first] : std::string{names[first]} + "-" + names[last]);
    for (auto bits = f.weekdays & ~every_week(whole); bits; bits &= bits - 1) {
        auto const bit = std::countr_zero(bits);
        days.add(std::string{names[bit % 7]} + "#" + std::to_string(bit / 7 + 1));
    }
    for (auto bits = f.last_weekdays; bits; bits &= bits - 1)
        days.add(std::to_string(std::countr_zero(bits) + 1) + "L");
    return days.text;
}

ELASTICJOB_DECL std::string with_six_fields(std::string_view text) {
    auto const fields = cron_scanner{text}.count_fields();
    if (fields > 5) return std::string{text};
    auto const expression = parse_cron(text);
    return expression ? quartz_text(*expression) : std::string{text};
}

} // namespace elasticjob::detail

namespace elasticjob {

ELASTICJOB_DECL std::string quartz_text(cron_expression const& expression) {
    using detail::value_list;
    auto const& f = expression.fields();
    auto const text_of = [](value_list const& values) {
        detail::cron_field_text field;
        field.add_values(values);
        return field.text;
    };
    auto const days = detail::days_of_month_text(f);
    auto const weekdays = detail::days_of_week_text(f);
    auto text = text_of(value_list::of_bits(f.seconds, 0, 59)) + " " + text_of(value_list::of_bits(f.minutes, 0, 59)) +
                " " + text_of(value_list::of_bits(f.hours, 0, 23)) + " " + (days.empty() ? "?" : days) + " " +
                text_of(value_list::of_bits(f.months, 1, 12)) + " " + (weekdays.empty() ? "?" : weekdays);
    if (auto const years = value_list::of_years(f); !years.is_all()) text += " " + text_of(years);
    return text;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_CRON_QUARTZ_TEXT_IPP
