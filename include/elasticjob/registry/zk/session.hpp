// SPDX-License-Identifier: Apache-2.0
/// \file \brief Keeps a session with a ZooKeeper ensemble, and opens the next one when the session is lost.
#ifndef ELASTICJOB_REGISTRY_ZK_SESSION_HPP
#define ELASTICJOB_REGISTRY_ZK_SESSION_HPP

#include <elasticjob/core/algorithm.hpp> // max, min
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/event_loop.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/random.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/registry/zk/aside.hpp>
#include <elasticjob/registry/zk/call_table.hpp>
#include <elasticjob/registry/zk/ephemeral_table.hpp>
#include <elasticjob/registry/zk/guarded_sessions.hpp>
#include <elasticjob/registry/zk/requests.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace elasticjob::zk {

/// Opens one generation after the other, each with its own handle of libzookeeper, never two at once. A generation ends
/// when the server says that its session has expired, or when the connection has been down, or the first request has
/// been turned away, for the whole session time-out. In the last two cases the session may still be alive. The handle
/// is closed all the same: on a network path that loses only replies, libzookeeper's attempts to reconnect would keep
/// the session alive forever, and its ephemeral nodes would never be removed.
///
/// libzookeeper's callbacks post notifications to the loop, all from one thread, so that they stay in order: an event
/// comes before the data that shows its cause. All notifications of one handle are handled before the next handle is
/// opened. Threads: construction on any; `open` once, then `close` once, and everything else on the loop.
class session {
public:
    session(event_loop& l, settings s);
    session(session const&) = delete;
    session& operator=(session const&) = delete;

    event_loop& loop() const noexcept { return loop_; }
    settings const& its_settings() const noexcept { return settings_; }
    session_view view() const noexcept { return view_; }
    event_count<event_loop>& changed() noexcept { return changed_; }
    call_table& calls() noexcept { return calls_; }
    ephemeral_table& ephemerals() noexcept { return ephemerals_; }
    watch_table& watches() noexcept { return watches_; }

    /// The spent part of the budget for watches or of that for ephemeral nodes, whichever is larger; from 0 to 1.
    double budget_used() const noexcept;

    /// The reason why no request of this generation can be sent now, or nothing.
    std::optional<error> refusal(session_generation g) const;

    /// Owns the task until it ends, or until the session is closed.
    void spawn(task<void> t) { abandoned_.spawn(std::move(t)); }

    /// Waits for the first connection. Errors: unreachable, no_auth, the server's error for the name space;
    /// invalid_argument and overloaded for the guardian.
    task<result<void>> open();

    /// Ends the session, and ends every call with `closed`. Completes when libzookeeper holds no memory any more.
    task<result<void>> close();

    // Called by libzookeeper, on its thread.

    void hear(link_news news);
    void hear(watch_target fired);

private:
    bool is_closed() const noexcept { return view_.state == session_state::closed; }

    /// The life of all generations.
    task<void> keep();

    /// The life of one handle. Returns whether its session was ever usable.
    task<bool> keep_one();
    struct opener {
        session& self;
        void operator()() const { self.opened_ = self.handle_.open(self, self.servers_); }
    };
    struct closer {
        session& self;
        void operator()() const { self.handle_.close(); }
    };

    /// Waits until no call is outstanding, because libzookeeper would leak such calls when it is closed. Nobody waits
    /// for their replies any more.
    task<void> drain();

    void take(link_news const& news);

    void suspend();

    void lose();

    /// The connection is up: makes the session usable.
    void greet();

    /// Sends the digest and the first requests until the session is usable, or the connection breaks.
    task<void> run_greeting();

    /// The first requests. Errors: the server's.
    task<result<void>> find_name_space();

    /// Creates the elements of the name space from the top. Existing elements may belong to others; only the last one
    /// must exist in the end.
    task<result<void>> create_name_space();

    void establish();

    /// Gives the handle up if its session is not usable after that time.
    void lapse_after(std::chrono::milliseconds span);

    error unreachable() const;

    /// Fires when the connection has been down, or the session not usable, for the whole session time-out, and when the
    /// first server has been silent for too long.
    struct lapse : timer {
        explicit lapse(session& s) noexcept : timer{&ring}, self{s} {}
        static void ring(timer& t) { static_cast<lapse&>(t).self.lose(); }
        session& self;
    };

    /// Runs in the next turn of the loop after a watch has become unwanted. So a watch that a caller requests again at
    /// once costs no request.
    struct tidier : work {
        explicit tidier(session& s) noexcept : work{&act_on}, self{s} {}
        static void act_on(work& w, work_action action) {
            if (action == work_action::run) static_cast<tidier&>(w).self.calls_.remove_unwanted();
        }
        session& self;
    };

    static constexpr std::chrono::milliseconds farewell{1000}; ///< the longest wait for a silent server

    enum class phase : std::uint8_t { opening, living, lost };

    event_loop& loop_;
    settings settings_;
    event_count<event_loop> changed_;
    event_count<event_loop> stir_;     ///< notifies the keeper and `open`
    event_count<event_loop> finished_; ///< notified when the keeper has ended
    session_view view_;
    std::optional<error> obstacle_; ///< the reason why there is no session, if known

    // The state of the present handle.
    phase phase_ = phase::opening;
    result<void> opened_ = success(); ///< written on another thread, and read afterwards
    bool is_up_ = false;
    bool is_introduced_ = false; ///< libzookeeper has the digest
    bool was_established_ = false;
    std::int64_t session_id_ = 0;
    lapse lapse_{*this};

    guard_seat guard_;
    ephemeral_table ephemerals_{settings_.prefix.size()};

    server_order servers_{settings_.options, random_source::machine_seed()};
    handle handle_{settings_};
    tidier tidier_{*this};
    watch_table watches_{loop_, tidier_};
    call_table calls_{loop_, handle_, watches_};
    task_scope greeting_;
    task_scope keeper_;
    task_scope abandoned_; ///< removals for which no caller waits
};

} // namespace elasticjob::zk

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/registry/zk/session.ipp>
#endif
#endif // ELASTICJOB_REGISTRY_ZK_SESSION_HPP
