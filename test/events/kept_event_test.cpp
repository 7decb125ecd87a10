// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/events/kept_event.hpp>

#include <elasticjob/events/event_ring.hpp>

#include <events/kinds.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <concepts>
#include <memory>

using namespace elasticjob;
using namespace elasticjob::test;
using events::kept_event;

namespace {

/// All fields of an event, as text. Written out here, so that the test finds a field that is forgotten elsewhere.
struct describe {
    std::string text{};

    void operator()(events::joined const& e) { say("joined", e.from, e.note); }
    void operator()(events::left const& e) { say("left", e.from); }
    void operator()(events::leadership_changed const& e) { say("leads", e.from, e.leads); }
    void operator()(events::session_changed const& e) { say("session", e.from, name_of(e.state)); }
    void operator()(events::resharded const& e) { say("resharded", e.from, e.epoch, e.items, e.instances, e.moved, e.left); }
    void operator()(events::share_changed const& e) {
        say("share", e.from);
        for (auto const i : e.items) add(i);
    }
    void operator()(events::item_started const& e) {
        say("started", e.from, e.item, e.due, name_of(e.source), e.attempt, e.token);
        add(e.run);
    }
    void operator()(events::item_finished const& e) {
        say("finished", e.from, e.item, e.due, e.took.count(), e.token);
        add(e.failure ? to_string(*e.failure) : "success");
        add(e.run);
    }
    void operator()(events::script_output const& e) {
        say("wrote", e.from, e.item, e.due, name_of(e.stream), e.text, e.dropped, e.lost);
        add(e.run);
    }
    void operator()(events::item_progressed const& e) {
        say("progressed", e.from, e.item, e.due, e.done, e.total);
        add(e.run);
    }
    void operator()(events::item_fenced const& e) {
        say("fenced", e.from, e.item, e.due, e.token);
        add(e.run);
    }
    void operator()(events::item_misfired const& e) { say("misfired", e.from, e.item, e.due); }
    void operator()(events::item_skipped const& e) {
        say("skipped", e.from, e.item, e.due, name_of(e.why), e.count);
        add(e.run);
    }
    void operator()(events::trouble const& e) { say("trouble", e.from, to_string(e.what)); }

private:
    void add(std::string_view s) { text.append(s).append("|"); }
    void add(std::integral auto n) { add(std::to_string(n)); }
    void add(wall_time t) { add(t.time_since_epoch().count()); }
    void add(events::run_name const& r) {
        add(r.number);
        add(r.task_id);
        add(name_of(r.source));
        add(r.attempt);
        add(r.begun);
    }
    template <class... A>
    void say(std::string_view kind, events::origin const& from, A const&... a) {
        add(kind);
        add(from.job);
        add(from.instance.str());
        add(from.at);
        (add(a), ...);
    }
};

std::string described(auto const& e) {
    describe d;
    d(e);
    return d.text;
}
std::string described(kept_event const& k) {
    describe d;
    k.tell(d);
    return d.text;
}

} // namespace

TEST_CASE("events.kept_event: returns the event that it was given, field by field") {
    happenings const h;
    h.tell([](auto const& e) { CHECK(described(kept_event{e}) == described(e)); });
    CHECK(described(kept_event{}).empty());
}

TEST_CASE("events.kept_event: keeps nothing of the previous event") {
    happenings const h;
    h.tell([&](auto const& before) {
        h.tell([&](auto const& e) {
            kept_event k{before};
            k.keep(e);
            CHECK(described(k) == described(e));
        });
    });
}

TEST_CASE("events.kept_event: refers only to its own memory, also when it is copied") {
    kept_event copy;
    std::string expected;
    {
        auto h = std::make_unique<happenings>();
        kept_event const k{h->failed()};
        expected = described(h->failed());
        copy = k;
        h->job = "xxxxxx";
        h->task.assign(h->task.size(), 'x');
    }
    CHECK(described(copy) == expected);
}

TEST_CASE("events.event_ring: forgets the oldest event, and stays in order over any number of turns") {
    happenings const h;
    for (std::size_t const size : {1U, 2U, 15U, 16U, 17U, 40U}) {
        CAPTURE(size);
        events::event_ring ring{size};
        std::uint64_t next = 1, forgotten = 0;
        for (int turn = 0; turn < 5; ++turn) {
            for (std::size_t n = 0; n < 3 * size / 2 + 1; ++n) forgotten += !ring.push(h.started(next++));
            REQUIRE(ring.size() <= size);
            CHECK(ring.size() == std::min<std::size_t>(size, 3 * size / 2 + 1));
            auto expected = next - ring.size();
            for (std::size_t n = 0; n < ring.size(); ++n) CHECK(described(ring[n]) == described(h.started(expected++)));
            if (turn % 2) ring.clear();
        }
        CHECK(forgotten > 0);
    }
}

TEST_CASE("events.event_ring: releases its oldest events a few at a time, and grows with the others in order") {
    happenings const h;
    events::event_ring ring{100}, batch{7};
    std::uint64_t next = 1, expected = 1;
    for (std::size_t turn = 0; turn < 40; ++turn) {
        for (int n = 0; n < 9; ++n) REQUIRE(ring.push(h.started(next++)));
        batch.clear();
        ring.move_to(batch, turn % 9);
        REQUIRE(batch.size() == std::min<std::size_t>(turn % 9, 7));
        for (std::size_t n = 0; n < batch.size(); ++n) CHECK(described(batch[n]) == described(h.started(expected++)));
        if (ring.size() < 80) continue;
        while (ring.size() > 0) {
            batch.clear();
            ring.move_to(batch, 7);
            for (std::size_t n = 0; n < batch.size(); ++n)
                CHECK(described(batch[n]) == described(h.started(expected++)));
        }
        CHECK(expected == next);
    }
}
