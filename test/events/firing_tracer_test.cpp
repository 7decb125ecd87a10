// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/events/firing_tracer.hpp>

#include <events/kinds.hpp>

#include <doctest/doctest.h>

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

using texts = std::vector<std::string>;

/// Firings of the items 0, 1 and 3, and their rows.
struct traced_firings {
    explicit traced_firings(std::size_t bytes_max = trace::firing_tracer::bytes_max_default)
        : trace{trace::tracer{"box"}, bytes_max} {}

    void tell(auto const& e) {
        trace(e, [this]<class Row>(Row row) {
            CHECK(ids.emplace(std::is_same_v<Row, trace::execution_event> ? row.id + "x" + std::to_string(ids.size())
                                                                          : row.id)
                      .second);
            if constexpr (std::is_same_v<Row, trace::execution_event>)
                ++executions;
            else
                states.push_back(std::string{row.state}.substr(5) + row.sharding_items + row.message);
        });
    }
    void start(item_index item) {
        auto e = h.started(++number);
        e.item = item;
        tell(e);
    }
    void finish(item_index item, std::optional<error> const& failure = {}) {
        auto const run = h.run(++number);
        tell(events::item_finished{h.from(h.ended), item, h.due, std::chrono::seconds{1}, failure, 77, run});
    }
    void refuse(item_index item) {
        auto e = h.refused();
        e.item = item;
        e.run.number = ++number;
        tell(e);
    }
    texts take() { return std::exchange(states, {}); }

    happenings h{.task = "settle@-@3,0,1@-@READY@-@10.0.0.1@-@7-x"};
    trace::firing_tracer trace;
    texts states{};
    std::set<std::string> ids{};
    int executions = 0;
    std::uint64_t number = 0;
};

error broken(std::string what) { return error{errc::job_failed, std::move(what), ""}; }

texts const opening{"STAGING[0, 1, 3]Job 'settle' execute begin.", "RUNNING[0, 1, 3]"};

} // namespace

TEST_CASE("events.firing_tracer: items that start together share their states, and each has its own execution (EV-5)") {
    traced_firings t;
    t.start(3);
    CHECK(t.take() == opening);
    t.start(0);
    t.finish(3);
    t.start(1); // however late
    t.finish(0);
    CHECK(t.take().empty());
    CHECK(t.trace.open_count() == 1);
    t.finish(1);
    CHECK(t.take() == texts{"FINISHED[0, 1, 3]"});
    CHECK(t.trace.open_count() == 0);
    CHECK(t.executions == 6);

    for (auto const i : {0U, 1U, 3U}) t.start(i); // the next firing has the same task id
    CHECK(t.take() == opening);
    for (auto const i : {0U, 1U, 3U}) t.finish(i);
    CHECK(t.take() == texts{"FINISHED[0, 1, 3]"});
}

TEST_CASE("events.firing_tracer: a firing fails if an item fails, and names each failure") {
    traced_firings t;
    for (auto const i : {0U, 1U, 3U}) t.start(i);
    t.finish(3, broken("no ink"));
    t.finish(0, broken("no paper"));
    (void)t.take();
    SUBCASE("the others succeed") {
        t.finish(1);
        CHECK(t.take() == texts{"ERROR[0, 1, 3]{0=job_failed: no paper, 3=job_failed: no ink}"});
    }
    SUBCASE("a run that the pool has refused has failed") {
        t.refuse(1);
        auto const all = t.take();
        REQUIRE(all.size() == 1);
        CHECK(all[0].starts_with("ERROR[0, 1, 3]{0=job_failed: no paper, 1=Sharding item '1' of job 'settle' was "));
        CHECK(all[0].find("overloaded, due 2026-01-01T00:00:00.000Z, 3=job_failed: no ink}") != std::string::npos);
    }
    CHECK(t.trace.open_count() == 0);
}

TEST_CASE("events.firing_tracer: a single item needs no memory") {
    traced_firings t;
    t.h.task = "settle@-@1@-@FAILOVER@-@10.0.0.1@-@7-x";
    t.start(1);
    CHECK(t.trace.open_count() == 0);
    t.finish(1);
    t.start(1);
    t.finish(1, broken("no ink"));
    t.start(1);
    t.refuse(1);
    auto const all = t.take();
    REQUIRE(all.size() == 9);
    CHECK(all[1] == "RUNNING[1]");
    CHECK(all[2] == "FINISHED[1]");
    CHECK(all[5] == "ERROR[1]{1=job_failed: no ink}");
    CHECK(all[8].starts_with("ERROR[1]{1=Sharding item '1'"));
}

TEST_CASE("events.firing_tracer: events outside firings are traced as by the plain tracer") {
    traced_firings t;
    for (auto const i : {0U, 1U, 3U}) t.start(i);
    (void)t.take();
    t.tell(t.h.misfired());
    t.tell(t.h.skipped());
    t.tell(t.h.fenced());
    t.tell(t.h.progressed());
    auto const all = t.take();
    REQUIRE(all.size() == 4);
    CHECK(all[0].starts_with("STAGING[1]"));
    CHECK(all[1].starts_with("FINISHED[1]Previous job"));
    CHECK(all[2].starts_with("DROPPED[1]"));
    CHECK(all[3].starts_with("LOST[1]"));
    for (auto const i : {0U, 1U, 3U}) t.finish(i);
    CHECK(t.take() == texts{"FINISHED[0, 1, 3]"});
}

TEST_CASE("events.firing_tracer: after a lost end the next firing of the same items starts anew") {
    traced_firings t;
    for (auto const i : {0U, 1U, 3U}) t.start(i);
    t.finish(0);
    t.finish(1, broken("of the lost one"));
    (void)t.take();
    for (auto const i : {3U, 0U, 1U}) t.start(i);
    CHECK(t.take() == opening);
    CHECK(t.trace.open_count() == 1);
    for (auto const i : {0U, 1U, 3U}) t.finish(i);
    CHECK(t.take() == texts{"FINISHED[0, 1, 3]"});
}

TEST_CASE("events.firing_tracer: lost and repeated events end no firing early") {
    traced_firings t;
    t.finish(0); // its start was lost
    CHECK(t.take().empty());
    t.start(1);
    CHECK(t.take() == opening);
    t.finish(1);
    t.finish(1);
    t.finish(0); // its start was lost too
    CHECK(t.take().empty());
    t.finish(3);
    CHECK(t.take() == texts{"FINISHED[0, 1, 3]"});
}

TEST_CASE("events.firing_tracer: forgets the oldest firings when all of them take too much memory") {
    traced_firings t{16 * 1024};
    auto const task = [](int n) {
        return "job-" + std::to_string(n) + "@-@0,1@-@READY@-@10.0.0.1@-@" + std::to_string(n) + "-x";
    };
    for (int n = 0; n < 5'000; ++n) {
        t.h.task = task(n);
        t.start(0);
    }
    CHECK(t.trace.open_count() > 10);
    CHECK(t.trace.open_count() < 100);
    CHECK(t.take().size() == 10'000);
    for (int const n : {0, 4'999}) {
        t.h.task = task(n);
        t.finish(0);
        t.finish(1);
    }
    CHECK(t.take() == texts{"FINISHED[0, 1]"}); // the later firing

    auto const before = t.trace.open_count();
    t.h.task = task(4'998);
    t.finish(1, broken(std::string(12'000, 'x'))); // failures count, too
    CHECK(t.trace.open_count() < before);
    t.h.task = task(4'999);
    t.start(0); // one is always kept
    t.finish(0);
    t.finish(1);
    CHECK(t.take().back() == "FINISHED[0, 1]");

    traced_firings one{1};
    for (auto const i : {0U, 1U, 3U}) one.start(i);
    CHECK(one.trace.open_count() == 1);
}

TEST_CASE("events.firing_tracer: failures are cut at 4000 UTF-16 units, and not kept beyond that (DB-6)") {
    traced_firings t{100'000};
    t.start(0); // an older firing, which would be forgotten if the failures of the next one took too much
    t.h.task = "settle@-@";
    constexpr item_index count = 500;
    for (item_index i = 0; i < count; ++i) t.h.task += (i ? "," : "") + std::to_string(i);
    t.h.task += "@-@READY@-@10.0.0.1@-@7-x";
    for (item_index i = 0; i < count; ++i) t.start(i);
    (void)t.take();
    auto const text = [](item_index i) { return std::string(3'000, static_cast<char>('a' + i % 26)); };
    for (item_index i = count; i-- > 0;) t.finish(i, broken(text(i))); // 1.5 MB in all
    auto const all = t.take();
    REQUIRE(all.size() == 1);
    auto const message = all[0].substr(all[0].find('{'));
    CHECK(message == ("{0=job_failed: " + text(0) + ", 1=job_failed: " + text(1)).substr(0, 4'000));
    CHECK(t.trace.open_count() == 1);
}
