// SPDX-License-Identifier: Apache-2.0
// The text of a schedule: refused with a column that is in it, or an expression that fires when its fields say, and
// whose meaning survives being written out in another way.
#include <elasticjob/cron/expression.hpp>

#include <elasticjob/cron/describe.hpp>
#include <elasticjob/cron/quartz_text.hpp>

#include "properties.hpp"

#include <string>

namespace {

using namespace elasticjob;

struct list {
    std::string text;

    void add(std::string const& element) { text += (text.empty() ? "" : ",") + element; }
};

template <class Name>
void add_bits(list& l, std::uint64_t bits, Name name) {
    for (unsigned i = 0; i < 64; ++i)
        if (bits >> i & 1) l.add(name(i));
}

std::string plain(unsigned i) { return std::to_string(i); }

/// Value by value.
std::string written_out(detail::cron_fields const& f) {
    list second, minute, hour, day, month, weekday, year;
    add_bits(second, f.seconds, plain);
    add_bits(minute, f.minutes, plain);
    add_bits(hour, f.hours, plain);
    add_bits(month, f.months, plain);
    add_bits(day, f.days, plain);
    add_bits(day, f.days_from_end, [](unsigned i) { return "L-" + plain(31 - i); });
    add_bits(day, f.nearest_weekdays, [](unsigned i) { return plain(i) + "W"; });
    add_bits(day, f.nearest_from_end, [](unsigned i) { return "L-" + plain(31 - i) + "W"; });
    // All five occurrences are the plain weekday, which may not stand beside `nL`; they may.
    add_bits(weekday, f.weekdays, [](unsigned i) { return plain(i % 7 + 1) + "#" + plain(i / 7 + 1); });
    add_bits(weekday, f.last_weekdays, [](unsigned i) { return plain(i + 1) + "L"; });
    for (unsigned word = 0; word < f.years.size(); ++word)
        add_bits(year, f.years[word], [&](unsigned i) { return plain(1970 + 64 * word + i); });
    fuzz::require(day.text.empty() != weekday.text.empty(), "one of the day fields is `?`");
    auto const or_any = [](list const& l) { return l.text.empty() ? std::string{"?"} : l.text; };
    return second.text + " " + minute.text + " " + hour.text + " " + or_any(day) + " " + month.text + " " +
           or_any(weekday) + " " + year.text;
}

/// Other letters and more blanks.
std::string dressed_up(std::string_view text) {
    std::string dressed = "\t ";
    for (char const c : text) {
        if ('a' <= c && c <= 'z')
            dressed += static_cast<char>(c - 'a' + 'A');
        else if ('A' <= c && c <= 'Z')
            dressed += static_cast<char>(c - 'A' + 'a');
        else
            dressed += c;
        if (c == ' ') dressed += '\t';
    }
    return dressed + " ";
}

/// Bits of values only, and one meaning in one way.
void check_bits(detail::cron_fields const& f) {
    auto const within = [](std::uint64_t bits, std::uint64_t all) { return (bits & ~all) == 0; };
    auto const low = [](unsigned count) { return (std::uint64_t{1} << count) - 1; };
    fuzz::require(f.seconds && f.minutes && f.hours && f.months, "no time is without a value");
    fuzz::require(within(f.seconds, low(60)) && within(f.minutes, low(60)) && within(f.hours, low(24)) &&
                      within(f.months, low(13) - 1) && within(f.days, low(32) - 1) &&
                      within(f.days_from_end, low(32) - 1) && within(f.nearest_weekdays, low(32) - 1) &&
                      within(f.nearest_from_end, low(32) - 1) && within(f.weekdays, low(35)) &&
                      within(f.last_weekdays, low(7)),
                  "a field has only values of its own");
    fuzz::require(f.weekdays != low(35), "all weekdays are every day");
}

/// A number that is no step is one of a field. Only steps behind a range may be larger.
void check_numbers(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        auto const is_digit = [&](std::size_t at) { return at < text.size() && '0' <= text[at] && text[at] <= '9'; };
        if (!is_digit(i) || (i > 0 && is_digit(i - 1)) || (i > 0 && text[i - 1] == '/')) continue;
        while (text[i] == '0' && is_digit(i + 1)) ++i;
        std::size_t digits = 0;
        while (is_digit(i + digits)) ++digits;
        fuzz::require(digits <= 4, "numbers have at most four digits");
    }
}

/// Whether the date is one of the days, asked of std::chrono.
bool is_due_on(detail::cron_fields const& f, std::chrono::sys_days day) {
    using namespace std::chrono;
    year_month_day const date{day};
    auto const number = static_cast<unsigned>(date.day());
    auto const length = static_cast<unsigned>((date.year() / date.month() / last).day());
    auto const weekday_of = [&](unsigned n) {
        return weekday{sys_days{date.year() / date.month() / std::chrono::day{n}}}.c_encoding();
    };
    auto const has = [](std::uint64_t bits, unsigned i) { return (bits >> i & 1) != 0; };
    auto const is_nearest_to = [&](unsigned nominal) {
        for (int const away : {0, -1, 1, -2, 2}) {
            auto const n = static_cast<unsigned>(static_cast<int>(nominal) + away);
            if (1 <= n && n <= length && weekday_of(n) % 6 != 0) return n == number;
        }
        return false;
    };
    auto const years = static_cast<unsigned>(static_cast<int>(date.year()) - 1970);
    if (!has(f.years[years / 64], years % 64) || !has(f.months, static_cast<unsigned>(date.month()))) return false;
    auto const w = weekday_of(number);
    bool due = has(f.days, number) || has(f.days_from_end, 31 - (length - number)) ||
               has(f.weekdays, (number - 1) / 7 * 7 + w) || (number + 7 > length && has(f.last_weekdays, w));
    for (unsigned n = 1; n <= length; ++n)
        due = due || ((has(f.nearest_weekdays, n) || has(f.nearest_from_end, 31 - (length - n))) && is_nearest_to(n));
    return due;
}

void check_fire(detail::cron_fields const& f, fuzz::sys_seconds fire) {
    auto const day = std::chrono::floor<std::chrono::days>(fire);
    auto const time = (fire - day).count();
    fuzz::require(is_due_on(f, day), "a fire is on one of the days");
    fuzz::require((f.hours >> time / 3600 & 1) && (f.minutes >> time / 60 % 60 & 1) && (f.seconds >> time % 60 & 1),
                  "a fire is at one of the times");
}

void check_refused(error const& e, std::string_view text) {
    fuzz::require(e == errc::invalid_cron || e == errc::cron_never_fires, "the code is one of the promised ones");
    fuzz::require(!e.what.empty() && e.where.starts_with("column "), "the error says what and where");
    auto const column = std::stoul(e.where.substr(7));
    fuzz::require(1 <= column && column <= text.size() + 1, "the column is one of the text, or the one behind it");
}

void check_accepted(cron_expression const& e, std::string_view text) {
    check_bits(e.fields());
    check_numbers(text);
    auto const again = parse_cron(dressed_up(text));
    fuzz::require(again && *again == e, "case and blanks mean nothing");
    auto const copy = parse_cron(written_out(e.fields()));
    fuzz::require(copy && *copy == e, "an expression equals itself, written out");
    auto const text_of_it = quartz_text(e);
    auto const again_from_it = parse_cron(text_of_it);
    fuzz::require(again_from_it && *again_from_it == e, "an expression is read again from its text");
    fuzz::require(!describe(e).empty(), "an expression has words");

    // Before all schedules, a day with a gap, amid an overlap of either zone, and behind all schedules.
    static constexpr auto zero = fuzz::sys_seconds{};
    static constexpr std::array starts{zero - std::chrono::hours{48}, zero + std::chrono::days{19'792},
                                       zero + fuzz::seconds{1'730'611'800}, zero + fuzz::seconds{1'712'414'400},
                                       fuzz::sys_seconds::max()};
    static auto const new_york = TzifZone::parse_rule("EST5EDT,M3.2.0,M11.1.0").value();
    static auto const lord_howe = TzifZone::parse_rule("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0").value();
    auto const first = fuzz::next_is_later(e, starts[0], UtcZone{}, {});
    fuzz::require(first.has_value(), "what is accepted fires");
    for (auto const after : starts) {
        if (auto const fire = fuzz::next_is_later(e, after, UtcZone{}, {})) check_fire(e.fields(), *fire);
        for (auto const& policy : fuzz::policies)
            for (auto const* zone : {&new_york, &lord_howe}) {
                auto t = std::optional{after};
                for (int i = 0; i < 4 && t; ++i) t = fuzz::next_is_later(e, *t, *zone, policy);
            }
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    auto const text = fuzz::text_of(data, size);
    if (auto const e = parse_cron(text))
        check_accepted(*e, text);
    else
        check_refused(e.error(), text);
    return 0;
}
