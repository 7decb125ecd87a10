// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/command_line/run_end.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;
using namespace std::chrono_literals;

namespace {

wall_time at(std::chrono::seconds t) { return wall_time{1'767'225'600s + t}; }

run_entry entry(run_source source, std::uint32_t attempt, std::chrono::seconds due, run_outcome outcome) {
    return {{at(due), source, attempt, "10.0.0.1@-@1", at(due)}, outcome, at(due + 3s)};
}

} // namespace

TEST_CASE("command_line.run_end: the end of a triggered run is seen if another instance repeats it after a death") {
    cli::awaited_runs runs{{0}, run_source::trigger};
    run_record record;
    record.ledger = {entry(run_source::schedule, 1, 0s, run_outcome::retried),
                     entry(run_source::failover, 2, 0s, run_outcome::completed)}; // of another run
    runs.begin(0, record);
    record.ledger.push_back(entry(run_source::trigger, 1, 5s, run_outcome::retried));
    runs.take(0, record);
    CHECK_FALSE(runs.is_over(cli::wanted_end::either));
    record.ledger.push_back(entry(run_source::failover, 2, 5s, run_outcome::failed));
    runs.take(0, record);
    CHECK(runs.is_over(cli::wanted_end::either));
    CHECK(runs.has_failed());

    cli::awaited_runs later{{0}, run_source::trigger};
    later.begin(0, record); // ended already
    later.take(0, record);
    CHECK_FALSE(later.is_over(cli::wanted_end::either));
}
