// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/cron/next.hpp>

#include <cron/support.hpp>

#include <doctest/doctest.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

// Random expressions against a reference that shares no code with the library: it keeps the drawn values instead of
// reading the text, asks std::chrono for the calendar, and tries one day and one second after the other.
namespace {

using namespace std::chrono;
using cron_test::dice;

/// One element of a list, as drawn.
struct element {
    enum class form { range, last_day, nearest_weekday, last_nearest, last_weekday, occurrence } drawn;
    unsigned first{}, last{}, step{1};
};

struct field {
    std::string text;
    std::vector<element> elements;
    unsigned low{}, high{};

    /// Walks through the range, as the definition says.
    bool names(unsigned value) const {
        for (auto const& e : elements) {
            if (e.drawn != element::form::range) continue;
            auto const length = e.last >= e.first ? e.last - e.first : e.last + (high - low + 1) - e.first;
            for (unsigned walked = 0, at = e.first; walked <= length; ++walked, at = at == high ? low : at + 1)
                if (at == value && walked % e.step == 0) return true;
        }
        return false;
    }
};

std::string in_some_case(std::string_view name, dice& d) {
    std::string text{name};
    if (d.one_in(2))
        for (char& c : text) c = static_cast<char>(c - 'A' + 'a');
    return text;
}

constexpr std::array<char const*, 12> months{"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                             "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
constexpr std::array<char const*, 7> weekdays{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"};

struct schedule {
    field second{{}, {}, 0, 59}, minute{{}, {}, 0, 59}, hour{{}, {}, 0, 23}, day{{}, {}, 1, 31}, month{{}, {}, 1, 12},
        weekday{{}, {}, 1, 7}, year{{}, {}, 1970, 2225};

    explicit schedule(dice& d) {
        for (auto* f : {&second, &minute, &hour, &month}) draw(*f, d);
        if (d.one_in(2)) {
            draw_days(d);
            weekday.text = "?";
        } else {
            draw_weekdays(d);
            day.text = "?";
        }
        if (d.one_in(3)) {
            auto const first = d.from_to(2020, 2030), last = first + d.from_to(0, 5), step = d.from_to(1, 3);
            add(year, {element::form::range, first, last, step},
                std::to_string(first) + "-" + std::to_string(last) + "/" + std::to_string(step));
        }
    }

    std::string text() const {
        return second.text + " " + minute.text + " " + hour.text + " " + day.text + " " + month.text + " " +
               weekday.text + (year.text.empty() ? "" : " " + year.text);
    }

    bool matches_day(year_month_day date) const {
        auto const number = static_cast<unsigned>(date.day());
        auto const y = static_cast<unsigned>(static_cast<int>(date.year()));
        if (!month.names(static_cast<unsigned>(date.month())) || (!year.text.empty() && !year.names(y))) return false;
        auto const week_day = std::chrono::weekday{sys_days{date}}.c_encoding() + 1;
        auto const length = static_cast<unsigned>((date.year() / date.month() / last).day());
        if (day.names(number) || weekday.names(week_day)) return true;
        for (auto const& e : day.elements) {
            if (e.drawn == element::form::last_day && number + e.first == length) return true;
            if (e.drawn == element::form::nearest_weekday && e.first <= length && nearest(date, e.first) == number)
                return true;
            if (e.drawn == element::form::last_nearest && e.first < length && nearest(date, length - e.first) == number)
                return true;
        }
        for (auto const& e : weekday.elements) {
            if (e.drawn == element::form::last_weekday && week_day == e.first && number + 7 > length) return true;
            if (e.drawn == element::form::occurrence && week_day == e.first && (number + 6) / 7 == e.last) return true;
        }
        return false;
    }

    /// The first match after `t`, unless it is more than `years_max` away.
    std::optional<sys_seconds> next(sys_seconds t, int years_max) const {
        auto const end = floor<days>(t) + days{366 * years_max};
        for (auto midnight = floor<days>(t); midnight < end; midnight += days{1}) {
            if (!matches_day(year_month_day{midnight})) continue;
            for (unsigned h = 0; h < 24; ++h) {
                if (!hour.names(h)) continue;
                for (unsigned m = 0; m < 60; ++m) {
                    if (!minute.names(m)) continue;
                    for (unsigned s = 0; s < 60; ++s)
                        if (auto const due = midnight + hours{h} + minutes{m} + seconds{s}; due > t && second.names(s))
                            return due;
                }
            }
        }
        return std::nullopt;
    }

private:
    /// The nearest day from Monday to Friday in the same month, found by trying the neighbouring days.
    static unsigned nearest(year_month_day date, unsigned number) {
        for (int const away : {0, -1, 1, -2, 2}) {
            auto const candidate = date.year() / date.month() / (static_cast<int>(number) + away);
            if (!candidate.ok()) continue;
            auto const w = std::chrono::weekday{sys_days{candidate}};
            if (w != Saturday && w != Sunday) return static_cast<unsigned>(candidate.day());
        }
        return 0;
    }

    static void add(field& f, element e, std::string const& text) {
        f.elements.push_back(e);
        f.text += (f.text.empty() ? "" : ",") + text;
    }

    static void draw(field& f, dice& d) {
        if (d.one_in(4)) return add(f, {element::form::range, f.low, f.high, 1}, "*");
        for (auto left = d.from_to(1, 3); left > 0; --left) draw_element(f, d);
    }

    static void draw_element(field& f, dice& d) {
        using enum element::form;
        auto const first = d.from_to(f.low, f.high), last_value = d.from_to(f.low, f.high);
        auto const step = d.from_to(1, f.high == 59 ? 59 : f.high);
        auto const value = [&](unsigned v) { return std::to_string(v); };
        bool const is_named = (f.high == 12 || f.high == 7) && d.one_in(2); // both ends of a range, or none
        auto const name = [&](unsigned v) {
            if (!is_named) return std::to_string(v);
            return in_some_case(f.high == 12 ? months[v - 1] : weekdays[v - 1], d);
        };
        switch (d.from_to(1, 6)) {
        case 1:
        case 2:
            return add(f, {range, first, first, 1}, name(first));
        case 3:
            return add(f, {range, first, last_value, 1}, name(first) + "-" + name(last_value));
        case 4:
            return add(f, {range, first, last_value, step}, value(first) + "-" + value(last_value) + "/" + value(step));
        case 5:
            return add(f, {range, first, f.high, step}, value(first) + "/" + value(step));
        default:
            return add(f, {range, f.low, f.high, step}, (d.one_in(2) ? "*/" : "/") + value(step));
        }
    }

    void draw_days(dice& d) {
        using enum element::form;
        if (d.one_in(2)) return draw(day, d);
        bool const from_end = d.one_in(2);
        for (auto left = d.from_to(1, 3); left > 0; --left) {
            auto const offset = d.from_to(0, 30), number = d.from_to(1, 31);
            auto const text = offset ? "L-" + std::to_string(offset) : std::string{"L"};
            if (d.one_in(3))
                add(day, {nearest_weekday, number}, std::to_string(number) + "W");
            else if (from_end && d.one_in(2))
                add(day, {last_day, offset}, text);
            else if (from_end)
                add(day, {last_nearest, offset}, text + "W");
            else
                draw_element(day, d);
        }
    }

    void draw_weekdays(dice& d) {
        using enum element::form;
        if (d.one_in(2)) return draw(weekday, d);
        bool const from_end = d.one_in(2);
        for (auto left = d.from_to(1, 3); left > 0; --left) {
            auto const w = d.from_to(1, 7), k = d.from_to(1, 5);
            auto const name = d.one_in(2) ? in_some_case(weekdays[w - 1], d) : std::to_string(w);
            if (d.one_in(2))
                add(weekday, {occurrence, w, k}, name + "#" + std::to_string(k));
            else if (from_end)
                add(weekday, {last_weekday, w}, name + "L");
            else
                draw_element(weekday, d);
        }
    }
};

} // namespace

TEST_CASE("cron.next: random expressions fire when a second-by-second reference says") {
    constexpr int expressions = 20'000;
    constexpr int years_max = 5;
    auto const seed = cron_test::seed();
    INFO("ELASTICJOB_TEST_SEED=" << seed);
    MESSAGE("ELASTICJOB_TEST_SEED=" << seed << " repeats this run");
    dice d{seed};
    int never = 0, later = 0;
    for (int i = 0; i < expressions; ++i) {
        schedule const drawn{d};
        auto const text = drawn.text();
        auto const expression = elasticjob::parse_cron(text);
        auto t = cron_test::instant("2019-01-01") + seconds{d.from_to(0, 6 * 366 * 86'400)};
        CAPTURE(text);
        CAPTURE(cron_test::text_of(t));
        if (!expression) {
            REQUIRE(to_string(expression.error()).starts_with("cron_never_fires"));
            REQUIRE(!drawn.next(cron_test::instant("2020-01-01"), 28)); // all weekdays of all kinds of years
            ++never;
            continue;
        }
        for (int fires = 0; fires < 3; ++fires) {
            auto const expected = drawn.next(t, years_max);
            auto const fire = elasticjob::next_fire(*expression, t, elasticjob::UtcZone{});
            if (!expected) {
                REQUIRE((!fire || *fire >= floor<days>(t) + days{366 * years_max}));
                ++later;
                break;
            }
            REQUIRE(fire.has_value());
            REQUIRE(cron_test::text_of(*fire) == cron_test::text_of(*expected));
            t = *fire;
        }
    }
    CHECK(later + never < expressions / 4); // the others did compare instants
}
