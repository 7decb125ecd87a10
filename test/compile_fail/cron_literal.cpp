// expect: non-.?constexpr.? function .*this_cron_literal_is_wrong.*day_of_month_and_day_of_week_both_given[;,] (long unsigned int Column = )?11
// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/cron/literal.hpp>

using namespace elasticjob::literals;

#ifdef BAD
constexpr auto nightly = "0 0 2 * * *"_cron;
#else
constexpr auto nightly = "0 0 2 * * ?"_cron;
#endif

int main() { return nightly.fires_in_every_hour() ? 1 : 0; }
