// SPDX-License-Identifier: Apache-2.0
/// \file \brief Assigns the optional policies to the slots of a scheduler.
#ifndef ELASTICJOB_SCHEDULER_POLICIES_HPP
#define ELASTICJOB_SCHEDULER_POLICIES_HPP

#include <elasticjob/core/worker_pool.hpp>
#include <elasticjob/cron/system_zone.hpp>
#include <elasticjob/cron/time_zone.hpp>
#include <elasticjob/events/guarded_sink.hpp>
#include <elasticjob/events/log_events.hpp>
#include <elasticjob/execution/error_handlers.hpp>
#include <elasticjob/execution/lease.hpp>
#include <elasticjob/execution/listeners.hpp>

#include <type_traits>

namespace elasticjob {

/// A reference to a pool, so that several schedulers can share it. The pool must outlive the schedulers.
template <worker_pool Pool>
class SharedPool {
public:
    explicit SharedPool(Pool& pool) noexcept : pool_{&pool} {}
    bool try_submit(work& w) { return pool_->try_submit(w); }

private:
    Pool* pool_;
};

namespace detail {

/// A slot: the policies that fit into it, and its default.
struct pool_slot {
    using standard = ThreadPool;
    template <class P>
    static constexpr bool takes = worker_pool<P>;
};
struct sink_slot {
    using standard = LogEvents;
    template <class P>
    static constexpr bool takes = event_sink<P>;
};
struct zone_slot {
    using standard = SystemZone;
    template <class P>
    static constexpr bool takes = time_zone<P>;
};

struct guard_slot {
    using standard = NoDeadManTimer;
    template <class P>
    static constexpr bool takes = lease_guard<P>;
};

struct listeners_slot {
    using standard = Listeners<>;
    template <class P>
    static constexpr bool takes = is_listeners<P>;
};

struct error_handlers_slot {
    using standard = ErrorHandlers<>;
    template <class P>
    static constexpr bool takes = is_error_handlers<P>;
};

template <class P>
inline constexpr bool fits_a_slot = pool_slot::takes<P> || sink_slot::takes<P> || zone_slot::takes<P> ||
    guard_slot::takes<P> || listeners_slot::takes<P> || error_handlers_slot::takes<P>;

/// Names the reason why a policy does not fit its slot. A type that can be called with an event is meant to be a sink.
template <class P>
struct checked_policy {
    template <class Event>
    static constexpr bool hears = fits_a_slot<P> || std::is_invocable_v<P&, Event const&>;
    template <class... Events>
    static constexpr bool is_no_sink = !(std::is_invocable_v<P&, Events const&> || ...);
    static constexpr bool is_other =
        is_no_sink<events::joined, events::left, events::leadership_changed, events::resharded, events::share_changed,
                   events::item_started, events::item_finished, events::item_fenced, events::item_misfired,
                   events::item_skipped, events::trouble>;

    static_assert(is_other || hears<events::joined>, "the event sink does not take events::joined");
    static_assert(is_other || hears<events::left>, "the event sink does not take events::left");
    static_assert(is_other || hears<events::leadership_changed>,
                  "the event sink does not take events::leadership_changed");
    static_assert(is_other || hears<events::resharded>, "the event sink does not take events::resharded");
    static_assert(is_other || hears<events::share_changed>, "the event sink does not take events::share_changed");
    static_assert(is_other || hears<events::item_started>, "the event sink does not take events::item_started");
    static_assert(is_other || hears<events::item_finished>, "the event sink does not take events::item_finished");
    static_assert(is_other || hears<events::item_fenced>, "the event sink does not take events::item_fenced");
    static_assert(is_other || hears<events::item_misfired>, "the event sink does not take events::item_misfired");
    static_assert(is_other || hears<events::item_skipped>, "the event sink does not take events::item_skipped");
    static_assert(is_other || hears<events::trouble>, "the event sink does not take events::trouble");
    static_assert(is_other || fits_a_slot<P> || std::is_move_constructible_v<P>, "the event sink cannot be moved");
    static_assert(fits_a_slot<P>,
                  "a policy fits no slot of the scheduler: it is no worker_pool, event_sink, time_zone or "
                  "lease_guard, no Listeners and no ErrorHandlers");
    static constexpr bool value = true;
};

/// The policy of the pack that fits the slot, or the slot's default.
template <class Slot, class... Policies>
struct chosen : std::type_identity<typename Slot::standard> {};
template <class Slot, class First, class... Rest>
struct chosen<Slot, First, Rest...>
    : std::conditional_t<Slot::template takes<First>, std::type_identity<First>, chosen<Slot, Rest...>> {
    static_assert((Slot::template takes<First> + ... + Slot::template takes<Rest>) <= 1,
                  "two policies fill the same slot of the scheduler");
};

template <class Slot, class... Policies>
using policy_for = typename chosen<Slot, Policies...>::type;

} // namespace detail
} // namespace elasticjob
#endif // ELASTICJOB_SCHEDULER_POLICIES_HPP
