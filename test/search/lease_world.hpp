// SPDX-License-Identifier: Apache-2.0
/// \file \brief The lease of an instance that runs an item, in a world for the search of all orders of events.
#ifndef ELASTICJOB_TEST_SEARCH_LEASE_WORLD_HPP
#define ELASTICJOB_TEST_SEARCH_LEASE_WORLD_HPP

#include <elasticjob/execution/lease_terms.hpp>
#include <elasticjob/testing/check_all.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob::test {

/// The number of possible events. Time passes in steps of a tenth of the session time-out T.
struct lease_scope {
    int starts = 1;            ///< of runs by the holder, in each session
    int sessions = 0;          ///< that the holder opens after its first one
    int stalls = -1;           ///< of wires that stand still, and so keep their messages for any time; -1: any number
    int losses = 0;            ///< of requests or replies
    int gains = 0;             ///< steps by which the leader's clock runs ahead of the holder's, at most one in each T
    int pauses = 0;            ///< steps by which the leader asks late, while heartbeats have always been regular
    bool is_irregular = false; ///< the leader asks whenever it likes, and not just when it must
    int freezes = 0;           ///< of the process: it does nothing, and its clock goes on
    int sleeps = 0;            ///< of the machine: the process does nothing, and its timers stand still
    int closings = 0;          ///< of sessions, by the holder's own registry
    int in_time = -1; ///< the most steps that an answer takes once the lease is proven; at once before; -1: any
    int late = 0;     ///< answers that take up to three steps nevertheless
};

/// Weaknesses that a search can plant: each removes one protection against two simultaneous runs of an item.
enum class lease_weakness {
    none,
    answers_count_from_their_arrival, ///< and not from when their requests were sent
    one_answer_proves,                ///< the session is taken to live for 0.9 T after any answered request
    two_answers_prove,                ///< j and m suffice
    three_quick_answers_prove,        ///< j, m and k suffice even if m follows j at once
    margins_are_ignored,              ///< the lease ends a tenth of the time-out later
    longer_timeouts_are_assumed,      ///< the time-out is the one asked for, not the one granted
    late_starts_run,                  ///< a run begins though the lease has ended when the start is confirmed
    old_starts_count,                 ///< a start counts for the session that is there when it is confirmed
    lost_sessions_are_ignored,        ///< a run goes on although its session is over, up to the end of its lease
    frozen_time_is_ignored,           ///< the clock stands still while the process does
    clocks_are_not_looked_at,         ///< no timer ends a lease
    clocks_are_looked_at_once,        ///< a timer for the deadline, and none in each tenth of the time-out
    successors_do_not_wait,           ///< the item is taken over before the servers end the session
    heartbeats_are_rare,              ///< one in four tenths of the time-out
};

/// The life of a session as decision 7 describes it: a client, the follower that it is connected to, and the leader,
/// which ends the session as soon as it may. The client is the holder of an item. It starts a run and keeps the lease.
/// Another instance, the successor, starts its run as soon as the session has ended and the mark of the holder's run
/// has gone.
///
/// The shipped `lease_terms` decides. The world does what `session_lease` does around it.
///
/// Before the first start of a session all is normal: messages arrive at once, the client pings in each third of
/// T, and the leader asks in each quarter. From then on, messages take any time, but keep their order on each wire.
///
/// Left out, because they only touch the session more often: later pings, and reconnections.
class lease_world {
public:
    explicit lease_world(lease_scope s, lease_weakness without = lease_weakness::none);

    std::vector<std::string> moves() const;
    void make(std::string const& move);
    std::string key() const;
    std::string problem() const;
    bool is_goal() const { return is_over(); }

private:
    using weakness = lease_weakness;

    enum class run_phase : std::uint8_t { none, runs, told };
    enum class mark_of : std::uint8_t { nobody, holder, successor };

    struct request {
        bool is_start = false;
        bool is_usual = false; ///< nothing unusual had happened when it was sent
        bool is_late = false;  ///< it may take longer than others
        bool is_refused = false;
        std::uint64_t generation = 0;
        mono_time sent{};
    };

    // ---- Time.

    static constexpr auto step = std::chrono::seconds{1};
    static constexpr int timeout_steps = 10;
    static constexpr std::chrono::milliseconds timeout = timeout_steps * step;
    static constexpr int questions_apart_max = timeout_steps / 4; ///< so the leader asks every second step
    static constexpr int pings_apart_max = timeout_steps / 3;
    static constexpr mono_time never = mono_time::max();

    /// The holder's clock, as its decisions see it.
    mono_time clock() const { return without_ == weakness::frozen_time_is_ignored ? now_ - stood_still_ : now_; }

    std::array<std::string const*, 3> wires() const { return {&to_follower_, &to_leader_, &from_leader_}; }
    /// The number of further wires that stall if time passes now.
    int stalls() const;
    /// A reply waits if another request has been sent at this moment. That one does not follow the reply, and the clock
    /// must show it.
    bool is_deliverable(std::string const& wire) const {
        bool const is_moment_of_request = count_ > 1 && requests_[count_ - 1].sent == clock();
        bool const is_reply = (&wire == &from_leader_ || &wire == &to_holder_) && wire.front() != 'Q';
        return !wire.empty() && !(is_moment_of_request && is_reply);
    }
    bool may_pass() const;
    void carry_out(std::string const& move);
    void pass();

    // ---- The holder.

    bool is_valid() const;
    bool is_proven() const { return terms_.is_proven(session_, clock()); }
    bool is_alarm_due() const { return alarm_ <= loop_now_; }
    bool is_heartbeat_due() const;
    bool has_request(bool is_start) const;
    bool is_over() const {
        bool const may_start = left_.sessions > 0 || (starts_ > 0 && session_.state == session_state::connected);
        return run_ != run_phase::runs && !may_start && !has_request(true);
    }

    void send(bool is_start);
    void hear_reply();
    void begin_run(request const& r);
    void learn(request const& r);
    bool check_lapse();
    void watch_deadline();
    void set_alarm();
    void note_session();
    void lose_session();
    void open_session();

    // ---- The servers.

    void ask();
    void follower_hears_leader();
    void leader_hears_follower();
    void handle(request& r);
    void end_session();

    void forget(std::size_t request);
    static char take_front(std::string& wire);

    lease_scope left_;
    lease_weakness without_;
    mono_time now_{std::chrono::hours{1}};
    mono_time::duration stood_still_{}; ///< how long the process has been stopped
    mono_time loop_now_ = now_;         ///< the clock of its timers

    // The holder.
    detail::lease_terms terms_;
    session_view session_{{1}, 1, session_state::connected, timeout};
    mono_time alarm_ = never;   ///< by the loop's clock
    int starts_ = left_.starts; ///< that are left in this session
    run_phase run_ = run_phase::none;
    bool is_usual_run_ = false; ///< nothing unusual had happened when its start was sent
    bool is_frozen_ = false;
    bool is_asleep_ = false;
    int grace_ = 0; ///< steps in which a run may not have been told yet, because the machine slept
    bool was_stopped_ = false;

    // Its assumptions without a protection: the end of the lease, and the sending times of the last two answers.
    mono_time believed_ = mono_time::min();
    std::vector<mono_time> recent_;

    // Requests in the order of their sending. Wires contain their indices, `Q` for the leader's questions, and `A` for
    // an answer that says that the session was heard of.
    std::array<request, 4> requests_{};
    std::size_t count_ = 0;
    std::string to_follower_, to_leader_, from_leader_, to_holder_;
    std::array<bool, 3> is_still_{}; ///< the wires up to the next moment at which they are empty

    // The servers.
    bool is_usual_ = true;
    bool has_stalled_ = false;     ///< a wire, at some time
    std::uint64_t generation_ = 1; ///< of the session that they know
    bool is_alive_ = true;
    bool has_heard_ = false; ///< the follower, since it was last asked
    int touched_ = 0;        ///< steps of the leader's clock since the last touch
    int asked_ = 0;          ///< steps since the last question
    int pinged_ = 0;         ///< steps since the last ping
    int next_gain_ = 0;      ///< steps until the leader's clock may gain another one
    mark_of mark_ = mark_of::nobody;
    bool is_taken_over_ = false; ///< the successor runs
};

inline lease_world::lease_world(lease_scope s, lease_weakness without) : left_{s}, without_{without} {
    if (without_ == weakness::longer_timeouts_are_assumed) session_.timeout = timeout * 3 / 2;
    note_session();
}

// ---- Time.

/// Due actions come before time passes.
inline bool lease_world::may_pass() const {
    if (asked_ >= questions_apart_max) return false;
    if (is_usual_ && pinged_ >= pings_apart_max) return false;
    if (!is_frozen_ && (is_alarm_due() || is_heartbeat_due())) return false;
    if (left_.stalls >= 0 && stalls() > left_.stalls) return false;
    if (left_.in_time < 0) return true;
    for (std::size_t i = 0; i < count_; ++i) {
        auto const& r = requests_[i];
        int const most = r.is_late ? 3 : is_proven() ? left_.in_time : 0;
        if (clock() - r.sent >= most * step) return false;
    }
    return true;
}

inline int lease_world::stalls() const {
    int n = 0;
    for (std::size_t i = 0; i < is_still_.size(); ++i) n += !is_still_[i] && is_deliverable(*wires()[i]);
    return n;
}

inline void lease_world::pass() {
    if (stalls() > 0) has_stalled_ = true;
    if (left_.stalls >= 0) {
        left_.stalls -= stalls();
        for (std::size_t i = 0; i < is_still_.size(); ++i) is_still_[i] = is_still_[i] || is_deliverable(*wires()[i]);
    }
    now_ += step;
    if (!is_asleep_) loop_now_ += step;
    if (is_frozen_) stood_still_ += step;
    if (!is_frozen_ && grace_ > 0) --grace_;
    if (next_gain_ > 0) --next_gain_;
    if (is_alive_) touched_ = std::min(touched_ + 1, timeout_steps);
    if (is_alive_) ++asked_;
    if (is_usual_) ++pinged_;
}

// ---- The moves.

inline std::vector<std::string> lease_world::moves() const {
    std::vector<std::string> all;
    if (is_over() || !problem().empty()) return all;
    auto const add = [&](bool is_possible, char const* what) {
        if (is_possible) all.emplace_back(what);
    };
    add(may_pass(), "time passes");
    add(left_.gains > 0 && next_gain_ == 0 && !is_usual_ && is_alive_, "the leader's clock gains a step");
    add(asked_ >= questions_apart_max && left_.pauses > 0 && is_proven() && !has_stalled_, "the leader pauses");
    add(left_.is_irregular ? asked_ > 0 : asked_ >= questions_apart_max, "the leader asks");
    if (is_usual_) add(pinged_ > 0, "the holder pings");
    add(!to_follower_.empty(), "the follower hears the holder");
    add(!to_leader_.empty(), "the leader hears the follower");
    add(is_deliverable(from_leader_), "the follower hears the leader");
    add(is_alive_ && touched_ >= timeout_steps, "the leader ends the session");
    bool const has_session_ended = !is_alive_ || generation_ > 1;
    bool const is_item_free = mark_ == mark_of::nobody && has_session_ended;
    add(!is_taken_over_ && (is_item_free || (without_ == weakness::successors_do_not_wait && !is_usual_)),
        "the successor starts its run");
    if (is_frozen_) {
        add(true, "the process continues");
        return all;
    }
    add(left_.freezes > 0 && !is_usual_, "the process is frozen");
    add(left_.sleeps > 0 && !is_usual_, "the machine sleeps");
    add(is_alarm_due(), "the holder looks at its clock");
    add(is_heartbeat_due(), "the holder sends a heartbeat");
    add(is_deliverable(to_holder_), "the holder hears a reply");
    add(left_.losses > 0 && !to_follower_.empty(), "a request is lost");
    add(left_.losses > 0 && !from_leader_.empty() && from_leader_.front() != 'Q', "a reply is lost");
    add(left_.late > 0 && count_ > 0 && is_proven() && !requests_[0].is_late, "an answer is late");
    bool const is_connected = session_.state == session_state::connected;
    add(starts_ > 0 && is_connected && run_ == run_phase::none && !has_request(true) && !terms_.is_held(),
        "the holder starts a run");
    add(run_ != run_phase::none, "the run ends");
    add(mark_ == mark_of::holder && run_ == run_phase::none && !has_request(true) && is_alive_ && is_connected,
        "the end is put on record");
    add(is_connected && !is_alive_, "the holder hears that its session is over");
    add(left_.closings > 0 && is_connected && !is_usual_, "the holder closes its session");
    add(!is_connected && left_.sessions > 0, "the holder opens a session");
    return all;
}

inline void lease_world::make(std::string const& move) {
    carry_out(move);
    for (std::size_t i = 0; i < is_still_.size(); ++i) is_still_[i] = is_still_[i] && !wires()[i]->empty();
}

inline void lease_world::carry_out(std::string const& move) {
    if (move == "time passes") {
        pass();
    } else if (move == "the leader's clock gains a step") {
        --left_.gains;
        next_gain_ = timeout_steps;
        touched_ = std::min(touched_ + 1, timeout_steps);
    } else if (move == "the leader pauses") {
        --left_.pauses;
        --asked_;
    } else if (move == "the leader asks") {
        ask();
    } else if (move == "the holder pings") {
        pinged_ = 0;
        has_heard_ = true;
    } else if (move == "the follower hears the holder") {
        auto const r = take_front(to_follower_);
        if (requests_[static_cast<std::size_t>(r - '0')].generation == generation_) has_heard_ = true;
        to_leader_ += r;
    } else if (move == "the leader hears the follower") {
        leader_hears_follower();
    } else if (move == "the follower hears the leader") {
        follower_hears_leader();
    } else if (move == "the leader ends the session") {
        end_session();
    } else if (move == "the successor starts its run") {
        is_taken_over_ = true;
        mark_ = mark_of::successor;
    } else if (move == "the process continues") {
        is_frozen_ = false;
        grace_ = is_asleep_ ? 1 : 0;
        is_asleep_ = false;
    } else if (move == "the process is frozen") {
        --left_.freezes;
        is_frozen_ = true;
    } else if (move == "the machine sleeps") {
        --left_.sleeps;
        is_frozen_ = is_asleep_ = true;
    } else if (move == "the holder looks at its clock") {
        grace_ = 0;
        alarm_ = never;
        if (check_lapse()) set_alarm();
    } else if (move == "the holder sends a heartbeat") {
        send(false);
    } else if (move == "the holder hears a reply") {
        hear_reply();
    } else if (move == "a request is lost") {
        --left_.losses;
        forget(static_cast<std::size_t>(to_follower_.front() - '0'));
    } else if (move == "a reply is lost") {
        --left_.losses;
        forget(static_cast<std::size_t>(from_leader_.front() - '0'));
    } else if (move == "an answer is late") {
        --left_.late;
        requests_[0].is_late = true;
    } else if (move == "the holder starts a run") {
        --starts_;
        send(true);
    } else if (move == "the run ends") {
        run_ = run_phase::none;
        if (terms_.is_held()) terms_.end_hold();
        watch_deadline();
    } else if (move == "the end is put on record") {
        mark_ = mark_of::nobody;
    } else if (move == "the holder hears that its session is over") {
        lose_session();
    } else if (move == "the holder closes its session") {
        --left_.closings;
        end_session();
        lose_session();
    } else if (move == "the holder opens a session") {
        open_session();
    }
}

// ---- The holder, in the place of `session_lease`.

inline bool lease_world::is_valid() const {
    auto const margin = without_ == weakness::margins_are_ignored ? timeout / 10 : mono_time::duration{};
    return terms_.is_valid(session_, clock() - margin) || (terms_.is_of(session_) && clock() < believed_);
}

inline bool lease_world::has_request(bool is_start) const {
    return std::any_of(requests_.begin(), requests_.begin() + static_cast<std::ptrdiff_t>(count_),
                       [&](request const& r) { return r.is_start == is_start; });
}

inline bool lease_world::is_heartbeat_due() const {
    auto const rare = without_ == weakness::heartbeats_are_rare ? timeout * 3 / 10 : mono_time::duration{};
    return !has_request(false) && terms_.next_heartbeat(session_, clock()) <= clock() - rare;
}

inline void lease_world::send(bool is_start) {
    if (!is_start) terms_.note_sent(clock());
    to_follower_ += static_cast<char>('0' + count_);
    requests_[count_++] = {is_start, is_usual_, false, false, session_.generation.value, clock()};
    is_usual_ = false;
    pinged_ = 0;
}

inline void lease_world::hear_reply() {
    auto const i = static_cast<std::size_t>(take_front(to_holder_) - '0');
    auto const r = requests_[i];
    forget(i);
    if (r.is_refused) return;
    if (r.is_start) return begin_run(r);
    if (!terms_.concerns({r.generation})) return;
    learn(r);
    watch_deadline();
}

inline void lease_world::begin_run(request const& r) {
    note_session();
    bool const is_any_session = without_ == weakness::old_starts_count;
    auto const g = is_any_session ? session_.generation : session_generation{r.generation};
    bool const is_late_taken = without_ == weakness::answers_count_from_their_arrival;
    auto const start = terms_.begin_hold(session_, g, is_late_taken ? clock() : r.sent, clock());
    if (start == detail::hold_start::foreign) return;
    bool const begins = start == detail::hold_start::valid ||
                        (start == detail::hold_start::late && without_ == weakness::late_starts_run);
    run_ = begins ? run_phase::runs : run_phase::none;
    is_usual_run_ = r.is_usual;
    if (!begins) {
        was_stopped_ = true;
        terms_.end_hold(); // the hold goes at once
    }
    watch_deadline();
}

inline void lease_world::learn(request const& r) {
    auto const sent = r.sent;
    auto const now = clock();
    switch (without_) {
    case weakness::answers_count_from_their_arrival:
        return terms_.note_answer(now, now);
    case weakness::one_answer_proves:
        believed_ = std::max(believed_, sent + lease_rule::proven(timeout));
        break;
    case weakness::two_answers_prove: {
        terms_.note_answer(sent, now);
        auto with_another = terms_;
        with_another.note_answer(now, now);
        believed_ = std::max(believed_, with_another.deadline(session_));
        return;
    }
    case weakness::three_quick_answers_prove:
        recent_.push_back(sent);
        if (recent_.size() < 3) break;
        believed_ = std::max(believed_, recent_.front() + lease_rule::proven(timeout));
        recent_.erase(recent_.begin());
        break;
    default:
        break;
    }
    terms_.note_answer(sent, now);
}

inline bool lease_world::check_lapse() {
    if (is_valid()) return true;
    if (terms_.take_lapse(session_, clock()) && run_ == run_phase::runs) {
        run_ = run_phase::told;
        was_stopped_ = true;
    }
    return false;
}

inline void lease_world::watch_deadline() {
    alarm_ = never;
    if (terms_.is_held() && check_lapse()) set_alarm();
}

inline void lease_world::set_alarm() {
    if (without_ == weakness::clocks_are_not_looked_at) return;
    bool const is_single = without_ == weakness::clocks_are_looked_at_once;
    auto const next = is_single ? terms_.deadline(session_) : terms_.next_look(clock());
    alarm_ = loop_now_ + (next > clock() ? next - clock() : step);
}

inline void lease_world::note_session() {
    if (!terms_.note_session(session_)) return;
    alarm_ = never;
    believed_ = mono_time::min();
    recent_.clear();
    check_lapse();
    while (terms_.is_held()) terms_.end_hold();
}

/// The pending replies have just arrived, but are unread. Nothing else of the session will arrive.
inline void lease_world::lose_session() {
    if (without_ == weakness::lost_sessions_are_ignored) return;
    ++session_.generation.value;
    session_.state = session_state::connecting;
    note_session();
    for (auto const c : from_leader_)
        if (c != 'Q') to_holder_ += c;
    std::erase_if(from_leader_, [](char c) { return c != 'Q'; });
    for (std::size_t i = count_; i-- > 0;)
        if (to_holder_.find(static_cast<char>('0' + i)) == std::string::npos) forget(i);
}

inline void lease_world::open_session() {
    --left_.sessions;
    starts_ = left_.starts;
    session_.state = session_state::connected;
    note_session();
    ++generation_;
    is_alive_ = is_usual_ = true;
    has_stalled_ = false;
    has_heard_ = false;
    touched_ = asked_ = pinged_ = 0;
    to_leader_.clear();
    from_leader_.clear();
}

// ---- The servers.

inline void lease_world::ask() {
    asked_ = 0;
    if (is_usual_) {
        if (std::exchange(has_heard_, false)) touched_ = 0;
    } else if (!from_leader_.ends_with("QQ")) { // a third one could only be answered in between
        from_leader_ += 'Q';
    }
}

inline void lease_world::follower_hears_leader() {
    auto const c = take_front(from_leader_);
    if (c != 'Q') {
        to_holder_ += c;
        if (!is_frozen_) hear_reply();
    } else if (std::exchange(has_heard_, false) && !to_leader_.ends_with('A')) { // two answers touch as one does
        to_leader_ += 'A';
    }
}

inline void lease_world::leader_hears_follower() {
    auto const c = take_front(to_leader_);
    if (c != 'A') return handle(requests_[static_cast<std::size_t>(c - '0')]), void(from_leader_ += c);
    if (is_alive_) touched_ = 0;
}

inline void lease_world::handle(request& r) {
    bool const is_allowed = is_alive_ && r.generation == generation_;
    bool const is_done = is_allowed && (!r.is_start || mark_ == mark_of::nobody);
    r.is_refused = !is_done;
    if (is_done && r.is_start) mark_ = mark_of::holder;
}

inline void lease_world::end_session() {
    is_alive_ = has_heard_ = false;
    std::erase(from_leader_, 'Q');
    std::erase(to_leader_, 'A');
    asked_ = touched_ = 0;
    if (mark_ == mark_of::holder) mark_ = mark_of::nobody;
}

inline void lease_world::forget(std::size_t i) {
    std::move(requests_.begin() + static_cast<std::ptrdiff_t>(i) + 1,
              requests_.begin() + static_cast<std::ptrdiff_t>(count_),
              requests_.begin() + static_cast<std::ptrdiff_t>(i));
    --count_;
    for (auto* wire : {&to_follower_, &to_leader_, &from_leader_, &to_holder_}) {
        std::erase(*wire, static_cast<char>('0' + i));
        for (auto& c : *wire)
            if (c <= '9' && c > static_cast<char>('0' + i)) --c;
    }
}

inline char lease_world::take_front(std::string& wire) {
    char const c = wire.front();
    wire.erase(0, 1);
    return c;
}

// ---- The checks.

inline std::string lease_world::problem() const {
    if (left_.in_time >= 0 && was_stopped_)
        return "a holder is stopped, or may not begin, though its answers are in time";
    if (run_ != run_phase::runs || is_frozen_ || !is_taken_over_) return {};
    if (is_valid()) return is_usual_run_ || is_proven() || believed_ > clock() ? "both instances run the item" : "";
    bool const is_being_told = is_alarm_due() || (grace_ > 0 && alarm_ != never);
    return is_being_told || !is_usual_run_ ? "" : "both instances run the item, and nobody tells the first to stop";
}

inline std::string lease_world::key() const {
    auto const since = [&](mono_time t, mono_time from) {
        auto const ms = std::chrono::floor<std::chrono::milliseconds>(t - from);
        return std::to_string(std::max(ms, -timeout).count()) + ',';
    };
    std::string k = to_string(terms_, clock(), count_ > 0 ? requests_[0].sent : clock()) + '|' + to_follower_ + '|' +
                    to_leader_ + '|' + from_leader_ + '|' + to_holder_ + '|';
    for (std::size_t i = 0; i < count_; ++i) {
        auto const& r = requests_[i];
        k += since(r.sent, clock());
        k += static_cast<char>('a' + r.is_start + 2 * r.is_usual + 4 * r.is_late + 8 * r.is_refused);
        k += static_cast<char>('0' + r.generation);
    }
    k += '|';
    for (std::size_t i = 0; i < is_still_.size(); ++i) k += is_still_[i] ? 's' : '-';
    for (int const n : {left_.stalls + 1,
                        starts_,
                        left_.losses,
                        left_.gains,
                        left_.pauses,
                        left_.freezes,
                        left_.sleeps,
                        left_.closings,
                        left_.sessions,
                        left_.late,
                        grace_,
                        touched_,
                        asked_,
                        is_usual_ ? pinged_ : 0,
                        left_.gains > 0 ? next_gain_ : 0,
                        static_cast<int>(run_),
                        static_cast<int>(mark_),
                        static_cast<int>(session_.state),
                        static_cast<int>(session_.generation.value),
                        static_cast<int>(generation_)})
        k += static_cast<char>('0' + n);
    for (bool const b : {is_usual_run_, is_frozen_, is_asleep_, was_stopped_, is_usual_,
                         left_.pauses > 0 && has_stalled_, is_alive_, has_heard_, is_taken_over_})
        k += b ? '1' : '0';
    if (alarm_ != never) k += since(alarm_, loop_now_);
    if (believed_ != mono_time::min()) k += 'b' + since(believed_, clock());
    for (auto const sent : recent_) k += '/' + since(sent, clock());
    return k;
}

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SEARCH_LEASE_WORLD_HPP
