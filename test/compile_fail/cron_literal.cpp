// expect: this_cron_literal_is_wrong.*::seconds[;,].*::step_must_not_be_zero[;,] (long unsigned int Column = )?3(UL)?[]>]
// expect: this_cron_literal_is_wrong.*::minutes[;,].*::unexpected_character[;,] (long unsigned int Column = )?4(UL)?[]>]
// expect: this_cron_literal_is_wrong.*::hours[;,].*::hours_must_be_0_to_23[;,] (long unsigned int Column = )?5(UL)?[]>]
// expect: this_cron_literal_is_wrong.*::day_of_month[;,].*::empty_list_element[;,] (long unsigned int Column = )?9(UL)?[]>]
// expect: this_cron_literal_is_wrong.*::month[;,].*::unknown_month_name[;,] (long unsigned int Column = )?9(UL)?[]>]
// expect: this_cron_literal_is_wrong.*::day_of_week[;,].*::day_of_month_and_day_of_week_both_given[;,] (long unsigned int Column = )?11(UL)?[]>]
// expect: this_cron_literal_is_wrong.*::year[;,].*::years_must_not_run_backwards[;,] (long unsigned int Column = )?18(UL)?[]>]
// expect: this_cron_literal_is_wrong.*::day_of_month[;,].*::no_such_date_in_these_months_and_years[;,] (long unsigned int Column = )?7(UL)?[]>]
// expect: this_cron_literal_is_wrong.*::year[;,].*::years_outside_1970_to_2225[;,] (long unsigned int Column = )?13(UL)?[]>]
// expect: non-.?constexpr.? function .*this_cron_literal_is_wrong.*::month[;,].*::fewer_than_five_fields[;,] (long unsigned int Column = )?8(UL)?[]>]
// SPDX-License-Identifier: Apache-2.0
// The message names the field, also where the problem does not. The last one is whole: what the compiler says of a call.
#include <elasticjob/cron/literal.hpp>

using namespace elasticjob::literals;

#ifdef BAD
constexpr auto seconds = "0/0 0 2 * * ?"_cron;
constexpr auto minutes = "0 0X 2 * * ?"_cron;
constexpr auto hours = "0 0 24 * * ?"_cron;
constexpr auto day_of_month = "0 0 2 1,,2 * ?"_cron;
constexpr auto month = "0 0 2 * FOO ?"_cron;
constexpr auto day_of_week = "0 0 2 * * *"_cron;
constexpr auto year = "0 0 2 * * ? 2030-2029"_cron;
constexpr auto no_day = "0 0 2 30 2 ?"_cron;
constexpr auto no_year = "0 0 2 * * ? 1969"_cron;
constexpr auto no_field = "0 0 2 *"_cron;
#endif
constexpr auto nightly = "0 0 2 * * ?"_cron;

int main() { return nightly.fires_in_every_hour() ? 1 : 0; }
