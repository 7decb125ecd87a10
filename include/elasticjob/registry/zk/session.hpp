// SPDX-License-Identifier: Apache-2.0
/// \file \brief Keeps a session with a ZooKeeper ensemble, and opens the next one when it is lost.
#ifndef ELASTICJOB_REGISTRY_ZK_SESSION_HPP
#define ELASTICJOB_REGISTRY_ZK_SESSION_HPP

#include <elasticjob/core/algorithm.hpp> // min
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/event_loop.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/registry/zk/aside.hpp>
#include <elasticjob/registry/zk/call_table.hpp>
#include <elasticjob/registry/zk/requests.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace elasticjob::zk {

/// One generation after the other, each with a handle of libzookeeper's, never two at once. A generation ends when the
/// server says that its session has expired, or when the connection has been down for the whole session time-out. In
/// the second case the handle is given up although the session may be alive: on a path that loses only the replies,
/// libzookeeper's attempts to reconnect would keep it alive for ever, and nobody would take over its ephemeral nodes.
///
/// libzookeeper's callbacks post notes to the loop, all from one thread, so that their order is kept: an event comes
/// before the data that shows its cause. Notes of one handle are dealt with before the next handle is opened.
/// Threads: made anywhere; `open` once, then `close` once, and everything else on the loop.
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

    /// Why nothing can be sent under this generation now, or nothing.
    std::optional<error> refusal(session_generation g) const;

    /// Owns the task until it ends, or the session is closed.
    void spawn(task<void> t) { abandoned_.spawn(std::move(t)); }

    /// Waits for the first connection. Errors: unreachable, no_auth, what the server has against the name space.
    task<result<void>> open();

    /// Ends the session, and every call with `closed`. Goes on once libzookeeper has let go of everything.
    task<result<void>> close();

    // By libzookeeper, on its thread.

    void hear(link_news news);
    void hear(watch_target fired);

private:
    bool is_closed() const noexcept { return view_.state == session_state::closed; }

    /// The life of all generations.
    task<void> keep();

    /// The life of one handle. Gives whether its session was ever of use.
    task<bool> keep_one();
    struct opener {
        session& self;
        void operator()() const { self.opened_ = self.handle_.open(self); }
    };
    struct closer {
        session& self;
        void operator()() const { self.handle_.close(); }
    };

    /// Nobody waits for its calls any more, but libzookeeper leaks those that are outstanding when it is closed.
    task<void> drain();

    void take(link_news const& news);

    void suspend();

    void lose();

    /// The connection is up: what has to be done before anybody may use it.
    void greet();

    task<void> run_greeting();

    /// Its elements from the top. Those that exist may belong to others; only the last one has to be there in the end.
    task<result<void>> create_name_space();

    /// A connection that broke will come again, and be greeted again. Anything else makes this session useless, and it
    /// lapses; not from here, because that would destroy this very coroutine.
    void give_up(error why);

    void establish();

    error unreachable() const;

    /// The connection has been down for as long as the server keeps a session.
    struct lapse : timer {
        explicit lapse(session& s) noexcept : timer{&ring}, self{s} {}
        static void ring(timer& t) { static_cast<lapse&>(t).self.lose(); }
        session& self;
    };

    /// Runs in the turn of the loop after the one in which a watch has become unwanted. So a watch that is asked for again
    /// at once costs no request.
    struct tidier : work {
        explicit tidier(session& s) noexcept : work{&act_on}, self{s} {}
        static void act_on(work& w, work_action action) {
            if (action == work_action::run) static_cast<tidier&>(w).self.calls_.remove_unwanted();
        }
        session& self;
    };

    static constexpr std::chrono::milliseconds farewell{1000}; ///< a server that says nothing is not waited for

    enum class phase : std::uint8_t { opening, living, lost };

    event_loop& loop_;
    settings settings_;
    event_count<event_loop> changed_;
    event_count<event_loop> stir_;     ///< the keeper and `open` have something to look at
    event_count<event_loop> finished_; ///< the keeper has left
    session_view view_;
    std::optional<error> obstacle_; ///< why there is no session, as far as we know

    // Of the present handle.
    phase phase_ = phase::opening;
    result<void> opened_ = success(); ///< written aside, and read afterwards
    bool is_up_ = false;
    bool is_introduced_ = false; ///< the digest is with libzookeeper
    bool was_established_ = false;
    std::int64_t session_id_ = 0;
    lapse lapse_{*this};

    handle handle_{settings_};
    tidier tidier_{*this};
    watch_table watches_{loop_, tidier_};
    call_table calls_{loop_, handle_, watches_};
    task_scope greeting_;
    task_scope keeper_;
    task_scope abandoned_; ///< removals that nobody waits for
};

} // namespace elasticjob::zk

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/registry/zk/session.ipp>
#endif
#endif // ELASTICJOB_REGISTRY_ZK_SESSION_HPP
