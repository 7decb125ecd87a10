// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_LEASE_TERMS_IPP
#define ELASTICJOB_IMPL_EXECUTION_LEASE_TERMS_IPP

#include <elasticjob/core/algorithm.hpp> // max, min, move
#include <elasticjob/execution/lease_terms.hpp>

#include <cassert>

namespace elasticjob::detail {

// ---- The facts.

ELASTICJOB_DECL bool lease_terms::note_session(session_view const& s) {
    if (is_of(s) && s.timeout == timeout_) return false;
    count_ = 0;
    deadline_ = proven_ = mono_time::min();
    generation_ = s.generation;
    timeout_ = s.timeout;
    return true;
}

ELASTICJOB_DECL hold_start lease_terms::begin_hold(session_view const& s, session_generation g, mono_time sent,
                                                   mono_time now) {
    if (!concerns(g) || !is_of(s)) return hold_start::foreign;
    bool const is_first = !is_held();
    ++holds_;
    note_answer(sent, now);
    last_sent_ = std::max(last_sent_, sent);
    if (is_first) {
        held_since_ = now;
        deadline_ = std::max(deadline_, sent + lease_rule::assumed(timeout_));
    }
    if (is_valid(s, now)) return hold_start::valid;
    if (is_first) is_lapsed_ = true; // the hold shows that to its owner
    return hold_start::late;
}

ELASTICJOB_DECL void lease_terms::end_hold() noexcept {
    assert(is_held());
    if (--holds_ == 0) is_lapsed_ = false;
}

ELASTICJOB_DECL void lease_terms::note_sent(mono_time now) noexcept {
    last_sent_ = now;
    is_answered_ = false;
}

ELASTICJOB_DECL void lease_terms::note_answer(mono_time sent, mono_time now) {
    is_answered_ = true;
    auto m = count_;
    while (m > 0 && acks_[m - 1].received > sent) --m;
    if (m > 0) {
        auto j = m - 1;
        while (j > 0 && acks_[j - 1].received + lease_rule::relay_max(timeout_) > acks_[m - 1].sent) --j;
        if (j > 0) {
            proven_ = std::max(proven_, acks_[j - 1].sent + lease_rule::proven(timeout_));
            deadline_ = std::max(deadline_, proven_);
        }
    }
    // Keep the last one, and others that are a period apart.
    auto const period = lease_rule::period(timeout_);
    if (count_ > 1 && acks_[count_ - 1].sent < acks_[count_ - 2].sent + period) --count_;
    if (count_ == acks_.size()) {
        std::move(acks_.begin() + 1, acks_.end(), acks_.begin());
        --count_;
    }
    acks_[count_++] = {sent, now};
}

// ---- The answers.

ELASTICJOB_DECL bool lease_terms::take_lapse(session_view const& s, mono_time now) noexcept {
    if (is_valid(s, now)) {
        is_lapsed_ = false;
        return false;
    }
    if (!is_held() || is_lapsed_) return false;
    is_lapsed_ = true;
    count_ = 0; // the next proof must last, so it begins again
    return true;
}

ELASTICJOB_DECL mono_time lease_terms::next_look(mono_time now) const noexcept {
    return std::min(deadline_, now + lease_rule::period(timeout_));
}

ELASTICJOB_DECL mono_time lease_terms::next_heartbeat(session_view const& s, mono_time now) const {
    if (!is_held() || !is_of(s) || s.state != session_state::connected) return mono_time::max();
    auto const due = last_sent_ + lease_rule::period(timeout_);
    bool const is_comfortable = deadline_ == proven_ && deadline_ >= due + 2 * lease_rule::period(timeout_);
    if (is_comfortable || !is_answered_) return due;
    // Short runs need no proof: the starts of a steady stream of short runs keep the lease alive.
    auto const earliest = held_since_ + lease_rule::period(timeout_);
    // Find the earliest possible proof: which of the answered requests may serve as j, and when?
    for (std::size_t i = 0; i < count_; ++i) {
        auto const deadline = acks_[i].sent + lease_rule::proven(timeout_);
        if (deadline <= std::max(deadline_, now)) continue;
        auto const m = acks_[i].received + lease_rule::relay_max(timeout_);
        return std::max(earliest, m <= acks_[count_ - 1].sent ? last_sent_ : std::min(due, m));
    }
    return due;
}

// ---- For searches.

ELASTICJOB_DECL std::string to_string(lease_terms const& l, mono_time now, mono_time unanswered) {
    auto const period = lease_rule::period(l.timeout_);
    auto const relay = lease_rule::relay_max(l.timeout_);
    auto const since = [&](mono_time t, mono_time::duration least) {
        auto const from = t < now + least ? least : t - now;
        return std::to_string(std::chrono::floor<std::chrono::milliseconds>(from).count()) + ' ';
    };
    // A time before the least one has the same effect as that one.
    auto text = std::to_string(l.holds_) + (l.is_lapsed_ ? "l" : "-") + (l.is_answered_ ? "a " : "- ") +
                since(l.deadline_, -3 * period) + since(l.proven_, -3 * period) + since(l.last_sent_, -l.timeout_);
    if (l.is_held()) text += since(l.held_since_, -period);

    // An answer matters by the deadline that it makes possible as j, or as m with a j that is there already. A later
    // answer makes a later deadline possible, so only the last one matters of those that all requests to come may
    // follow.
    auto const deadline = [&](std::size_t j) { return l.acks_[j].sent + lease_rule::proven(l.timeout_); };
    auto const is_of_use = [&](std::size_t j) { return deadline(j) > std::max(l.proven_, now - 3 * period); };
    for (std::size_t i = 0; i < l.count_; ++i) {
        auto const& ack = l.acks_[i];
        bool const is_last = i + 1 == l.count_;
        if (is_of_use(i) && (is_last || l.acks_[i + 1].received + relay > unanswered))
            text +=
                "/j" + since(deadline(i), -3 * period) + since(std::max(ack.received, unanswered - relay), -l.timeout_);
        auto j = i;
        while (j > 0 && l.acks_[j - 1].received + relay > ack.sent) --j;
        if (j > 0 && is_of_use(j - 1) && (is_last || l.acks_[i + 1].received > unanswered))
            text += "/m" + since(deadline(j - 1), -3 * period) + since(std::max(ack.received, unanswered), -l.timeout_);
    }
    return text;
}

} // namespace elasticjob::detail

#endif // ELASTICJOB_IMPL_EXECUTION_LEASE_TERMS_IPP
