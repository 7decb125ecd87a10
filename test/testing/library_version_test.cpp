// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/testing/library_version.hpp>

#include <elasticjob/execution/run_record.hpp>
#include <elasticjob/testing/simulated_registry.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::testing;
using namespace std::chrono_literals;

namespace {

node_path const record_path = *node_path::parse("/settle/ext/run/0");
node_path const orders_path = *node_path::parse("/settle/ext/orders");

/// Every member differs from its default, so every kind of line is in its text.
run_record full_record() {
    wall_time const due{1'767'225'600s};
    run_begin const run{due, run_source::schedule, 1, "10.0.0.1@-@1-a", due + 2ms};
    run_record r{.schedule = 7, .obeyed = 8, .created = 9, .copies = 1, .through = due, .running = run};
    r.retry = r.resume = run_retry{due, run_source::trigger, 2, due + 1s};
    r.last_begun = r.last_completed = r.next_due = due;
    r.checkpoint = "row\n17";
    for (int n = 0; n < 6; ++n) r.add({run, run_outcome::completed, due + 30ms});
    r.dead_letters.push_back({run, run_outcome::failed, due, 1, "out of paper"});
    return r;
}

std::string full_text() {
    run_progress const progress{1, 2, wall_time{1'767'225'600s}};
    return full_record().to_text(&progress);
}

std::vector<std::string> keys_of(std::string const& text) {
    std::vector<std::string> keys;
    for (std::size_t at = text.find('\n') + 1; at < text.size(); at = text.find('\n', at) + 1)
        if (auto key = text.substr(at, text.find(' ', at) - at); keys.empty() || keys.back() != key)
            keys.push_back(std::move(key));
    return keys;
}

/// A registry of either version at the same server.
struct two_registries {
    virtual_loop world;
    simulated_server server{world};
    wire earlier_wire{server, 1}, present_wire{server, 2};
    node_loop loop{world};
    simulated_registry earlier{loop, earlier_wire, 3, version_without_pauses}, present{loop, present_wire, 4};

    two_registries() {
        world.run_for(1s);
        done(present.create(*node_path::parse("/settle"), {}, create_mode::persistent));
        done(present.create(*node_path::parse("/settle/ext"), {}, create_mode::persistent));
        done(present.create(*node_path::parse("/settle/ext/run"), {}, create_mode::persistent));
        done(present.create(orders_path, {}, create_mode::persistent));
    }

    template <class T>
    result<T> outcome_of(task<result<T>> what) {
        std::optional<result<T>> outcome;
        auto const run = [](task<result<T>> t, std::optional<result<T>>& into) -> task<void> {
            into.emplace(co_await std::move(t));
        };
        task_scope running;
        running.spawn(run(std::move(what), outcome));
        world.run_for(1s);
        REQUIRE(outcome);
        return *std::move(outcome);
    }
    template <class T>
    T done(task<result<T>> what) {
        auto outcome = outcome_of(std::move(what));
        REQUIRE(outcome);
        return *std::move(outcome);
    }
    std::string stored() const { return server.tree().find(record_path)->data; }
};

} // namespace

TEST_CASE("testing.library_version: the earlier version knows every line of a record but those that came after it") {
    std::vector<std::string> unknown;
    for (auto const& key : keys_of(full_text()))
        if (!previous_version.knows_line(key)) unknown.push_back(key);
    CHECK(unknown == std::vector<std::string>{"created", "copies", "entries"});
    for (auto const line : previous_version.record_lines) { // no line of the list is misspelt
        auto const keys = keys_of(full_text());
        CHECK(std::find(keys.begin(), keys.end(), line) != keys.end());
    }
}

TEST_CASE("testing.library_version: it writes each entry in its own line, and drops the lines that it does not know") {
    auto const text = previous_version.as_written(full_text() + "moon full\n");
    CHECK(keys_of(text) == std::vector<std::string>{"schedule", "through", "obeyed", "begun", "completed", "next",
                                                    "checkpoint", "entry", "dead", "retry", "resume", "running",
                                                    "progress"});
    auto wanted = full_record();
    wanted.created = 0;
    wanted.copies = 0;
    CHECK(run_record::parse(text).value() == wanted);
    CHECK(run_record::parse_progress(text) == run_record::parse_progress(full_text()));
    CHECK(previous_version.as_written(text) == text);
    CHECK(previous_version.as_read(text) == text);
}

TEST_CASE("testing.library_version: it reads only the entries that have lines of their own") {
    auto const seen = run_record::parse(previous_version.as_read(full_text())).value();
    auto wanted = full_record();
    wanted.created = 0;
    wanted.copies = 0;
    wanted.ledger.erase(wanted.ledger.begin(), wanted.ledger.end() - run_record::own_lines);
    CHECK(seen == wanted);
}

TEST_CASE("testing.library_version: the present version changes nothing") {
    library_version const present;
    CHECK(present.as_written(full_text()) == full_text());
    CHECK(present.as_read(full_text()) == full_text());
    CHECK(present.knows_order("whatever"));
}

TEST_CASE("testing.library_version: a process writes and reads records as its version does") {
    two_registries r;
    SUBCASE("by a creation") { r.done(r.earlier.create(record_path, full_text(), create_mode::persistent)); }
    SUBCASE("by a write") {
        r.done(r.present.create(record_path, {}, create_mode::persistent));
        r.done(r.earlier.set(record_path, full_text()));
    }
    SUBCASE("in a transaction") {
        transaction t{session_generation::current()};
        t.create(record_path, {}).set(record_path, full_text());
        REQUIRE(r.done(r.earlier.commit(std::move(t))));
    }
    CHECK(r.stored() == previous_version.as_written(full_text()));
    CHECK(r.done(r.earlier.get(record_path)).data == full_text()); // its own text, as it compares it
    r.done(r.present.set(record_path, full_text()));
    CHECK(r.stored() == full_text());
    CHECK(r.done(r.present.get(record_path)).data == full_text());
    CHECK(r.done(r.earlier.get(record_path)).data == previous_version.as_read(full_text()));
}

TEST_CASE(
    "testing.library_version: a process that looks for its own write finds its own text, or that of somebody else") {
    two_registries r;
    r.done(r.present.create(record_path, {}, create_mode::persistent));
    auto const write_without_reply = [&](request_fate fate) {
        r.earlier_wire.lose(0, fate);
        REQUIRE(r.outcome_of(r.earlier.set(record_path, full_text())).error() == errc::unknown_outcome);
    };
    write_without_reply(request_fate::reply_lost);
    CHECK(r.done(r.earlier.get(record_path)).data == full_text());

    auto other = full_record();
    other.obeyed = 100;
    r.done(r.present.set(record_path, other.to_text()));
    CHECK(r.done(r.earlier.get(record_path)).data == previous_version.as_read(other.to_text()));
    write_without_reply(request_fate::request_lost);
    CHECK(r.done(r.earlier.get(record_path)).data == previous_version.as_read(other.to_text()));
}

TEST_CASE("testing.library_version: a process sees no orders of later versions") {
    two_registries r;
    bool is_told = false;
    event_count<node_loop> changed{r.loop};
    event_watch<node_loop> names{changed};
    CHECK(r.done(r.earlier.children(orders_path, &names)).empty());
    r.done(r.present.create(orders_path / "pause", {}, create_mode::persistent));
    is_told = !names.is_linked();
    CHECK(is_told); // as the server tells any version
    for (auto const* order : {"look-0", "stop-12"})
        r.done(r.present.create(orders_path / order, {}, create_mode::persistent));
    CHECK(r.done(r.present.children(orders_path)).size() == 3);
    auto seen = r.done(r.earlier.children(orders_path));
    std::sort(seen.begin(), seen.end());
    CHECK(seen == std::vector<std::string>{"look-0", "stop-12"});

    CHECK(r.done(r.present.exists(orders_path / "pause")));
    CHECK(!r.done(r.earlier.exists(orders_path / "pause")));
    CHECK(r.outcome_of(r.earlier.get(orders_path / "pause")).error() == errc::no_node);
    CHECK(r.outcome_of(r.earlier.get(orders_path / "look-0")));
    CHECK(r.outcome_of(r.earlier.get(orders_path)));
}
