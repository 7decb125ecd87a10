// SPDX-License-Identifier: Apache-2.0
// The text of `ext/schedule`: refused with a short error, or a configuration that is written so that it is read as the
// same, and whose due times are found, or given up, with bounded work.
#include <elasticjob/config/due_times.hpp>
#include <elasticjob/config/schedule_text.hpp>
#include <elasticjob/config/validation.hpp>
#include <elasticjob/execution/misfire.hpp>

#include "properties.hpp"

#include <string>

namespace {

using namespace elasticjob;

constexpr std::uint64_t search_max = timetable::looks_max + 2'000'000; // and one more step

void check_times(timetable const& table, TzifZone const& zone) {
    wall_time const now{std::chrono::seconds{1'800'000'000}};
    for (auto const after : {wall_time::min(), wall_time{}, now, wall_time::max()}) {
        auto const f = table.find_next(after, zone);
        fuzz::require(!f.due || *f.due > after, "what is due is later");
        fuzz::require(!f.due || (*f.due >= table.starts && *f.due <= table.ends),
                      "what is due is between start and end");
        fuzz::require(f.looks <= search_max, "a search has a limit");
        fuzz::require(!f.is_given_up || (!f.due && f.looks > timetable::looks_max), "nothing is given up early");
        auto const own = table.find_next_after_end(after, zone);
        fuzz::require(!own.due || *own.due > after, "a delay has a length");
        fuzz::require(own.looks <= search_max, "a search has a limit");
    }
    std::uint64_t looks = 0;
    auto const next = [&](wall_time t) {
        auto const f = table.find_next(t, zone);
        looks += f.looks;
        return f.due;
    };
    auto const found = due_between(next, now - std::chrono::hours{24 * 365}, now, 2, &looks);
    fuzz::require(found.newest.size() <= 2, "no more are kept than wanted");
    fuzz::require(looks < 100 * search_max, "a look back has a limit");
}

void check_read(job_config const& c) {
    auto const text = to_schedule_text(c);
    job_config const base{.name = "settle", .cron = "0/1 * * * * ?"};
    auto const again = with_schedule_text(base, text);
    fuzz::require(again && *again == c, "what was read is written so that it is read as the same");
    auto const valid = validate(c);
    if (!valid) return fuzz::require(to_string(valid.error()).size() < 20'000, "the error is short");
    TzifZone const zone = TzifZone::parse_rule("EST5EDT,M3.2.0,M11.1.0").value();
    check_times(valid->when(), zone);
    auto const due = due_times::of(*valid, zone);
    if (!due) return;
    auto t = due->next(wall_time{});
    for (int i = 0; i < 20 && t && *t < wall_time{std::chrono::hours{1}}; ++i, t = due->next(*t))
        fuzz::require(due->next(*t - std::chrono::nanoseconds{1}) == t, "what is remembered is what is found");
    (void)due->delay_of(7);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    job_config const base{.name = "settle", .cron = "0/1 * * * * ?"};
    auto const c = with_schedule_text(base, fuzz::text_of(data, size));
    if (c) {
        check_read(*c);
    } else {
        fuzz::require(c.error() == errc::malformed_data, "the code is the promised one");
        fuzz::require(to_string(c.error()).size() < 500, "the error is short");
    }
    return 0;
}
