// SPDX-License-Identifier: Apache-2.0
/// \file \brief Decides from a session's answers how long its process may rely on it.
#ifndef ELASTICJOB_EXECUTION_LEASE_TERMS_HPP
#define ELASTICJOB_EXECUTION_LEASE_TERMS_HPP

#include <elasticjob/core/algorithm.hpp> // max
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/registry/node.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace elasticjob {

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

namespace detail {

/// How a hold of the lease begins.
enum class hold_start : std::uint8_t {
    valid,   ///< its run may begin
    late,    ///< its run may not begin, because the lease is not valid now; the hold keeps the lease alive
    foreign, ///< its run may not begin, because another session started it; this is no hold of the present session
};

/// The decisions about the lease on a session: when a run may start, when it must stop, and when a heartbeat is due.
/// `session_lease` carries them out, and explains the rule.
///
/// A value: it takes facts with their times, and answers questions about the present moment. All times are of one
/// clock, which never goes back and counts the time in which the machine is suspended. Threads: any one.
class lease_terms {
public:
    // ---- The facts.

    /// Returns false if `s` is the session that is known, under the same time-out. Otherwise all former answers prove
    /// nothing any more, and the holds are over: ask `take_lapse`, then call `end_hold` for each.
    bool note_session(session_view const& s);

    /// A write under generation `g`, sent at `sent` or later, has started a run. Precondition: `note_session(s)`.
    hold_start begin_hold(session_view const& s, session_generation g, mono_time sent, mono_time now);

    /// Precondition: `is_held()`.
    void end_hold() noexcept;

    /// A heartbeat leaves now.
    void note_sent(mono_time now) noexcept;

    /// Whether the reply to a heartbeat of generation `g` says anything about the present session.
    bool concerns(session_generation g) const noexcept { return g == generation_; }

    /// The heartbeat that was sent at `sent` has succeeded. Applies the rule: it serves as k. Leaving answers out is
    /// always allowed. Precondition: `concerns` its generation.
    void note_answer(mono_time sent, mono_time now);

    // ---- The answers.

    /// Whether what is known is about the session `s`.
    bool is_of(session_view const& s) const noexcept {
        return s.generation == generation_ && s.state != session_state::closed;
    }

    bool is_held() const noexcept { return holds_ > 0; }

    /// Whether the session is alive by the rule.
    bool is_valid(session_view const& s, mono_time now) const noexcept { return is_of(s) && now < deadline_; }

    /// Whether that follows from answers alone, without the assumption at the beginning.
    bool is_proven(session_view const& s, mono_time now) const noexcept { return is_of(s) && now < proven_; }

    /// In the distant past if nothing is known about `s`.
    mono_time deadline(session_view const& s) const noexcept { return is_of(s) ? deadline_ : mono_time::min(); }

    /// Call this after each fact, and at `next_look`. Returns true once each time the lease ends while it is held: all
    /// runs must be told to stop, and their holds stay over.
    bool take_lapse(session_view const& s, mono_time now) noexcept;

    /// When to ask `take_lapse` again, though no fact comes: at the deadline, or a period from now, because a timer may
    /// stand still while the machine is suspended.
    mono_time next_look(mono_time now) const noexcept;

    /// When the next heartbeat is due: at once if that is in the past, and never (`mono_time::max()`) if the lease is
    /// not held or `s` is not connected. Precondition: no heartbeat is waiting for its reply.
    mono_time next_heartbeat(session_view const& s, mono_time now) const;

    /// The state that matters from `now` on, as text, for searches. Equal texts mean equal answers to equal facts.
    /// Preconditions: the times of all facts are multiples of a period; requests are answered in the order of their
    /// sending; none that will be answered was sent before `unanswered`. Times are in milliseconds, from `now`.
    friend std::string to_string(lease_terms const& l, mono_time now, mono_time unanswered);

private:
    /// A successful request of the session.
    struct answered {
        mono_time sent;
        mono_time received;
    };

    session_generation generation_{};
    std::chrono::milliseconds timeout_{};
    std::array<answered, 8> acks_{}; ///< ordered by the time of their answers
    std::size_t count_ = 0;
    std::size_t holds_ = 0;
    mono_time deadline_ = mono_time::min();
    mono_time proven_ = mono_time::min(); ///< the deadline without the assumption
    mono_time held_since_{};              ///< since when it is held continuously
    mono_time last_sent_ = mono_time::min();
    bool is_lapsed_ = false;   ///< and the holders have been notified
    bool is_answered_ = false; ///< whether the last request was answered
};

std::string to_string(lease_terms const& l, mono_time now, mono_time unanswered);

} // namespace detail
} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/lease_terms.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_LEASE_TERMS_HPP
