// SPDX-License-Identifier: Apache-2.0
// Parses run records and the other small nodes that contain instants. A text is refused with a short error, or it can
// be written and read again, and all functions of the value have defined results.
#include <elasticjob/config/followed_rounds.hpp>
#include <elasticjob/execution/job_pauses.hpp>
#include <elasticjob/execution/round_ends.hpp>
#include <elasticjob/execution/run_record.hpp>
#include <elasticjob/execution/stop_request.hpp>

#include "properties.hpp"

#include <string>

namespace {

using namespace elasticjob;

void check_refused(error const& e) {
    fuzz::require(e == errc::malformed_data, "the code is the promised one");
    fuzz::require(to_string(e).size() < 500, "the error is short");
}

void check_record(run_record r) {
    auto const text = r.to_text();
    auto const again = run_record::parse(text);
    fuzz::require(again && *again == r, "a record that was read is written so that it is read as the same");
    (void)item_rounds{r}.part_in(r.through);
    (void)ended_rounds({item_rounds{r}, item_rounds{r}}, wall_time{});
    fuzz::require(r.settled_through() <= r.through, "what is settled is not more than what has been dealt with");
    wall_time const now{std::chrono::seconds{1'800'000'000}};
    for (auto const& e : r.ledger) {
        (void)(now - e.ended);
        (void)(e.ended - e.run.due);
    }
    if (!r.running) return;
    (void)(now - r.running->due);
    auto other = r;
    other.end_for_retry(now, "again", {now, run_source::misfire, 2, now});
    r.end(run_outcome::failed, now, std::string(300, 'x'));
    r.add_dead_letter(3);
    fuzz::require(r.ledger.size() <= run_record::ledger_max && r.dead_letters.size() <= 3, "a record has its limits");
    auto const written = run_record::parse(r.to_text());
    fuzz::require(written && *written == r, "what has ended is read as the same");
}

void check_pauses(job_pauses p) {
    auto const text = p.to_text();
    auto const again = job_pauses::parse(text);
    fuzz::require(again && again->to_text() == text, "pauses that were read are read as the same again");
    wall_time const now{std::chrono::seconds{1'800'000'000}};
    auto const paused = p.pause("10.0.0.7", now);
    fuzz::require(!paused || p.in_force("10.0.0.7"), "a pause is in force");
    if (paused) fuzz::require(p.resume("10.0.0.7", now), "a pause that is in force can be ended");
    fuzz::require(p.all().size() <= job_pauses::pauses_max, "pauses have a limit");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    auto const text = fuzz::text_of(data, size);
    if (auto const r = run_record::parse(text))
        check_record(*r);
    else
        check_refused(r.error());
    if (auto rounds = followed_rounds::parse(text)) {
        auto const again = followed_rounds::parse(rounds->to_text());
        fuzz::require(again && *again == *rounds, "rounds that were read are read as the same again");
        rounds->add(wall_time{std::chrono::seconds{1'800'000'000}}, wall_time{std::chrono::seconds{1'800'000'001}});
        fuzz::require(rounds->rounds.size() <= followed_rounds::lines_max, "rounds have a limit");
    } else {
        check_refused(rounds.error());
    }
    if (auto const p = job_pauses::parse(text))
        check_pauses(*p);
    else
        check_refused(p.error());
    if (auto const due = parse_stop_request(text)) {
        auto const again = parse_stop_request(stop_request_text(*due));
        fuzz::require(again == due, "a request to stop is read as the same again");
    }
    return 0;
}
