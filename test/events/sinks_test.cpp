// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/events/sinks.hpp>

#include <elasticjob/events/guarded_sink.hpp>
#include <elasticjob/events/ring_events.hpp>

#include <events/kinds.hpp>

#include <doctest/doctest.h>

#include <concepts>
#include <memory>
#include <stdexcept>
#include <thread>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

struct throw_at_runs {
    template <class E>
    void operator()(E const&) const {}
    void operator()(events::item_started const&) const { throw std::runtime_error{"no"}; }
    void operator()(events::item_finished const&) const { throw 1; }
};
struct move_only {
    std::unique_ptr<int> p;
    template <class E>
    void operator()(E const&) const {}
};
/// Written before session_changed existed.
struct old {
    std::size_t* heard;
    template <class E>
    requires(!std::same_as<E, events::session_changed>) void operator()(E const&) const { ++*heard; }
};
static_assert(event_sink<Sinks<move_only, throw_at_runs>>);

} // namespace

TEST_CASE("events.sinks: each sink gets every event although one throws; the events that it throws at are counted") {
    happenings const h;
    RingEvents const before{100}, behind{100};
    Sinks all{before, throw_at_runs{}, behind};
    auto const thrown = all.thrown();
    auto moved = std::move(all);
    h.tell(moved);
    CHECK(before.told() == h.count);
    CHECK(behind.told() == h.count);
    CHECK((*thrown)[0] == 0);
    CHECK((*thrown)[1] == 3);
    CHECK((*thrown)[2] == 0);
}

TEST_CASE("events.sinks: a sink that does not accept a later kind does not get it, and the others do") {
    happenings const h;
    std::size_t heard = 0, heard_guarded = 0;
    RingEvents const ring{100};
    Sinks all{old{&heard}, ring};
    detail::guarded_sink<old> guarded{old{&heard_guarded}};
    h.tell(all);
    h.tell(guarded);
    CHECK(heard == h.count - 1);
    CHECK(heard_guarded == h.count - 1);
    CHECK(ring.told() == h.count);
}

TEST_CASE("events.guarded_sink: a sink's exception goes no further") {
    happenings const h;
    detail::guarded_sink<throw_at_runs> sink{throw_at_runs{}};
    CHECK_NOTHROW(h.tell(sink));
}

TEST_CASE("events.ring_events: keeps the last events, oldest first") {
    happenings const h;
    RingEvents const ring{3};
    auto const scheduler_s = ring;
    CHECK(ring.read().empty());
    for (std::uint64_t n = 1; n <= 5; ++n) scheduler_s(h.started(n));
    auto const kept = ring.read();
    REQUIRE(kept.size() == 3);
    std::uint64_t expected = 3;
    for (auto const& k : kept)
        k.tell([&](auto const& e) {
            if constexpr (requires { e.run; }) CHECK(e.run.number == expected++);
        });
    CHECK(expected == 6);
    CHECK(ring.told() == 5);
    CHECK(kept[0].job() == "settle");
    CHECK(kept[0].instance() == h.id);
    CHECK(kept[0].is<events::item_started>());
    CHECK_FALSE(kept[0].is<events::item_finished>());
}

TEST_CASE("events.ring_events: can be read while it receives events") {
    happenings const h;
    RingEvents const ring{8};
    std::thread teller{[&] {
        for (std::uint64_t n = 1; n <= 2000; ++n) ring(h.started(n));
    }};
    std::uint64_t last = 0;
    while (last < 2000) {
        std::uint64_t previous = 0;
        for (auto const& k : ring.read())
            k.tell([&](auto const& e) {
                if constexpr (requires { e.run; }) {
                    CHECK(e.run.number > previous);
                    previous = e.run.number;
                }
            });
        last = previous;
    }
    teller.join();
}
