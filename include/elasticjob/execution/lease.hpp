// SPDX-License-Identifier: Apache-2.0
/// \file \brief `session_lease`: the time until which this process may rely on its session being alive.
#ifndef ELASTICJOB_EXECUTION_LEASE_HPP
#define ELASTICJOB_EXECUTION_LEASE_HPP

#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/intrusive_list.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/execution/lease_terms.hpp>
#include <elasticjob/registry/registry.hpp>

#include <concepts>
#include <cstdint>
#include <elasticjob/core/memory.hpp>
#include <utility>

namespace elasticjob {

/// The role of a guard that is armed while the lease is held.
///
/// | expression   | must hold                                                                                       |
/// |--------------|-------------------------------------------------------------------------------------------------|
/// | `g.until(d)` | the lease is held, and ends at `d`, by the loop's clock; `d` may have passed; replaces the last |
/// | `g.disarm()` | nobody holds it; no effect when not armed                                                       |
/// Models: NoDeadManTimer, DeadManTimer. Threads: the loop's.
template <class G>
concept lease_guard = std::movable<G> && requires(G& g, mono_time due) {
    { g.until(due) } -> std::same_as<void>;
    { g.disarm() } -> std::same_as<void>;
};

/// No guard: relies on runs to stop when they are asked to.
struct NoDeadManTimer {
    void until(mono_time) const noexcept {}
    void disarm() const noexcept {}
};
static_assert(lease_guard<NoDeadManTimer>);

/// The time until which this process may rely on its session being alive. A connection is not sufficient: a client that
/// is cut off together with its server continues to read its own nodes after the majority has deleted them.
///
/// While the lease is held, the session commits a transaction in every tenth of its time-out T. A quorum must agree to
/// it, and the leader refuses it when the session is over. While the lease is not held, nothing is sent.
///
/// The rule, in short. j, m and k are answered requests: j was answered a quarter of T before m was sent, and m before
/// k was sent. Every half tick, at most T/4, the leader asks its followers for the sessions that were active. So
/// between the answer to j and the commit of m, the leader asked this client's server, and the server reported j before
/// it sent the answer to m. Since k followed on the same connection, the leader had read the report when it handled k.
/// So the session does not end before sent(j) + T, and `deadline()` is sent(j) + 0.9 T: with a heartbeat in each T/10,
/// that is 0.6 T after the last heartbeat but one.
///
/// At the beginning there is only the request that has just started a run. It proves that the session is alive, but not
/// for how long. Until there is a proof, T/4 later, `deadline()` is 3/8 T after that request. This is correct if the
/// session was kept alive normally before, by a ping in each third of T. `is_proven()` distinguishes the two cases.
///
/// Its clock is `boot_now` of the loop, because the servers' clocks continue while this machine is suspended. The
/// loop's timers may stand still during that time. So while the lease is held, it checks its clock in every tenth of T,
/// whether or not it can send anything. That detects a lease that has ended during a suspension; `is_valid` returns
/// false at once.
///
/// `detail::lease_terms` decides all this. The class carries it out.
///
/// Must outlive its holds, and be destroyed before the registry. Threads: the loop's; construction on any.
template <registry Registry, lease_guard Guard = NoDeadManTimer>
class session_lease {
    struct seat;

public:
    using loop_type = typename Registry::loop_type;

    explicit session_lease(Registry& r, Guard guard = {});
    session_lease(session_lease const&) = delete;
    session_lease& operator=(session_lease const&) = delete;
    ~session_lease();

    /// While at least one hold of the present generation exists, the lease is kept.
    class hold {
    public:
        /// The lease is valid, and has been since this hold began.
        bool is_valid() const { return seat_ && !seat_->is_over && seat_->lease.is_valid(); }

    private:
        friend session_lease;
        explicit hold(std::unique_ptr<seat> s) noexcept : seat_{std::move(s)} {}
        std::unique_ptr<seat> seat_;
    };

    /// The clock of `sent` and `deadline`.
    mono_time now() const { return boot_now(loop()); }

    /// Begins a hold. A write under generation `g`, sent at `sent` or later, has succeeded: the start of a run.
    /// `witness` is an ephemeral node of that session. When it is gone, other instances treat this one as dead, and its
    /// holds are over. If the lease is not valid now, the hold is over from the start, and no run may begin under it.
    [[nodiscard]] hold keep(session_generation g, node_path witness, mono_time sent);

    /// Whether the rule proves that the session is alive now.
    bool is_valid() const { return terms_.is_valid(registry_.session(), now()); }

    /// Whether that follows from answers alone, without the assumption at the beginning.
    bool is_proven() const { return terms_.is_proven(registry_.session(), now()); }

    /// In the distant past if nothing is known about the present session.
    mono_time deadline() const { return terms_.deadline(registry_.session()); }

    /// Notified when the lease ends while it is held: its deadline passes, its session is over, or the witness of a
    /// hold is gone. Once for each end. The holds that existed then stay over, even if the same session later proves to
    /// be alive.
    event_count<loop_type>& lapsed() noexcept { return lapsed_; }

    /// The number of heartbeats that have been sent.
    std::uint64_t heartbeats() const noexcept { return heartbeats_; }

    Guard& guard() noexcept { return guard_; }

private:
    struct seat : list_hook {
        seat(session_lease& l, node_path w) : lease{l}, witness{std::move(w)} {}
        ~seat();
        session_lease& lease;
        node_path witness;
        bool is_over = false;
    };

    struct alarm : timer {
        explicit alarm(session_lease& l) noexcept : timer{&ring}, self{l} {}
        static void ring(timer& t) { static_cast<alarm&>(t).self.look_at_clock(); }
        session_lease& self;
    };

    loop_type& loop() const noexcept { return registry_.loop(); }

    void begin();

    task<void> follow_session();

    /// Discards the answers of another session, or of this session under another time-out.
    void notice_session();

    task<void> keep_alive();

    /// Sends a heartbeat. Precondition: the lease is held. Never two at once.
    task<void> send_heartbeat();

    /// Tells the holders if the lease has just ended. Returns whether it is valid.
    bool check_lapse();

    /// Called after every change of the answers and of the holds.
    void watch_deadline();

    void set_alarm();
    void look_at_clock();

    /// The same by the loop's clock, if the machine is not suspended before.
    mono_time on_loop(mono_time t) const { return loop().now() + (t - now()); }

    /// The witness has been removed, so other instances take over its owner's runs.
    void lose_witness(node_path const& witness);

    Registry& registry_;
    [[no_unique_address]] Guard guard_;
    event_count<loop_type> lapsed_;
    event_count<loop_type> stir_; ///< wakes the keeper
    alarm alarm_;
    intrusive_list<seat> live_; ///< the holds of the present generation

    detail::lease_terms terms_;
    std::uint64_t heartbeats_ = 0;
    task_scope keeper_; ///< destroyed first
};

template <registry Registry, lease_guard Guard>
session_lease<Registry, Guard>::session_lease(Registry& r, Guard guard)
    : registry_{r},
      guard_{std::move(guard)},
      lapsed_{r.loop()},
      stir_{r.loop()},
      alarm_{*this} {}

template <registry Registry, lease_guard Guard>
session_lease<Registry, Guard>::~session_lease() {
    loop().disarm(alarm_);
    guard_.disarm();
}

template <registry Registry, lease_guard Guard>
auto session_lease<Registry, Guard>::keep(session_generation g, node_path witness, mono_time sent) -> hold {
    begin();
    notice_session();
    auto own = std::make_unique<seat>(*this, std::move(witness));
    auto const start = terms_.begin_hold(registry_.session(), g, sent, now());
    own->is_over = start != detail::hold_start::valid;
    if (start == detail::hold_start::foreign) return hold{std::move(own)};
    live_.push_back(*own);
    watch_deadline();
    stir_.notify();
    return hold{std::move(own)};
}

template <registry Registry, lease_guard Guard>
session_lease<Registry, Guard>::seat::~seat() {
    if (!this->is_linked()) return;
    this->unlink();
    lease.terms_.end_hold();
    lease.watch_deadline();
    lease.stir_.notify();
}

template <registry Registry, lease_guard Guard>
void session_lease<Registry, Guard>::begin() {
    if (!keeper_.empty()) return;
    keeper_.spawn(follow_session());
    keeper_.spawn(keep_alive());
}

template <registry Registry, lease_guard Guard>
task<void> session_lease<Registry, Guard>::follow_session() {
    for (;;) {
        auto const seen = registry_.session_changed().edition();
        notice_session();
        co_await registry_.session_changed().newer_than(seen);
    }
}

template <registry Registry, lease_guard Guard>
void session_lease<Registry, Guard>::notice_session() {
    stir_.notify(); // it may now be possible, or impossible, to send
    if (!terms_.note_session(registry_.session())) return;
    loop().disarm(alarm_);
    if (terms_.is_held()) guard_.until(loop().now());
    check_lapse();
    while (!live_.empty()) {
        live_.pop_front();
        terms_.end_hold();
    }
}

template <registry Registry, lease_guard Guard>
task<void> session_lease<Registry, Guard>::keep_alive() {
    for (;;) {
        auto const seen = stir_.edition();
        auto const due = terms_.next_heartbeat(registry_.session(), now());
        if (due == mono_time::max())
            co_await stir_.newer_than(seen);
        else if (due > now())
            co_await stir_.newer_than(seen, on_loop(due));
        else
            co_await send_heartbeat();
    }
}

template <registry Registry, lease_guard Guard>
task<void> session_lease<Registry, Guard>::send_heartbeat() {
    // Any witness shows that the session is alive. Taking turns also shows which witnesses are gone.
    seat& next = live_.pop_front();
    live_.push_back(next);
    node_path const witness = next.witness;
    auto const g = registry_.session().generation;
    auto const sent = now();
    terms_.note_sent(sent);
    ++heartbeats_;
    transaction t{g};
    t.check(witness);
    auto const reply = co_await registry_.commit(std::move(t));
    if (!reply || !terms_.concerns(g)) co_return; // unknown; it is not even certain that it was lost
    // If the deadline passed unnoticed while the answer had already arrived, the lease has not lapsed: that deadline
    // was too early.
    if (*reply)
        terms_.note_answer(sent, now());
    else
        lose_witness(witness);
    watch_deadline();
}

template <registry Registry, lease_guard Guard>
bool session_lease<Registry, Guard>::check_lapse() {
    auto const s = registry_.session();
    auto const t = now();
    bool const is_valid = terms_.is_valid(s, t);
    if (terms_.take_lapse(s, t)) {
        live_.for_each([](seat& h) { h.is_over = true; });
        lapsed_.notify();
    }
    return is_valid;
}

template <registry Registry, lease_guard Guard>
void session_lease<Registry, Guard>::watch_deadline() {
    loop().disarm(alarm_);
    if (!terms_.is_held()) return guard_.disarm();
    if (!check_lapse()) return;
    set_alarm();
    guard_.until(on_loop(deadline()));
}

template <registry Registry, lease_guard Guard>
void session_lease<Registry, Guard>::set_alarm() {
    loop().arm(alarm_, on_loop(terms_.next_look(now())));
}

template <registry Registry, lease_guard Guard>
void session_lease<Registry, Guard>::look_at_clock() {
    if (check_lapse()) set_alarm();
}

template <registry Registry, lease_guard Guard>
void session_lease<Registry, Guard>::lose_witness(node_path const& witness) {
    bool any = false;
    live_.for_each([&](seat& s) {
        if (s.witness != witness) return;
        s.is_over = any = true;
        s.unlink();
        terms_.end_hold();
    });
    if (any) lapsed_.notify();
}

} // namespace elasticjob
#endif // ELASTICJOB_EXECUTION_LEASE_HPP
