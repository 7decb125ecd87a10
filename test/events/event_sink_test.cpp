// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/events/event_sink.hpp>

#include <doctest/doctest.h>

#include <string_view>

using namespace elasticjob;

namespace {

/// Accepts every event except one kind.
template <class Not>
struct deaf_to {
    template <class E>
    requires(!std::same_as<E, Not>)
    void operator()(E const&) const {}
};
struct immovable {
    immovable() = default;
    immovable(immovable&&) = delete;
    template <class E>
    void operator()(E const&) const {}
};

static_assert(event_sink<deaf_to<int>>);
static_assert(event_sink<deaf_to<events::session_changed>>); // this kind was added later
static_assert(event_sink<deaf_to<events::script_output>>);   // likewise
static_assert(event_sink<deaf_to<events::item_progressed>>); // likewise
static_assert(!event_sink<immovable>);
static_assert(!event_sink<deaf_to<events::joined>>);
static_assert(!event_sink<deaf_to<events::left>>);
static_assert(!event_sink<deaf_to<events::leadership_changed>>);
static_assert(!event_sink<deaf_to<events::resharded>>);
static_assert(!event_sink<deaf_to<events::share_changed>>);
static_assert(!event_sink<deaf_to<events::item_started>>);
static_assert(!event_sink<deaf_to<events::item_finished>>);
static_assert(!event_sink<deaf_to<events::item_skipped>>);
static_assert(!event_sink<deaf_to<events::trouble>>);

} // namespace

TEST_CASE("events.event: every reason for skipping has its own name") {
    using enum events::skip_reason;
    CHECK(events::name_of(still_running) == "still_running");
    CHECK(events::name_of(disabled) == "disabled");
    CHECK(events::name_of(not_ready) == "not_ready");
    CHECK(events::name_of(overloaded) == "overloaded");
}
