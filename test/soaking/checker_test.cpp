// SPDX-License-Identifier: Apache-2.0
#include <soaking/soak_checker.hpp>

#include <soaking/soak_plan.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

constexpr std::int64_t first_ms = 1'000'000'000'000; // due instants are whole seconds; steps of two of them

/// A small log: a job of one item with failover, two workers, and the lines that a test plants.
class planted_log {
public:
    explicit planted_log(char const* kind = "full") {
        say("driver - limits 2000 500 1000");
        say("driver j job 1 2 1 " + std::string{kind});
        say("driver - started a 10.0.0.1 j");
        say("driver - started b 10.0.0.2 j");
        say("a j joined " + id_of_a + " 0xa");
        say("b j joined " + id_of_b + " 0xb");
        say("tree j leader " + id_of_a);
        say("driver j accounted " + std::to_string(first_ms));
    }

    std::string const id_of_a = "10.0.0.1@-@1-a", id_of_b = "10.0.0.2@-@2-b";

    /// Each line comes one second after the one before, unless a test sets the time.
    void say(std::string const& text, std::int64_t after_us = 1'000'000) {
        now_us_ += after_us;
        auto const l = soak_line::parse(std::to_string(now_us_) + " " + text);
        REQUIRE(l.has_value());
        checker_.take(*l);
    }

    /// A body of `who` begins for that due instant.
    void begins(std::string const& who, std::int64_t due, std::int64_t token, unsigned attempt = 1) {
        say(who + " j runs 0 " + std::to_string(due) + " - " + std::to_string(token) + " " + std::to_string(attempt));
    }
    void ends(std::string const& who, std::int64_t due, std::int64_t token) {
        say(who + " j ran 0 " + std::to_string(due) + " done " + std::to_string(token));
    }

    /// The item's record is written.
    void writes(run_record const& r, std::int64_t revision) {
        record_ = r;
        say("tree j record 0 " + std::to_string(++version_) + " " + std::to_string(revision) + " " +
            escaped(r.to_text()));
    }

    /// A record is written and not seen.
    void skip_version() { ++version_; }

    run_begin run_of(std::string const& id, std::int64_t due, std::uint32_t attempt = 1) const {
        auto const at = wall_time{std::chrono::milliseconds{due}};
        return {at, attempt > 1 ? run_source::failover : run_source::schedule, attempt, id, at};
    }
    static run_entry entry(run_begin const& run, run_outcome outcome, std::uint64_t count = 1) {
        return {run, outcome, run.due, count, {}};
    }
    run_record record_through(std::int64_t due) const {
        auto r = record_.value_or(run_record{});
        r.schedule = 1;
        r.running.reset();
        r.through = wall_time{std::chrono::milliseconds{due}};
        return r;
    }

    /// A complete, correct run.
    void runs(std::string const& who, std::int64_t due, std::int64_t token) {
        auto const id = who == "a" ? id_of_a : id_of_b;
        auto r = record_through(due);
        r.running = run_of(id, due);
        writes(r, token);
        begins(who, due, token);
        ends(who, due, token);
        completes(id, due);
    }
    /// A complete run of `a`, whose record shows another schedule from then on.
    void runs_by_new_schedule(std::int64_t due, std::int64_t token) {
        auto r = record_through(due);
        r.schedule = 2;
        r.running = run_of(id_of_a, due);
        writes(r, token);
        begins("a", due, token);
        ends("a", due, token);
        r.end(run_outcome::completed, r.running->due);
        writes(r, token + 1);
    }
    void completes(std::string const& id, std::int64_t due, std::uint32_t attempt = 1) {
        auto r = record_through(due);
        r.add(entry(run_of(id, due, attempt), run_outcome::completed));
        writes(r, 900 + version_);
    }

    /// `a` dies in a run for that instant, and `b` takes over. Returns the record with the live run.
    run_record interrupts(std::int64_t due, std::int64_t token) {
        auto r = record_through(due);
        r.running = run_of(id_of_a, due);
        writes(r, token);
        begins("a", due, token);
        say("driver - killed a");
        say("tree j leader " + id_of_b);
        owner = id_of_b;
        return r;
    }

    /// The nodes that a settled job has, without those that a test leaves out; then the checker judges.
    void rests(std::set<std::string> const& without = {}, std::vector<std::string> const& more = {}) {
        say("driver - rest " + std::to_string(soak_ms(record_ ? record_->through : wall_time{}) + late_ms));
        auto const node = [&](std::string const& path, std::string const& session, std::string const& data) {
            if (!without.contains(path)) say("tree j node " + path + " " + session + " " + escaped(data), 0);
        };
        node("instances/" + id_of_a, "0xa", "");
        node("instances/" + id_of_b, "0xb", "");
        node("leader/election/instance", "0xa", id_of_a);
        node("sharding/0/instance", "-", owner);
        if (record_) node("ext/run/0", "-", record_->to_text());
        for (auto const& text : more) say("tree j node " + text, 0);
        say("driver - rested", 0);
    }
    std::string owner = id_of_a;
    std::int64_t late_ms = 0; ///< behind what the record says

    /// One write was too short-lived to be seen.
    void misses_a_record() { ++version_; }

    void leaves(std::vector<std::string> const& left) {
        say("driver - rest 0");
        for (auto const& text : left) say("tree j node " + text, 0);
        say("driver - over", 0);
    }

    /// The rule of the only violation; `none`, or all of them, if there is another number of them.
    std::int64_t now_us() const { return now_us_; }
    std::string const& lost_write() const { return checker_.lost_write(); }
    std::string verdict() const {
        auto const& all = checker_.violations();
        if (all.size() == 1) return all.front().rule;
        std::string text;
        for (auto const& v : all) text += v.rule + " " + v.what + "; ";
        return text.empty() ? "none" : text;
    }
    std::string what() const { return checker_.violations().empty() ? "" : checker_.violations().front().what; }
    soak_totals const& totals() const { return checker_.totals(); }

private:
    std::int64_t now_us_ = 1'000'000'000, version_ = 0;
    std::optional<run_record> record_;
    soak_checker checker_;
};

constexpr std::int64_t second_ms = first_ms + 2000, third_ms = first_ms + 4000;

} // namespace

TEST_CASE("soak_checker: a correct log has no violation, and its events are counted") {
    planted_log log;
    log.runs("a", first_ms, 10);
    log.runs("a", second_ms, 20);
    log.rests();
    log.leaves({"config - x", "ext/run/0 - -"});
    CHECK(log.verdict() == "none");
    CHECK(log.totals().counts.at("runs") == 2);
    CHECK(log.totals().counts.at("firings") == 2);
    CHECK(log.totals().longest_item_gap_us == 4'000'000);
}

TEST_CASE("soak_checker: I1, two runs at once") {
    planted_log log;
    log.runs("a", first_ms, 10);
    auto r = log.record_through(second_ms);
    r.running = log.run_of(log.id_of_a, second_ms);
    log.writes(r, 20);
    log.begins("a", second_ms, 20);
    SUBCASE("with a newer token, while the first one is awake") {
        log.begins("b", second_ms, 30, 2);
        log.ends("a", second_ms, 20);
        log.say("a j fenced 0 " + std::to_string(second_ms) + " 20");
        log.rests();
        CHECK(log.what().find("two runs at once of item 0: a with token 20, b with token 30") == 0);
    }
    SUBCASE("with one token") {
        log.ends("a", second_ms, 20);
        log.begins("b", second_ms, 20);
        log.rests();
        CHECK(log.what().find("one token for two runs of item 0") == 0);
    }
    SUBCASE("with a smaller token") {
        log.ends("a", second_ms, 20);
        log.begins("b", second_ms, 15);
        log.ends("b", second_ms, 15);
        log.rests();
        CHECK(log.what().find("two runs at once of item 0: b with token 15, a with token 20") == 0);
    }
}

TEST_CASE("soak_checker: I1 and I2, a run that was overtaken while its process slept must be fenced") {
    for (bool const is_fenced : {true, false}) {
        CAPTURE(is_fenced);
        planted_log log;
        auto r = log.record_through(first_ms);
        r.running = log.run_of(log.id_of_a, first_ms);
        log.writes(r, 10);
        log.begins("a", first_ms, 10);
        log.say("driver - frozen a");
        r.end(run_outcome::retried, r.running->due);
        r.running = log.run_of(log.id_of_b, first_ms, 2);
        log.writes(r, 20);
        log.begins("b", first_ms, 20, 2);
        log.say("driver - thawed a");
        log.ends("a", first_ms, 10);
        if (is_fenced) log.say("a j fenced 0 " + std::to_string(first_ms) + " 10");
        log.ends("b", first_ms, 20);
        log.completes(log.id_of_b, first_ms, 2);
        log.say("driver - fault nothing", 40'000'000);
        log.rests();
        CHECK(log.verdict() == (is_fenced ? "none" : "I2"));
    }
}

TEST_CASE("soak_checker: I2, the end of a run that did not begin, did not end, or was fenced") {
    planted_log log;
    log.say("driver - frozen a"); // this excuses the rest
    log.say("driver - thawed a");
    SUBCASE("did not begin") {}
    SUBCASE("did not end") { log.begins("a", first_ms, 10); }
    SUBCASE("was fenced") {
        log.begins("a", first_ms, 10);
        log.ends("a", first_ms, 10);
        log.say("a j fenced 0 " + std::to_string(first_ms) + " 10");
    }
    log.completes(log.id_of_a, first_ms);
    log.rests();
    CHECK(log.verdict() == "I2");
}

TEST_CASE("soak_checker: I2, the body of a run that was asked to stop before that is not called") {
    for (bool const is_called : {false, true}) {
        planted_log log;
        CAPTURE(is_called);
        if (is_called) {
            log.begins("a", first_ms, 10);
            log.ends("a", first_ms, 10);
        }
        auto r = log.record_through(first_ms);
        auto stopped = planted_log::entry(log.run_of(log.id_of_a, first_ms), run_outcome::failed);
        stopped.note = "job_failed: the run was asked to stop (ordered) before its body was called (j)";
        r.add(stopped);
        log.writes(r, 20);
        log.rests();
        CHECK(log.verdict() == (is_called ? "I2" : "none"));
    }
}

TEST_CASE("soak_checker: I4, an instant without an outcome") {
    planted_log log;
    log.runs("a", first_ms, 10);
    log.runs("a", third_ms, 20);
    log.rests();
    CHECK(log.verdict() == "I4");
    CHECK(log.what() == "item 0: nothing became of what was due " + std::to_string(second_ms));
}

TEST_CASE("soak_checker: I4, an instant is accounted for if a later run made up for it, or if it was skipped") {
    for (auto const outcome : {run_outcome::coalesced, run_outcome::skipped}) {
        planted_log log;
        log.runs("a", first_ms, 10);
        auto r = log.record_through(third_ms);
        r.add(planted_log::entry(log.run_of(log.id_of_a, third_ms), outcome, 2));
        log.writes(r, 20);
        log.rests();
        CHECK(log.verdict() == "none");
    }
}

TEST_CASE("soak_checker: I4, a clock that is ahead skips instants of the schedule in force, whatever comes after it") {
    planted_log log; // due each 2 s, and each 5 s from the time on that the clock has skipped to
    log.runs("a", first_ms, 10);
    auto r = log.record_through(first_ms + 6000);
    r.add(planted_log::entry(log.run_of(log.id_of_a, first_ms + 6000), run_outcome::skipped, 3));
    log.writes(r, 20);
    log.say("driver j edited " + std::to_string(first_ms + 5500) + " 5");
    log.runs("a", first_ms + 10'000, 30);
    log.rests();
    CHECK(log.verdict() == "none");
}

TEST_CASE("soak_checker: I4, a clock that is ahead handles instants of a schedule that it does not know yet") {
    planted_log log; // due each 2 s, and each 5 s from a time on that the clock has passed
    for (int n = 0; n < 4; ++n) log.runs("a", first_ms + n * 2000, 10 + n);
    log.say("driver j edited " + std::to_string(first_ms + 2500) + " 5");
    log.rests();
    CHECK(log.verdict() == "none");
}

TEST_CASE("soak_checker: I4, a clock that was behind skips instants of a schedule from before its beginning") {
    for (bool const is_edited : {true, false}) {
        planted_log log; // due each 2 s, and each second from a time on that the clock had not reached
        CAPTURE(is_edited);
        for (int n = 0; n < 3; ++n) log.runs("a", first_ms + n * 2000, 10 + n);
        if (is_edited) log.say("driver j edited " + std::to_string(first_ms + 6500) + " 1");
        auto r = log.record_through(first_ms + 6000);
        if (is_edited) r.schedule = 2;
        r.add(planted_log::entry(log.run_of(log.id_of_a, first_ms + 6000), run_outcome::skipped, 2));
        log.writes(r, 20); // by the schedule of each second
        if (is_edited)
            log.runs_by_new_schedule(first_ms + 7000, 30);
        else
            log.runs("a", first_ms + 8000, 30);
        log.rests();
        CHECK((log.verdict() == "none") == is_edited);
    }
}

TEST_CASE("soak_checker: I4, a clock that was behind drops instants of a schedule that was over") {
    for (bool const is_edited : {true, false}) {
        planted_log log; // due each 2 s, and each 5 s from a time on that the clock had not reached
        CAPTURE(is_edited);
        log.runs("a", first_ms, 10);
        log.rests();
        if (is_edited) log.say("driver j edited " + std::to_string(first_ms + 8500) + " 5");
        log.say("driver - fault step_clock", 9'000'000);
        log.runs_by_new_schedule(first_ms + 5000, 20);
        log.rests();
        CHECK((log.verdict() == "none") == is_edited);
    }
}

TEST_CASE("soak_checker: I4, an edit of another field hides no change of the schedule before it") {
    planted_log log; // due each 2 s, and each 5 s from a time on that the clock has passed
    for (int n = 0; n < 4; ++n) log.runs("a", first_ms + n * 2000, 10 + n);
    log.say("driver j edited " + std::to_string(first_ms + 2500) + " 5");
    log.say("driver j edited " + std::to_string(first_ms + 8000) + " 5");
    log.runs_by_new_schedule(first_ms + 10'000, 20);
    log.rests();
    CHECK(log.verdict() == "none");
}

TEST_CASE("soak_checker: I4, an item that nobody had while the schedule changed there and back skips what the first "
          "one has") {
    planted_log log; // due each 2 s, and each 5 s between two changes
    log.runs("a", first_ms, 10);
    log.say("driver j edited " + std::to_string(first_ms + 2500) + " 5");
    log.say("driver j edited " + std::to_string(first_ms + 12'500) + " 2");
    auto r = log.record_through(second_ms);
    r.add(planted_log::entry(log.run_of(log.id_of_a, second_ms), run_outcome::skipped));
    log.writes(r, 20);
    r = log.record_through(first_ms + 14'000);
    auto late = planted_log::entry(log.run_of(log.id_of_b, first_ms + 14'000), run_outcome::skipped, 6);
    r.add(late);
    log.writes(r, 30);
    log.rests();
    CHECK(log.verdict() == "none");
}

TEST_CASE("soak_checker: I4, a schedule that came back has dropped what was due before it went, and nothing later") {
    for (bool const is_later : {false, true}) {
        planted_log log; // due each 2 s, and each 5 s between two changes
        CAPTURE(is_later);
        log.runs("a", first_ms, 10);
        log.say("driver j edited " + std::to_string(second_ms + 500) + " 5"); // b knows it, and has nothing to write
        log.say("driver j edited " + std::to_string(second_ms + 1500) + " 2");
        log.runs("b", second_ms + 2000, 20);
        log.runs("b", second_ms + (is_later ? 6000 : 4000), 30);
        log.rests();
        CHECK(log.verdict() == (is_later ? "I4" : "none"));
    }
}

TEST_CASE("soak_checker: I4, an instant that the change of a schedule has dropped is no loss, another one is") {
    for (bool const is_edited : {true, false}) {
        planted_log log;
        log.runs("a", first_ms, 10);
        if (is_edited) log.say("driver j edited " + std::to_string(third_ms - 500) + " 1");
        log.runs_by_new_schedule(third_ms, 20);
        log.rests();
        CHECK(log.verdict() == (is_edited ? "none" : "I4"));
    }
}

TEST_CASE("soak_checker: I4, an instant of a schedule that was over before the item learned of it is no loss") {
    for (std::int64_t const began : {third_ms - 500, second_ms - 500}) {
        planted_log log; // due each 2 s, and each 5 s between two changes
        CAPTURE(began);
        log.runs("a", first_ms, 10);
        log.say("driver j edited " + std::to_string(began) + " 5");
        log.say("driver j edited " + std::to_string(first_ms + 5'500) + " 2");
        log.runs("a", began < second_ms ? first_ms + 6000 : second_ms, 20);
        if (began > second_ms) log.runs("a", first_ms + 6000, 30);
        log.rests();
        CHECK(log.verdict() == "none"); // the instant after 5 s
    }
}

TEST_CASE("soak_checker: I4, an instant that is on record twice, or runs though it was skipped") {
    planted_log log;
    log.runs("a", first_ms, 10);
    SUBCASE("twice") {
        auto r = log.record_through(first_ms);
        r.add(planted_log::entry(log.run_of(log.id_of_b, first_ms), run_outcome::coalesced));
        log.writes(r, 20);
    }
    SUBCASE("skipped, and runs") {
        auto r = log.record_through(second_ms);
        r.add(planted_log::entry(log.run_of(log.id_of_a, second_ms), run_outcome::skipped));
        log.writes(r, 20);
        log.begins("a", second_ms, 30);
        log.ends("a", second_ms, 30);
    }
    log.rests();
    CHECK(log.verdict() == "I4");
}

TEST_CASE("soak_checker: I4, an interrupted run whose repetition is skipped") {
    planted_log log;
    log.runs("a", first_ms, 10);
    auto r = log.interrupts(second_ms, 20);
    r.end(run_outcome::retried, r.running->due);
    r.add(planted_log::entry(log.run_of(log.id_of_b, second_ms, 2), run_outcome::skipped));
    log.writes(r, 30);
    bool runs_all_the_same = false;
    SUBCASE("it does not run") {}
    SUBCASE("it runs all the same") {
        runs_all_the_same = true;
        log.begins("b", second_ms, 40, 2);
        log.ends("b", second_ms, 40);
    }
    log.rests({"instances/" + log.id_of_a, "leader/election/instance"},
              {"leader/election/instance 0xb " + log.id_of_b});
    CHECK(log.verdict() == (runs_all_the_same ? "I4" : "none"));
}

TEST_CASE("soak_checker: I4, two consecutive records that are no step of the protocol") {
    planted_log log;
    log.runs("a", first_ms, 10);
    log.runs("a", second_ms, 20);
    auto r = log.record_through(second_ms);
    r.running = log.run_of(log.id_of_a, first_ms); // which was dealt with
    log.writes(r, 30);
    CHECK(log.verdict() == "I4");
}

TEST_CASE("soak_checker: I5, an interrupted run is repeated or reported") {
    planted_log log;
    log.runs("a", first_ms, 10);
    auto r = log.interrupts(second_ms, 20);
    SUBCASE("it is") {
        r.end(run_outcome::retried, r.running->due);
        r.running = log.run_of(log.id_of_b, second_ms, 2);
        log.writes(r, 30);
        log.begins("b", second_ms, 30, 2);
        log.ends("b", second_ms, 30);
        log.completes(log.id_of_b, second_ms, 2);
        CHECK(log.totals().counts.at("failovers") == 1);
    }
    SUBCASE("it is not, although the job has failover") {
        r.end(run_outcome::interrupted, r.running->due);
        log.misses_a_record(); // so that two records behind each other do not tell
        log.writes(r, 30);
    }
    log.rests({"instances/" + log.id_of_a, "leader/election/instance"},
              {"leader/election/instance 0xb " + log.id_of_b});
    CHECK(log.verdict() == (log.totals().counts.contains("failovers") ? "none" : "I5"));
}

TEST_CASE("soak_checker: I5, a repetition that was undone before its body was called is not one") {
    planted_log log;
    log.runs("a", first_ms, 10);
    auto interrupted = log.interrupts(second_ms, 20);
    auto const repeat = [&](std::int64_t revision) {
        auto r = interrupted;
        r.end(run_outcome::retried, r.running->due);
        r.running = log.run_of(log.id_of_b, second_ms, 2);
        log.writes(r, revision);
    };
    repeat(30);
    interrupted.running->instance = nobody;
    log.writes(interrupted, 40);
    repeat(50);
    log.begins("b", second_ms, 50, 2);
    log.ends("b", second_ms, 50);
    log.completes(log.id_of_b, second_ms, 2);
    log.rests({"instances/" + log.id_of_a, "leader/election/instance"},
              {"leader/election/instance 0xb " + log.id_of_b});
    CHECK(log.verdict() == "none");
}

TEST_CASE("soak_checker: I5, a run is repeated although its process was healthy") {
    planted_log log;
    auto r = log.record_through(first_ms);
    r.running = log.run_of(log.id_of_a, first_ms);
    log.writes(r, 10);
    log.begins("a", first_ms, 10);
    log.ends("a", first_ms, 10);
    r.end(run_outcome::retried, r.running->due);
    r.running = log.run_of(log.id_of_b, first_ms, 2);
    log.writes(r, 20);
    log.begins("b", first_ms, 20, 2);
    log.ends("b", first_ms, 20);
    log.completes(log.id_of_b, first_ms, 2);
    log.rests();
    CHECK(log.verdict() == "I5");
}

TEST_CASE("soak_checker: I6, a process that crashed") {
    planted_log log;
    log.say("driver - crashed a signal\\s11");
    CHECK(log.verdict() == "I6");
}

TEST_CASE("soak_checker: I7, an order that was not carried out") {
    planted_log log;
    log.say("driver j ordered 77 " + std::to_string(second_ms));
    auto r = log.record_through(first_ms);
    r.obeyed = 77;
    SUBCASE("it was") {}
    SUBCASE("it was not") { r.obeyed = 76; }
    r.running = log.run_of(log.id_of_a, first_ms);
    log.writes(r, 10);
    log.begins("a", first_ms, 10);
    log.ends("a", first_ms, 10);
    log.completes(log.id_of_a, first_ms);
    log.rests();
    CHECK(log.verdict().find(r.obeyed == 77 ? "none" : "I3 not at rest: j: item 0 has an order left; I7") == 0);
}

TEST_CASE("soak_checker: I3, I6, I9 and I10, a job that is not at rest") {
    planted_log log;
    log.runs("a", first_ms, 10);
    std::string expected;
    SUBCASE("no leader") {
        log.rests({"leader/election/instance"});
        expected = "no leader";
    }
    SUBCASE("an item without an owner") {
        log.rests({"sharding/0/instance"});
        expected = "item 0 has no owner who is there";
    }
    SUBCASE("an owner that is gone") {
        log.owner = "10.0.0.9@-@9-z";
        log.rests();
        expected = "item 0 has no owner who is there";
    }
    SUBCASE("an instance without a node") {
        log.rests({"instances/" + log.id_of_b});
        expected = "b has no node: " + log.id_of_b;
    }
    SUBCASE("a node without a process") {
        log.rests({}, {"instances/10.0.0.9@-@9-z 0xf -"});
        expected = "no process stands behind instances/10.0.0.9@-@9-z";
    }
    SUBCASE("a mark without a run") {
        log.rests({}, {"sharding/0/running 0xa " + log.id_of_a});
        expected = "no run stands behind sharding/0/running";
    }
    SUBCASE("a sharding that is still asked for") {
        log.rests({}, {"leader/sharding/necessary - -"});
        expected = "a sharding is asked for";
    }
    SUBCASE("a run of a gone instance") {
        auto r = log.record_through(second_ms);
        r.running = log.run_of("10.0.0.9@-@9-z", second_ms);
        log.writes(r, 20);
        log.rests();
        expected = "item 0 is on record as run by 10.0.0.9@-@9-z, which is gone";
    }
    CHECK(log.verdict() == "I3");
    CHECK(log.what() == "not at rest: j: " + expected);
}

TEST_CASE("soak_checker: I6, an item whose instants are not handled in time") {
    planted_log log;
    log.runs("a", first_ms, 10);
    log.late_ms = 60'000;
    log.rests();
    CHECK(log.what() == "not at rest: j: item 0 is behind: " + std::to_string(first_ms));
}

TEST_CASE("soak_checker: at rest, a mark with a current run is correct") {
    planted_log log;
    log.runs("a", first_ms, 10);
    auto r = log.record_through(second_ms);
    r.running = log.run_of(log.id_of_a, second_ms);
    log.writes(r, 20);
    log.begins("a", second_ms, 20);
    log.rests({}, {"sharding/0/running 0xa " + log.id_of_a});
    CHECK(log.verdict() == "none");
}

TEST_CASE("soak_checker: at rest, a mark that was read before its run ended is correct") {
    planted_log log;
    log.runs("a", first_ms, 10);
    auto const before_us = log.now_us();
    auto r = log.record_through(second_ms);
    r.running = log.run_of(log.id_of_a, second_ms);
    log.writes(r, 20);
    log.begins("a", second_ms, 20);
    auto const begun_us = log.now_us();
    log.ends("a", second_ms, 20);
    auto const ended_us = log.now_us();
    log.completes(log.id_of_a, second_ms);
    std::int64_t asked_us = 0;
    SUBCASE("just before its body began") { asked_us = begun_us - 900'000; }
    SUBCASE("during its body") { asked_us = begun_us + 1; }
    SUBCASE("before the run") { asked_us = before_us; }
    SUBCASE("after the run") { asked_us = ended_us + 1; }
    bool const is_of_run = asked_us > before_us && asked_us <= ended_us;
    log.rests({}, {"sharding/0/running 0xa " + log.id_of_a + " 0 " + std::to_string(asked_us)});
    CHECK(log.verdict() == (is_of_run ? "none" : "I3"));
}

TEST_CASE("soak_checker: no leader for longer than a session time-out and a tick") {
    planted_log log;
    std::string expected = "I3";
    SUBCASE("while another instance was healthy") {}
    SUBCASE("while the servers were not whole") {
        log.say("driver - disturbed kill_server");
        expected = "none";
    }
    SUBCASE("while no other instance was healthy") {
        log.say("driver - frozen b");
        expected = "none";
    }
    SUBCASE("while the only other server was disabled") {
        log.say("driver j off 10.0.0.2");
        expected = "none";
    }
    log.say("driver - killed a", 20'000'000);
    log.say("tree j leader -");
    log.say("tree j leader " + log.id_of_b, 3'000'000);
    CHECK(log.verdict() == expected);
    CHECK(log.totals().longest_without_leader_us == 4'000'000);
}

TEST_CASE("soak_checker: I8, remains after all have left") {
    planted_log log;
    std::string left;
    SUBCASE("an ephemeral node") { left = "leader/election/instance 0xa x"; }
    SUBCASE("an instance") { left = "instances/10.0.0.1@-@1-a - -"; }
    SUBCASE("a mark") { left = "sharding/0/running - -"; }
    SUBCASE("an unknown node") { left = "surprise - -"; }
    SUBCASE("a run on record") {
        auto r = log.record_through(first_ms);
        r.running = log.run_of(log.id_of_a, first_ms);
        left = "ext/run/0 - " + escaped(r.to_text());
    }
    log.leaves({"config - x", left});
    CHECK(log.verdict() == "I8");
}

TEST_CASE("soak_checker: in a loose job instants may pass, and Java members' runs exclude nobody") {
    planted_log log{"loose"};
    log.runs("a", first_ms, 10);
    log.say("b j runs 0 " + std::to_string(second_ms) + " - 0 1");
    log.runs("a", third_ms, 20);
    log.say("b j ran 0 " + std::to_string(second_ms) + " done 0");
    log.rests();
    CHECK(log.verdict() == "none");
    CHECK(log.totals().counts.at("runs of Java-like members") == 1);
}

TEST_CASE("soak_line: free text survives as one word, and an invalid line is nothing") {
    for (std::string const text : {"", "a b\nc\\n", "\\s -"}) CHECK(unescaped(escaped(text)) == text);
    CHECK(escaped("a b\n").find_first_of(" \n") == std::string::npos);
    CHECK(!soak_line::parse("12 only three"));
    CHECK(!soak_line::parse("x a b c"));
}

TEST_CASE("make_soak_plan: a seed and an act make one plan, and ten acts have faults of every kind") {
    using std::chrono::seconds;
    std::set<soak_fault> seen;
    for (std::uint64_t act = 0; act < 10; ++act) {
        auto const plan = make_soak_plan(7, act, seconds{60});
        auto const again = make_soak_plan(7, act, seconds{60});
        auto const other = make_soak_plan(8, act, seconds{60});
        REQUIRE(plan.size() == again.size());
        bool differs = plan.size() != other.size();
        for (std::size_t n = 0; n < plan.size(); ++n) {
            CHECK(plan[n].what == again[n].what);
            CHECK(plan[n].target == again[n].target);
            CHECK(plan[n].after < seconds{60});
            differs |= n < other.size() && plan[n].target != other[n].target;
            seen.insert(plan[n].what);
        }
        CHECK(differs);
    }
    CHECK(seen.size() == soak_fault_names.size());
    for (std::size_t n = 0; n < soak_kinds.size(); ++n)
        CHECK(soak_kinds[n].what == static_cast<soak_fault>(n));
}

TEST_CASE("soak_checker: I4, skipped orders are no due instants") {
    planted_log log;
    log.runs("a", first_ms, 10);
    auto r = log.record_through(second_ms);
    auto skipped = planted_log::entry(log.run_of(log.id_of_a, second_ms), run_outcome::skipped, 1);
    r.add(skipped);
    skipped.run.source = run_source::trigger;
    skipped.run.due += std::chrono::milliseconds{500};
    skipped.count = 3;
    r.add(skipped);
    log.writes(r, 20);
    log.rests();
    CHECK(log.verdict() == "none");
}

TEST_CASE("soak_checker: I4, instants that one owner skipped for two reasons at once are both accounted for") {
    planted_log log;
    log.runs("a", first_ms, 10);
    auto r = log.record_through(third_ms);
    auto late = planted_log::entry(log.run_of(log.id_of_a, second_ms), run_outcome::skipped);
    auto disabled = planted_log::entry(log.run_of(log.id_of_a, third_ms), run_outcome::skipped);
    disabled.run.begun = late.run.begun;
    late.note = "too_late";
    disabled.note = "disabled";
    r.add(late);
    r.add(disabled);
    log.writes(r, 20);
    log.rests();
    CHECK(log.verdict() == "none");
}

TEST_CASE("soak_checker: a record that goes back to an earlier version is a write that the servers have lost") {
    planted_log log;
    auto r = log.record_through(first_ms);
    r.created = 7;
    log.writes(r, 10);
    log.writes(r, 11);
    auto const node = [&](run_record const& record, int version, std::int64_t asked_before_us = 0) {
        log.say("tree j node ext/run/0 - " + escaped(record.to_text()) + " " + std::to_string(version) + " " +
                std::to_string(log.now_us() + 1 - asked_before_us));
    };
    node(r, 1, 5'000'000); // it was asked for before the write
    CHECK(log.lost_write().empty());
    node(r, 2);
    CHECK(log.lost_write().empty());
    auto another = r;
    another.created = 8;
    node(another, 0);
    CHECK(log.lost_write().empty());
    node(r, 1);
    CHECK(log.lost_write() == "item 0 of j had version 2 of its record, and later version 1");
}

TEST_CASE("soak_checker: I4, a start that is taken back was not called by a Java-like member") {
    planted_log log;
    log.runs("a", first_ms, 10);
    log.begins("b", second_ms, 0); // as Java-like members do
    log.ends("b", second_ms, 0);
    auto const before = log.record_through(second_ms);
    auto started = log.record_through(third_ms);
    started.running = log.run_of(log.id_of_a, third_ms);
    log.writes(before, 20);
    log.skip_version(); // so that the token of the next start is not known
    log.writes(started, 22);
    log.writes(before, 23);
    CHECK(log.verdict() == "none");
}
