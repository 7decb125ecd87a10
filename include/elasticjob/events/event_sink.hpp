// SPDX-License-Identifier: Apache-2.0
/// \file \brief The role of an event sink: whom the events are told to.
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
/// A sink that does not care for a kind of event takes it with a catch-all: `template <class E> void operator()(E const&)`.
/// `session_changed` and `script_output` came later than the others: a sink need not take them, and is not told then.
/// The events of a job on one instance come in the order in which they happened: of a run, `item_started`, then its `script_output`, then one of
/// `item_finished` and `item_skipped`, then perhaps `item_fenced`, all with the same `run_name`.
/// What a sink throws ends where the scheduler calls it, and costs it that event. What takes it long, everything on the
/// loop waits for; Queued gives it a thread of its own. Several at once: Sinks.
/// Models: LogEvents, NoEvents; Sinks, Queued, RingEvents. Threads: called on the loop, in the order of the events.
template <class S>
concept event_sink = std::move_constructible<S> &&
    detail::hears_all<S, events::joined, events::left, events::leadership_changed, events::resharded,
                      events::share_changed, events::item_started, events::item_finished, events::item_fenced,
                      events::item_misfired, events::item_skipped, events::trouble>;

/// Tells nobody.
struct NoEvents {
    template <class E>
    void operator()(E const&) const noexcept {}
};

} // namespace elasticjob
#endif // ELASTICJOB_EVENTS_EVENT_SINK_HPP
