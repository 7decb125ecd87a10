// SPDX-License-Identifier: Apache-2.0
/// \file \brief Keeps a session with a ZooKeeper ensemble, and opens the next one when it is lost.
#ifndef ELASTICJOB_REGISTRY_ZK_SESSION_HPP
#define ELASTICJOB_REGISTRY_ZK_SESSION_HPP

#include <elasticjob/core/algorithm.hpp> // min
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/deferred.hpp>
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
/// A template, though there is one loop for it, so that a file that opens no registry does not compile this.
template <std::same_as<event_loop> Loop>
class session {
public:
    session(Loop& l, settings<Loop> s) : loop_{l}, settings_{std::move(s)}, changed_{l}, stir_{l}, finished_{l} {
        view_.generation = {1};
        view_.timeout = settings_.options.session_timeout;
    }
    session(session const&) = delete;
    session& operator=(session const&) = delete;

    Loop& loop() const noexcept { return loop_; }
    settings<Loop> const& its_settings() const noexcept { return settings_; }
    session_view view() const noexcept { return view_; }
    event_count<Loop>& changed() noexcept { return changed_; }
    call_table<Loop>& calls() noexcept { return calls_; }

    /// Why nothing can be sent under this generation now, or nothing.
    deferred<std::optional<error>, Loop> refusal(session_generation g) const {
        if (view_.state == session_state::closed) return error{errc::closed, "the registry is closed"};
        if (g != view_.generation && g != session_generation::current())
            return error{errc::session_lost, "the session that this belonged to is over"};
        if (view_.state != session_state::connected) return error{errc::not_sent, "the connection is down"};
        return std::nullopt;
    }

    /// Waits for the first connection. Errors: unreachable, no_auth, what the server has against the name space.
    task<result<void>> open() {
        auto const due = loop_.now() + settings_.options.connection_timeout;
        keeper_.spawn(keep());
        for (;;) {
            auto const seen = stir_.edition();
            if (view_.state == session_state::connected) co_return success();
            if (obstacle_ && !is_connection(obstacle_->code)) co_return *obstacle_;
            bool const in_time = co_await stir_.newer_than(seen, due);
            if (!in_time) co_return unreachable();
        }
    }

    /// Ends the session, and every call with `closed`. Goes on once libzookeeper has let go of everything.
    task<result<void>> close() {
        view_.state = session_state::closed;
        loop_.disarm(lapse_);
        greeting_.cancel();
        calls_.fail_all(errc::closed, errc::closed, "the registry is closed");
        watches_.fire_everything();
        changed_.notify();
        auto const seen = finished_.edition();
        stir_.notify();
        if (!keeper_.empty()) co_await finished_.newer_than(seen);
        co_return success();
    }

    // By libzookeeper, on its thread.

    void hear(link_news news) {
        post(loop_, [this, news] { take(news); });
    }
    void hear(watch_target fired) {
        post(loop_, [this, fired = std::move(fired)] { watches_.fire(fired); });
    }

private:
    bool is_closed() const noexcept { return view_.state == session_state::closed; }

    /// The life of all generations.
    task<void> keep() {
        auto pause = settings_.options.reconnect_pause;
        while (!is_closed()) {
            auto const had_success = co_await keep_one();
            if (had_success) pause = settings_.options.reconnect_pause;
            auto const due = loop_.now() + pause;
            for (bool in_time = true; in_time && !is_closed();)
                in_time = co_await stir_.newer_than(stir_.edition(), due);
            pause = std::min(2 * pause, settings_.options.reconnect_pause_max);
        }
        finished_.notify();
    }

    /// The life of one handle. Gives whether its session was ever of use.
    task<bool> keep_one() {
        phase_ = phase::opening;
        was_established_ = is_introduced_ = is_up_ = false;
        result<void> opened = success();
        auto open_handle = [this, &opened] { opened = handle_.open(*this); };
        aside opening{loop_, open_handle};
        co_await opening;
        if (!opened) {
            obstacle_ = std::move(opened).error();
            co_return false;
        }
        if (phase_ == phase::opening) phase_ = phase::living; // unless it is lost already
        if (is_up_ && phase_ == phase::living && !is_closed()) greet();
        while (phase_ == phase::living && !is_closed()) co_await stir_.newer_than(stir_.edition());
        if (is_up_ && is_closed()) co_await drain();
        auto close_handle = [this] { handle_.close(); };
        aside closing{loop_, close_handle};
        co_await closing;
        calls_.forget_unanswered();
        co_return was_established_;
    }

    /// Nobody waits for its calls any more, but libzookeeper leaks those that are outstanding when it is closed.
    task<void> drain() {
        auto const due = loop_.now() + farewell;
        for (bool in_time = true; in_time && !calls_.is_drained();)
            in_time = co_await calls_.drained().newer_than(calls_.drained().edition(), due);
    }

    void take(link_news const& news) {
        if (phase_ == phase::lost || is_closed()) return;
        switch (news.what) {
        case link_news::kind::up:
            is_up_ = true;
            loop_.disarm(lapse_); // the server has just said that the session is alive
            session_id_ = news.session;
            view_.timeout = news.timeout;
            if (phase_ == phase::living) greet();
            break;
        case link_news::kind::down:
            suspend();
            break;
        case link_news::kind::refused:
            obstacle_ = failure(ZAUTHFAILED, node_path{});
            lose();
            break;
        case link_news::kind::expired:
            lose();
            break;
        }
    }

    void suspend() {
        is_up_ = false;
        greeting_.cancel();
        calls_.fail_queued();
        if (!lapse_.is_armed()) loop_.arm(lapse_, loop_.now() + view_.timeout);
        if (view_.state != session_state::connected) return;
        view_.state = session_state::suspended;
        changed_.notify();
    }

    void lose() {
        phase_ = phase::lost;
        loop_.disarm(lapse_);
        greeting_.cancel();
        if (was_established_) {
            view_ = {{view_.generation.value + 1}, 0, session_state::connecting, view_.timeout};
            calls_.fail_all(errc::session_lost, errc::unknown_outcome, "the session that this belonged to is over");
            watches_.fire_everything();
            changed_.notify();
        }
        stir_.notify();
    }

    /// The connection is up: what has to be done before anybody may use it.
    void greet() {
        greeting_.cancel();
        greeting_.spawn(run_greeting());
    }

    task<void> run_greeting() {
        // When the reply to the first request is here, so is the answer to the digest, which was sent ahead of it: a
        // handle that is refused becomes unusable now, and not in the middle of a transaction.
        if (!is_introduced_) is_introduced_ = handle_.introduce();
        if (!is_introduced_) co_return; // down again
        exists_request<Loop> probe;
        auto const root = co_await calls_.ask(node_path{}, std::move(probe));
        if (!root) co_return give_up(root.error());
        if (!*root) {
            auto const made = co_await create_name_space();
            if (!made) co_return give_up(made.error());
        }
        establish();
    }

    /// Its elements from the top. Those that exist may belong to others; only the last one has to be there in the end.
    task<result<void>> create_name_space() {
        auto const& whole = settings_.prefix;
        deferred<std::optional<error>, Loop> obstacle;
        for (auto end = whole.find('/', 1);; end = whole.find('/', end + 1)) {
            ELASTICJOB_CO_TRY(auto part, node_path::parse(whole.substr(0, end)));
            create_request<Loop> request{{}, create_mode::persistent};
            auto made = co_await calls_.ask_on_server(std::move(part), std::move(request));
            bool const is_there = made.has_value() || made.error() == errc::node_exists;
            // Without its parent it cannot be made; then the parent's obstacle is what people need to know.
            if (!is_there && !(obstacle && made.error() == errc::no_node)) obstacle = std::move(made).error();
            if (end != whole.npos) continue;
            if (!is_there) co_return *std::move(obstacle);
            co_return success();
        }
    }

    /// A connection that broke will come again, and be greeted again. Anything else makes this session useless, and it
    /// lapses; not from here, because that would destroy this very coroutine.
    void give_up(error why) {
        if (!is_connection(why.code)) loop_.arm(lapse_, loop_.now());
        obstacle_ = std::move(why);
        stir_.notify();
    }

    void establish() {
        was_established_ = true;
        obstacle_.reset();
        view_.id = session_id_;
        view_.state = session_state::connected;
        changed_.notify();
        stir_.notify();
    }

    error unreachable() const {
        auto const& o = settings_.options;
        auto const why = obstacle_ ? " (" + obstacle_->what + ")" : std::string{};
        return error{errc::unreachable, "no ZooKeeper server answered at " + o.servers + " within " +
                                            std::to_string(o.connection_timeout.count()) + " ms" + why +
                                            ": check that one runs there, and that this machine may connect to it"};
    }

    /// The connection has been down for as long as the server keeps a session.
    struct lapse : timer {
        explicit lapse(session& s) noexcept : timer{&ring}, self{s} {}
        static void ring(timer& t) { static_cast<lapse&>(t).self.lose(); }
        session& self;
    };

    static constexpr std::chrono::milliseconds farewell{1000}; ///< a server that says nothing is not waited for

    enum class phase : std::uint8_t { opening, living, lost };

    Loop& loop_;
    settings<Loop> settings_;
    event_count<Loop> changed_;
    event_count<Loop> stir_;     ///< the keeper and `open` have something to look at
    event_count<Loop> finished_; ///< the keeper has left
    session_view view_;
    deferred<std::optional<error>, Loop> obstacle_; ///< why there is no session, as far as we know

    // Of the present handle.
    phase phase_ = phase::opening;
    bool is_up_ = false;
    bool is_introduced_ = false; ///< the digest is with libzookeeper
    bool was_established_ = false;
    std::int64_t session_id_ = 0;
    lapse lapse_{*this};

    handle<Loop> handle_{settings_};
    watch_table<Loop> watches_;
    call_table<Loop> calls_{loop_, handle_, watches_};
    task_scope greeting_;
    task_scope keeper_;
};

} // namespace elasticjob::zk
#endif // ELASTICJOB_REGISTRY_ZK_SESSION_HPP
