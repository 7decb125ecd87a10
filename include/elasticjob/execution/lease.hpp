// SPDX-License-Identifier: Apache-2.0
/// \file \brief `session_lease`: the time until which this process may rely on its session being alive.
#ifndef ELASTICJOB_EXECUTION_LEASE_HPP
#define ELASTICJOB_EXECUTION_LEASE_HPP

#include <elasticjob/core/algorithm.hpp> // max, min, move
#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/intrusive_list.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/registry/registry.hpp>

#include <array>
#include <concepts>
#include <cstddef>
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

/// The numbers of the rule for a session time-out `t`. docs/decisions/0007-lease.md has the reasons.
struct lease_rule {
    using duration = mono_time::duration;

    /// The time between two heartbeats.
    static constexpr duration period(duration t) noexcept {
        return std::max<duration>(t / 10, std::chrono::milliseconds{1});
    }
    /// A leader asks its followers at least this often: half a tick, which is at most a quarter, by a slow clock.
    static constexpr duration relay_max(duration t) noexcept { return t / 4 + t / 100; }
    /// A session lives at least this long after a request that the leader has certainly received. The last tenth is a
    /// margin for clocks with other rates, and for pauses of the leader.
    static constexpr duration proven(duration t) noexcept { return t - t / 10; }
    /// The same for a request that has only been answered, if everything before it was normal.
    static constexpr duration assumed(duration t) noexcept { return t * 3 / 8; }
};

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
    bool is_valid() const { return is_current() && now() < deadline_; }

    /// Whether that follows from answers alone, without the assumption at the beginning.
    bool is_proven() const { return is_current() && now() < proven_; }

    /// In the distant past if nothing is known about the present session.
    mono_time deadline() const { return is_current() ? deadline_ : mono_time::min(); }

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

    /// A successful request of the session.
    struct answered {
        mono_time sent;
        mono_time received;
    };

    struct alarm : timer {
        explicit alarm(session_lease& l) noexcept : timer{&ring}, self{l} {}
        static void ring(timer& t) { static_cast<alarm&>(t).self.look_at_clock(); }
        session_lease& self;
    };

    loop_type& loop() const noexcept { return registry_.loop(); }

    /// Whether the recorded answers belong to the present session.
    bool is_current() const;

    void begin();

    task<void> follow_session();

    /// Discards the answers of another session, or of this session under another time-out.
    void notice_session();

    task<void> keep_alive();

    mono_time next_heartbeat() const;

    /// Sends a heartbeat. Precondition: the lease is held. Never two at once.
    task<void> send_heartbeat();

    /// Applies the rule: the request has just been answered, and serves as k. Leaving requests out is always allowed.
    void learn(mono_time sent);

    void raise(mono_time deadline, bool is_proof);

    /// Called after every change of the answers and of the holds.
    void watch_deadline();

    void set_alarm();
    void look_at_clock();

    /// The same by the loop's clock, if the machine is not suspended before.
    mono_time on_loop(mono_time t) const { return loop().now() + (t - now()); }

    void lapse();

    /// The witness has been removed, so other instances take over its owner's runs.
    void lose_witness(node_path const& witness);

    Registry& registry_;
    [[no_unique_address]] Guard guard_;
    event_count<loop_type> lapsed_;
    event_count<loop_type> stir_; ///< wakes the keeper
    alarm alarm_;
    intrusive_list<seat> live_; ///< the holds of the present generation

    // The state of the present generation.
    session_generation generation_{};
    std::chrono::milliseconds timeout_{};
    std::array<answered, 8> acks_{}; ///< ordered by the time of their answers
    std::size_t count_ = 0;
    mono_time deadline_ = mono_time::min();
    mono_time proven_ = mono_time::min(); ///< the deadline without the assumption
    mono_time held_since_{};              ///< since when it is held continuously
    bool is_lapsed_ = false;              ///< and the holders have been notified
    bool is_answered_ = false;            ///< whether the last request was answered

    mono_time last_sent_ = mono_time::min();
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
    if (g != generation_ || !is_current()) {
        own->is_over = true;
        return hold{std::move(own)};
    }
    bool const is_first = live_.empty();
    live_.push_back(*own);
    learn(sent);
    last_sent_ = std::max(last_sent_, sent);
    if (is_first) {
        held_since_ = now();
        raise(sent + lease_rule::assumed(timeout_), false);
    }
    own->is_over = !is_valid();
    if (is_first && own->is_over) is_lapsed_ = true; // the hold shows that to its owner
    watch_deadline();
    stir_.notify();
    return hold{std::move(own)};
}

template <registry Registry, lease_guard Guard>
session_lease<Registry, Guard>::seat::~seat() {
    if (!this->is_linked()) return;
    this->unlink();
    lease.watch_deadline();
    lease.stir_.notify();
}

template <registry Registry, lease_guard Guard>
bool session_lease<Registry, Guard>::is_current() const {
    auto const s = registry_.session();
    return s.generation == generation_ && s.state != session_state::closed;
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
    auto const s = registry_.session();
    stir_.notify(); // it may now be possible, or impossible, to send
    if (is_current() && s.timeout == timeout_) return;
    bool const was_held = !live_.empty();
    count_ = 0;
    deadline_ = proven_ = mono_time::min();
    generation_ = s.generation;
    timeout_ = s.timeout;
    loop().disarm(alarm_);
    if (was_held) guard_.until(loop().now());
    lapse();
    while (!live_.empty()) live_.pop_front();
    is_lapsed_ = false;
}

template <registry Registry, lease_guard Guard>
task<void> session_lease<Registry, Guard>::keep_alive() {
    for (;;) {
        auto const seen = stir_.edition();
        auto const due = next_heartbeat();
        if (due == mono_time::max())
            co_await stir_.newer_than(seen);
        else if (due > now())
            co_await stir_.newer_than(seen, on_loop(due));
        else
            co_await send_heartbeat();
    }
}

template <registry Registry, lease_guard Guard>
mono_time session_lease<Registry, Guard>::next_heartbeat() const {
    if (live_.empty() || !is_current() || registry_.session().state != session_state::connected)
        return mono_time::max();
    auto const due = last_sent_ + lease_rule::period(timeout_);
    bool const is_comfortable = deadline_ == proven_ && deadline_ >= due + 2 * lease_rule::period(timeout_);
    if (is_comfortable || !is_answered_) return due;
    // Short runs need no proof: the starts of a steady stream of short runs keep the lease alive.
    auto const patience = held_since_ + lease_rule::period(timeout_);
    // Find the earliest possible proof: which of the answered requests may serve as j, and when?
    for (std::size_t i = 0; i < count_; ++i) {
        auto const deadline = acks_[i].sent + lease_rule::proven(timeout_);
        if (deadline <= std::max(deadline_, now())) continue;
        auto const m = acks_[i].received + lease_rule::relay_max(timeout_);
        return std::max(patience, m <= acks_[count_ - 1].sent ? last_sent_ : std::min(due, m));
    }
    return due;
}

template <registry Registry, lease_guard Guard>
task<void> session_lease<Registry, Guard>::send_heartbeat() {
    // Any witness shows that the session is alive. Taking turns also shows which witnesses are gone.
    seat& next = live_.pop_front();
    live_.push_back(next);
    node_path const witness = next.witness;
    auto const g = generation_;
    auto const sent = now();
    last_sent_ = sent;
    is_answered_ = false;
    ++heartbeats_;
    transaction t{g};
    t.check(witness);
    auto const reply = co_await registry_.commit(std::move(t));
    if (!reply || g != generation_) co_return; // unknown; it is not even certain that it was lost
    // If the deadline passed unnoticed while the answer had already arrived, the lease has not lapsed: that deadline
    // was too early.
    if (*reply)
        learn(sent);
    else
        lose_witness(witness);
    watch_deadline();
}

template <registry Registry, lease_guard Guard>
void session_lease<Registry, Guard>::learn(mono_time sent) {
    is_answered_ = true;
    auto m = count_;
    while (m > 0 && acks_[m - 1].received > sent) --m;
    if (m > 0) {
        auto j = m - 1;
        while (j > 0 && acks_[j - 1].received + lease_rule::relay_max(timeout_) > acks_[m - 1].sent) --j;
        if (j > 0) raise(acks_[j - 1].sent + lease_rule::proven(timeout_), true);
    }
    // Keep the last one, and others that are a period apart.
    auto const period = lease_rule::period(timeout_);
    if (count_ > 1 && acks_[count_ - 1].sent < acks_[count_ - 2].sent + period) --count_;
    if (count_ == acks_.size()) {
        std::move(acks_.begin() + 1, acks_.end(), acks_.begin());
        --count_;
    }
    acks_[count_++] = {sent, now()};
}

template <registry Registry, lease_guard Guard>
void session_lease<Registry, Guard>::raise(mono_time deadline, bool is_proof) {
    if (is_proof) proven_ = std::max(proven_, deadline);
    deadline_ = std::max(deadline_, deadline);
    if (is_valid()) is_lapsed_ = false;
}

template <registry Registry, lease_guard Guard>
void session_lease<Registry, Guard>::watch_deadline() {
    loop().disarm(alarm_);
    if (live_.empty()) {
        is_lapsed_ = false;
        guard_.disarm();
        return;
    }
    if (!is_valid()) return lapse();
    set_alarm();
    guard_.until(on_loop(deadline_));
}

template <registry Registry, lease_guard Guard>
void session_lease<Registry, Guard>::set_alarm() {
    loop().arm(alarm_, on_loop(std::min(deadline_, now() + lease_rule::period(timeout_))));
}

template <registry Registry, lease_guard Guard>
void session_lease<Registry, Guard>::look_at_clock() {
    if (is_valid()) return set_alarm();
    lapse();
}

template <registry Registry, lease_guard Guard>
void session_lease<Registry, Guard>::lapse() {
    if (live_.empty() || is_lapsed_) return;
    is_lapsed_ = true;
    count_ = 0; // the next proof must last, so it begins again
    live_.for_each([](seat& s) { s.is_over = true; });
    lapsed_.notify();
}

template <registry Registry, lease_guard Guard>
void session_lease<Registry, Guard>::lose_witness(node_path const& witness) {
    bool any = false;
    live_.for_each([&](seat& s) {
        if (s.witness != witness) return;
        s.is_over = any = true;
        s.unlink();
    });
    if (any) lapsed_.notify();
}

} // namespace elasticjob
#endif // ELASTICJOB_EXECUTION_LEASE_HPP
