// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/operations/dead_letter_query.hpp>

#include <support/cluster.hpp>
#include <support/measured.hpp>

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

using effect = command_result::effect;
using strings = std::vector<std::string>;

/// Three jobs whose items 0 to 2 have one dead letter each, due at minute `item`; item 1 of `bill` has another one.
struct three_jobs {
    cluster c;

    three_jobs() {
        for (std::string const job : {"bill", "post", "settle"}) {
            c.create("/" + job);
            for (auto const* name : {"/config", "/ext", "/ext/run"}) c.create("/" + job + name);
            c.set("/" + job + "/config", to_json(make_job(job, never, 3)));
            for (item_index i = 0; i < 3; ++i) {
                run_record record;
                record.dead_letters.push_back(letter(i, job == "post" ? "out of ink" : "out of paper"));
                if (job == "bill" && i == 1) record.dead_letters.push_back(letter(7, "out of paper"));
                c.create("/" + job + "/ext/run/" + std::to_string(i), record.to_text());
            }
        }
    }
    static run_entry letter(item_index minute, std::string note) {
        wall_time const due{std::chrono::minutes{minute}};
        return {{due, run_source::schedule, 1, "a@-@b", due}, run_outcome::failed, due + 1s, 1, std::move(note)};
    }
    static std::string name_of_letter(dead_letter const& l) {
        auto const minute = std::chrono::duration_cast<std::chrono::minutes>(l.run.run.due.time_since_epoch());
        return l.job + " " + std::to_string(l.item) + " " + std::to_string(minute.count());
    }
    strings list(dead_letter_query query) {
        auto const page = list_dead_letters(c.by_hand, std::move(query));
        REQUIRE(page);
        strings all;
        for (auto const& l : page->letters) all.push_back(name_of_letter(l));
        return all;
    }
    run_record record(std::string const& job, int item) {
        return run_record::parse(c.data("/" + job + "/ext/run/" + std::to_string(item))).value();
    }
};

} // namespace

TEST_CASE("operations.dead_letter_query: of one job or of all, filtered") {
    three_jobs w;
    CHECK(w.list({}).size() == 10);
    CHECK(w.list({.job = "bill"}) == strings{"bill 0 0", "bill 1 1", "bill 1 7", "bill 2 2"});
    CHECK(w.list({.job_contains = "s", .item = 2}) == strings{"post 2 2", "settle 2 2"});
    CHECK(w.list({.note_contains = "ink"}) == strings{"post 0 0", "post 1 1", "post 2 2"});
    wall_time const two{2min};
    CHECK(w.list({.due_from = two}) == strings{"bill 1 7", "bill 2 2", "post 2 2", "settle 2 2"});
    CHECK(w.list({.job = "bill", .due_before = two}) == strings{"bill 0 0", "bill 1 1"});
    CHECK(w.list({.outcome = run_outcome::interrupted}).empty());
    CHECK(list_dead_letters(w.c.by_hand, dead_letter_query{.job = "nobody"}).error() == errc::no_node);
    CHECK(list_dead_letters(w.c.by_hand, dead_letter_query{.job = "a/b"}).error() == errc::invalid_argument);
    for (auto const* cursor : {"bill", "/1", "bill/x"})
        CHECK(list_dead_letters(w.c.by_hand, dead_letter_query{.after = cursor}).error() == errc::invalid_argument);
}

TEST_CASE("operations.dead_letter_query: the pages contain each letter exactly once") {
    three_jobs w;
    auto const all = w.list({});
    for (std::size_t letters_max = 1; letters_max < 12; ++letters_max)
        for (auto const records_max : {1U, 2U, 100U})
            for (auto const requests_max : {1U, 2U, 64U}) {
                dead_letter_query query{.letters_max = letters_max, .records_max = records_max};
                query.requests_max = requests_max;
                strings seen;
                int pages = 0;
                do {
                    auto const page = list_dead_letters(w.c.by_hand, query);
                    REQUIRE(page);
                    CHECK(page->letters.size() <= letters_max + 1);
                    for (auto const& l : page->letters) seen.push_back(w.name_of_letter(l));
                    query.after = page->next;
                } while (!query.after.empty() && ++pages < 20);
                CHECK(seen == all);
            }
}

TEST_CASE("operations.dead_letter_query: a record that cannot be read hides no other") {
    three_jobs w;
    w.c.set("/post/ext/run/1", "nonsense");
    auto const page = list_dead_letters(w.c.by_hand, dead_letter_query{}).value();
    CHECK(page.letters.size() == 9);
    REQUIRE(page.faults.size() == 1);
    CHECK(page.faults[0].where.starts_with("/post/ext/run/1"));
}

TEST_CASE("operations.dead_letter_query: many are discarded or run again at once, each on record, each once") {
    three_jobs w;
    auto const is = [](settled_letter const& l, effect what) { return l.outcome && l.outcome->what == what; };
    auto const tried = run_again(w.c.by_hand, dead_letter_query{.job = "bill"}, {"ann", {}, true}).value();
    REQUIRE(tried.letters.size() == 4);
    CHECK(is(tried.letters[3], effect::planned));
    CHECK(w.list({}).size() == 10);

    auto const ran = run_again(w.c.by_hand, dead_letter_query{.job = "bill"}, {"ann", "key-1"}).value();
    REQUIRE(ran.letters.size() == 4);
    CHECK(is(ran.letters[0], effect::done));
    CHECK(is(ran.letters[1], effect::done));
    CHECK(ran.letters[2].outcome.error() == errc::version_conflict); // one run of an item at a time
    CHECK(is(ran.letters[3], effect::done));
    CHECK(w.record("bill", 1).retry->due == wall_time{1min});
    CHECK(w.list({.job = "bill"}) == strings{"bill 1 7"});
    // It has failed again when the call is repeated.
    auto failed = w.record("bill", 0);
    failed.retry.reset();
    failed.dead_letters.push_back(w.letter(0, "again"));
    w.c.set("/bill/ext/run/0", failed.to_text());
    auto const repeated = run_again(w.c.by_hand, dead_letter_query{.job = "bill"}, {"ann", "key-1"}).value();
    REQUIRE(repeated.letters.size() == 2);
    CHECK(is(repeated.letters[0], effect::repeated));
    CHECK_FALSE(w.record("bill", 0).retry);

    losing const lost{w.c.server, losing::nth_write(w.c.by_hand.session().id, 1, request_fate::reply_lost)};
    auto const gone = discard(w.c.by_hand, dead_letter_query{.note_contains = "out of"}, {"ann"}).value();
    CHECK(gone.letters.size() == 7);
    CHECK(is(gone.letters[1], effect::done));
    CHECK(w.list({}) == strings{"bill 0 0", "bill 1 7"}); // its item waits for a retry
    auto const trail = list_commands(w.c.by_hand, "settle").value();
    REQUIRE(trail.entries().size() == 3);
    CHECK(trail.entries()[2].verb == "discard");
    CHECK(trail.entries()[2].subject == "item 2, due 1970-01-01T00:02:00.000Z");
    command_by const too_long{"ann", std::string(51, 'k')};
    CHECK(discard(w.c.by_hand, dead_letter_query{}, too_long).error() == errc::invalid_argument);
}

TEST_CASE("operations.dead_letter_query: a call handles a limited number, and says where it ended") {
    three_jobs w;
    run_record many;
    for (item_index n = 0; n < 30; ++n) many.dead_letters.push_back(w.letter(n, "out of paper"));
    for (int i = 0; i < 3; ++i) {
        w.c.set("/settle/ext/run/" + std::to_string(i), many.to_text());
        w.c.set("/bill/ext/run/" + std::to_string(i), many.to_text());
    }
    std::size_t requests = 0;
    auto const count = [&](registry_request const&) { ++requests; };
    measured<basic_memory_registry<virtual_loop>> r{w.c.by_hand, count};
    auto const page = list_dead_letters(r, dead_letter_query{.letters_max = 1'000}).value();
    CHECK(requests == 1 + 3 + 9);
    requests = 0;
    auto const first = discard(r, dead_letter_query{.letters_max = 1'000}, {"ann"}).value();
    CHECK(first.letters.size() == 123);
    CHECK(first.next == "settle/0");
    CHECK(requests == 1 + 3 + 9 + 123 * 9);
    auto const second = discard(r, dead_letter_query{.after = first.next, .letters_max = 1'000}, {"ann"}).value();
    CHECK(second.letters.size() == 60);
    CHECK(second.next.empty());
    CHECK(w.list({}).empty());
}
