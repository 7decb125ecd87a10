// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/execution/run_record.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;
using namespace std::chrono_literals;

namespace {

wall_time at(std::int64_t ms) { return wall_time{std::chrono::milliseconds{ms}}; }

run_begin begin(std::int64_t due) { return {at(due), run_source::schedule, 1, "10.0.0.1@-@1-a", at(due + 3)}; }

run_record example() {
    run_record r;
    r.schedule = 17;
    r.through = at(5000);
    r.checkpoint = "row 7\nof \\ many";
    r.next_due = at(10'000);
    r.running = begin(0);
    r.end(run_outcome::failed, at(900), "no\nluck");
    r.running = {at(5000), run_source::failover, 2, "10.0.0.2@-@2-b", at(5001)};
    r.last_begun = at(5001);
    r.add_dead_letter(3);
    r.retry = run_retry{at(4000), run_source::misfire, 3, at(9000)};
    return r;
}

} // namespace

TEST_CASE("execution.run_record: a record that is written is read back") {
    for (auto const& r : {run_record{}, example()}) {
        auto const read = run_record::parse(r.to_text());
        REQUIRE(read);
        CHECK(*read == r);
    }
}

TEST_CASE("execution.run_record: its text is readable for people too, and stays as it is") {
    CHECK(example().to_text() == "elasticjob run 1\n"
                                 "schedule 17\n"
                                 "through 5000\n"
                                 "begun 5001\n"
                                 "completed 900\n"
                                 "next 10000\n"
                                 "checkpoint row 7\\nof \\\\ many\n"
                                 "entry 0 schedule 1 3 10.0.0.1@-@1-a failed 900 1 no\\nluck\n"
                                 "dead 0 schedule 1 3 10.0.0.1@-@1-a failed 900 1 no\\nluck\n"
                                 "retry 4000 misfire 3 9000\n"
                                 "running 5000 failover 2 5001 10.0.0.2@-@2-b\n");
}

TEST_CASE("execution.run_record: earlier entries of completed runs share a line, and the last three have their own") {
    run_record r;
    auto const run = [&](std::int64_t due, std::string instance, run_outcome how = run_outcome::completed) {
        r.running = run_begin{at(due), run_source::schedule, 1, std::move(instance), at(due + 3)};
        r.end(how, at(due + 20), how == run_outcome::completed ? "" : "no luck");
    };
    for (std::int64_t const due : {1000, 2000, 2500}) run(due, "10.0.0.1@-@1-a");
    run(4000, "10.0.0.2@-@2-b");
    run(5000, "10.0.0.2@-@2-b", run_outcome::failed);
    for (std::int64_t const due : {6000, 7000, 8000, 9000}) run(due, "10.0.0.2@-@2-b");
    CHECK(r.to_text() == "elasticjob run 1\n"
                         "schedule 0\n"
                         "through 0\n"
                         "completed 9020\n"
                         "entries 10.0.0.1@-@1-a 1000 3 17 1000 3 17 500 3 17\n"
                         "entries 10.0.0.2@-@2-b 4000 3 17\n"
                         "entry 5000 schedule 1 5003 10.0.0.2@-@2-b failed 5020 1 no luck\n"
                         "entries 10.0.0.2@-@2-b 6000 3 17\n"
                         "entry 7000 schedule 1 7003 10.0.0.2@-@2-b completed 7020 1 \n"
                         "entry 8000 schedule 1 8003 10.0.0.2@-@2-b completed 8020 1 \n"
                         "entry 9000 schedule 1 9003 10.0.0.2@-@2-b completed 9020 1 \n");
    CHECK(run_record::parse(r.to_text()).value() == r);
}

TEST_CASE("execution.run_record: only plain completed runs share a line") {
    run_entry const plain{begin(0), run_outcome::completed, at(900)};
    auto const is_shared = [&](run_entry const& e) {
        run_record r;
        r.ledger.assign(4, plain);
        r.ledger.front() = e;
        CHECK(run_record::parse(r.to_text()).value() == r);
        return r.to_text().find("\nentries ") != std::string::npos;
    };
    CHECK(is_shared(plain));
    for (auto const& change : std::initializer_list<void (*)(run_entry&)>{
             [](run_entry& e) { e.outcome = run_outcome::skipped; }, [](run_entry& e) { e.run.source = run_source::trigger; },
             [](run_entry& e) { e.run.attempt = 2; }, [](run_entry& e) { e.count = 2; },
             [](run_entry& e) { e.note = "n"; }}) {
        auto other = plain;
        change(other);
        CHECK_FALSE(is_shared(other));
    }
    auto back = plain; // the clock was put back during the run, and before it
    back.run.begun = at(-700);
    back.ended = at(-900);
    CHECK(is_shared(back));
}

TEST_CASE("execution.run_record: progress stands beside the run that goes on, and is no part of the record") {
    run_progress const progress{40, 100, at(5400)};
    auto r = example();
    auto const text = r.to_text(&progress);
    CHECK(text.ends_with("running 5000 failover 2 5001 10.0.0.2@-@2-b\nprogress 5400 40 100\n"));
    CHECK(run_record::parse_progress(text) == progress);
    CHECK(run_record::parse(text).value() == r); // as members read it that do not know the line
    CHECK_FALSE(run_record::parse_progress(r.to_text()));
    r.checkpoint = "x\nprogress 1 2 3\nrunning";
    CHECK_FALSE(run_record::parse_progress(r.to_text()));
    r.end(run_outcome::completed, at(6000));
    CHECK_FALSE(run_record::parse_progress(r.to_text(&progress)));
}

TEST_CASE("execution.run_record: malformed progress is ignored and harms nothing") {
    auto const text = example().to_text();
    for (auto const* bad :
         {"progress", "progress ", "progress x 2 3", "progress 1 -2 3", "progress 1 2", "progress 1 2 x",
          "progress 9999999999999999999 2 3", "progress 1 2 18446744073709551616"}) {
        INFO(bad);
        auto const with = text + bad + "\n";
        CHECK_FALSE(run_record::parse_progress(with));
        CHECK(run_record::parse(with).value() == example());
    }
    CHECK(run_record::parse_progress(text + "progress 1 2 3") == run_progress{2, 3, at(1)});
}

TEST_CASE("execution.run_record: a malformed text is refused") {
    for (auto const* bad :
         {"", "x", "elasticjob run 2\n", "elasticjob run 1\nthrough x\n", "elasticjob run 1\nrunning 1 schedule 1 2\n",
          "elasticjob run 1\nrunning 1 never 1 2 i\n", "elasticjob run 1\nretry 1 schedule 2 x\n",
          "elasticjob run 1\ndead 1 schedule 2 3 i failed x 1 \n",
          "elasticjob run 1\nentry 0 schedule 1 3 i finished 900 1 \n", "elasticjob run 1\nentries \n",
          "elasticjob run 1\nentries  1 2 3\n", "elasticjob run 1\nentries i\n", "elasticjob run 1\nentries i 1 2\n",
          "elasticjob run 1\nentries i 1 2 3 4\n", "elasticjob run 1\nentries i 1 2 x\n"}) {
        INFO(bad);
        auto const read = run_record::parse(bad);
        REQUIRE_FALSE(read);
        CHECK(read.error() == errc::malformed_data);
    }
    CHECK(run_record::parse("elasticjob run 1\nlater-versions know this\n"));
}

TEST_CASE("execution.run_record: the ledger keeps the last entries, and consecutive skips are one entry") {
    run_record r;
    for (std::int64_t n = 0; n < 100; ++n) {
        r.running = begin(n * 1000);
        r.end(run_outcome::completed, at(n * 1000 + 5));
    }
    REQUIRE(r.ledger.size() == run_record::ledger_max);
    CHECK(r.ledger.back().run.due == at(99'000));
    CHECK(r.last_completed == at(99'005));
    for (std::int64_t n = 100; n < 200; ++n) r.add({begin(n * 1000), run_outcome::skipped, at(n), 2, "disabled"});
    CHECK(r.ledger.back().count == 200);
    CHECK(r.ledger.back().run.due == at(199'000));
    r.add({begin(200'000), run_outcome::skipped, at(0), 1, "too_late"});
    CHECK(r.ledger.back().count == 1);
    r.add({begin(0), run_outcome::skipped, at(0), 1, std::string(5000, 'x')});
    CHECK(r.ledger.back().note.size() == run_record::note_bytes_max);
    std::string accents{"x"};
    for (int n = 0; n < 200; ++n) accents += "\xc3\xa9";
    r.add({begin(0), run_outcome::failed, at(0), 1, accents});
    CHECK(r.ledger.back().note == accents.substr(0, run_record::note_bytes_max - 1)); // no half of a character
    r.add({begin(0), run_outcome::failed, at(0), 1, std::string(5000, '\x80')});
    CHECK(r.ledger.back().note.size() == run_record::note_bytes_max - 3);
}

TEST_CASE("execution.run_record: an order that is skipped is not counted among the due instants beside it") {
    run_record r;
    auto const skip = [&](std::int64_t ms, run_source source, std::uint64_t count) {
        r.add({{at(ms), source, 1, "10.0.0.1@-@1", at(9'000)}, run_outcome::skipped, at(9'000), count, "disabled"});
    };
    skip(1'000, run_source::schedule, 1);
    skip(8'500, run_source::trigger, 1);
    skip(8'600, run_source::trigger, 1);
    skip(8'000, run_source::schedule, 3);
    skip(9'000, run_source::misfire, 1);
    REQUIRE(r.ledger.size() == 3);
    CHECK(r.ledger[0].count == 1);
    CHECK(r.ledger[1].count == 2);
    CHECK(r.ledger[1].run.due == at(8'600));
    CHECK(r.ledger[2].count == 4);
    CHECK(r.ledger[2].run.due == at(9'000));
}

TEST_CASE("execution.run_record: a pending retry holds back the settled instant; an order does not") {
    run_record r;
    r.through = at(5000);
    CHECK(r.settled_through() == at(5000));
    r.running = begin(5000);
    CHECK(r.settled_through() == at(4999));
    r.end_for_retry(at(5010), "no luck", {at(5000), run_source::schedule, 2, at(6000)});
    CHECK(r.retry == run_retry{at(5000), run_source::schedule, 2, at(6000)});
    CHECK(r.ledger.back().outcome == run_outcome::retried);
    CHECK_FALSE(r.last_completed); // it counts as running until it is settled
    CHECK(r.settled_through() == at(4999));
    r.retry.reset();
    r.running = {at(1000), run_source::trigger, 1, "10.0.0.1@-@1-a", at(6001)};
    CHECK(r.settled_through() == at(5000));
}

TEST_CASE("execution.run_record: a run that was stopped while another run waits for its retry has a place of its own") {
    run_record r;
    r.through = at(5000);
    r.retry = run_retry{at(4000), run_source::schedule, 2, at(9000)};
    r.running = run_begin{at(6000), run_source::trigger, 1, "10.0.0.1@-@1-a", at(6001)};
    r.end_for_retry(at(6010), "asked to stop", {at(6000), run_source::trigger, 2, at(6010)});
    CHECK(r.retry == run_retry{at(4000), run_source::schedule, 2, at(9000)});
    CHECK(r.resume == run_retry{at(6000), run_source::trigger, 2, at(6010)});
    CHECK(r.to_text().ends_with("retry 4000 schedule 2 9000\nresume 6000 trigger 2 6010\n"));
    CHECK(run_record::parse(r.to_text()).value() == r);
    CHECK(r.settled_through() == at(3999));
    CHECK_FALSE(run_record::parse("elasticjob run 1\nresume 1 schedule 2 x\n"));
}

TEST_CASE("execution.run_record: only the last dead letters are kept") {
    run_record r;
    for (std::int64_t n = 0; n < 5; ++n) {
        r.running = begin(n * 1000);
        r.end(run_outcome::failed, at(n * 1000 + 5), "no luck");
        r.add_dead_letter(3);
    }
    REQUIRE(r.dead_letters.size() == 3);
    CHECK(r.dead_letters.front().run.due == at(2000));
    CHECK(r.dead_letters.back() == r.ledger.back());
    r.add_dead_letter(0);
    CHECK(r.dead_letters.size() == 3);
}

TEST_CASE("execution.run_record: an instant beyond the computable range is refused") {
    for (auto const* ms : {"9223372036854775807", "-9223372036854775808", "850000000000000000", "9223372036854",
                           "-9223372036854", "8110195200000", "-31536000001"}) {
        INFO(ms);
        for (std::string const line : {"through ", "begun ", "completed ", "next "}) {
            auto const read = run_record::parse("elasticjob run 1\n" + line + ms + "\n");
            REQUIRE(!read);
            CHECK(read.error() == errc::malformed_data);
        }
        CHECK(!run_record::parse("elasticjob run 1\nrunning " + std::string{ms} + " schedule 1 5 i\n"));
        CHECK(!run_record::parse("elasticjob run 1\nretry 5 schedule 1 " + std::string{ms} + "\n"));
    }
    CHECK(run_record::parse("elasticjob run 1\nthrough 8100000000000\nnext -31536000000\n"));
    CHECK(run_record::parse("elasticjob run 1\nentries i 8100000000000 -8100000000000 0\n"));
    for (auto const* times : {"8100000000000 8100000000000 0", "0 0 9223372036854775807", "-9223372036854775808 0 0",
                              "0 -31536000001 0", "8100000000000 0 0 8100000000000 0 0"}) {
        INFO(times);
        CHECK(!run_record::parse("elasticjob run 1\nentries i " + std::string{times} + "\n"));
    }
}

TEST_CASE("execution.run_record: too many lines are refused before any is read, and a bad one is reported in one short "
          "line") {
    std::string many = "elasticjob run 1\n";
    for (int i = 0; i < 18'000; ++i) many += "entry 1 schedule 1 2 10.0.0.1@-@1 completed 3 1 note\n";
    auto const read = run_record::parse(many);
    REQUIRE(!read);
    CHECK(read.error().what == "a run record has at most 500 lines, not 18001");
    std::string in_one_line = "elasticjob run 1\nentries i";
    for (int i = 0; i < 501; ++i) in_one_line += " 1 2 3";
    CHECK(!run_record::parse(in_one_line));
    CHECK(run_record::parse(in_one_line.substr(0, in_one_line.size() - 6)).value().ledger.size() == 500);
    auto const long_line = run_record::parse("elasticjob run 1\nthrough \x1b" + std::string(100'000, 'x') + "\n");
    REQUIRE(!long_line);
    CHECK(to_string(long_line.error()).size() < 300);
    CHECK(long_line.error().where.starts_with("through \\x1bxxx"));
    // More entries than are kept are dropped at once when one is added.
    auto r =
        run_record::parse(many.substr(0, many.find('\n') + 1 + 400 * (many.find('\n', 20) - many.find('\n')))).value();
    CHECK(r.ledger.size() == 400);
    r.running = begin(0);
    r.end(run_outcome::completed, at(5));
    CHECK(r.ledger.size() == run_record::ledger_max);
    CHECK(r.ledger.back().run.due == at(0));
}
