// SPDX-License-Identifier: Apache-2.0
/// \file \brief The role of an event sink, which receives the events.
#ifndef ELASTICJOB_EVENTS_EVENT_SINK_HPP
#define ELASTICJOB_EVENTS_EVENT_SINK_HPP

#include <elasticjob/events/event.hpp>

#include <concepts>

namespace elasticjob {

namespace detail {
template <class S, class... Events>
concept hears_all = (std::invocable<S&, Events const&> && ...);
}

/// | expression | must hold                                                                                            |
/// |------------|------------------------------------------------------------------------------------------------------|
/// | `s(e)`     | takes each record of events/event.hpp; returns soon, throws nothing, keeps no reference to the record |
///
/// To ignore kinds of events, a sink has a catch-all: `template <class E> void operator()(E const&)`. If a sink does
/// not accept `session_changed`, `script_output` or `item_progressed`, it does not receive them. The events of a job on
/// one instance come in the order in which they happened. The events of a run are `item_started`, then its
/// `script_output` and `item_progressed`, then `item_finished` or `item_skipped`, and then perhaps `item_fenced`, all
/// with the same `run_name`. If a sink throws, the scheduler catches the exception, and the sink loses that event. The
/// loop waits for a slow sink; Queued gives it a thread of its own. Sinks combines several.
/// Models: LogEvents, NoEvents; Sinks, Queued, RingEvents. Threads: called on the loop, in the order of the events.
template <class S>
concept event_sink = std::move_constructible<S> &&
    detail::hears_all<S, events::joined, events::left, events::leadership_changed, events::resharded,
                      events::share_changed, events::item_started, events::item_finished, events::item_fenced,
                      events::item_misfired, events::item_skipped, events::trouble>;

/// Ignores all events.
struct NoEvents {
    template <class E>
    void operator()(E const&) const noexcept {}
};

} // namespace elasticjob
#endif // ELASTICJOB_EVENTS_EVENT_SINK_HPP
