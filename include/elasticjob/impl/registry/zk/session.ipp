// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_REGISTRY_ZK_SESSION_IPP
#define ELASTICJOB_IMPL_REGISTRY_ZK_SESSION_IPP

#include <elasticjob/registry/zk/session.hpp>

namespace elasticjob::zk {

ELASTICJOB_DECL session::session(event_loop& l, settings s)
    : loop_{l},
      settings_{std::move(s)},
      changed_{l},
      stir_{l},
      finished_{l} {
    view_.generation = {1};
    view_.timeout = settings_.options.session_timeout;
}

ELASTICJOB_DECL double session::budget_used() const noexcept {
    auto const share = [](std::size_t bytes, std::size_t bytes_max) {
        return static_cast<double>(bytes) / static_cast<double>(bytes_max);
    };
    return std::max(share(watches_.bytes(), watch_table::bytes_max),
                    share(ephemerals_.bytes(), ephemeral_table::bytes_max));
}

ELASTICJOB_DECL std::optional<error> session::refusal(session_generation g) const {
    if (view_.state == session_state::closed) return error{errc::closed, "the registry is closed"};
    if (g != view_.generation && g != session_generation::current())
        return error{errc::session_lost, "the session of this request is over"};
    if (view_.state != session_state::connected) return error{errc::not_sent, "the connection is down"};
    return std::nullopt;
}

ELASTICJOB_DECL task<result<void>> session::open() {
    auto const due = loop_.now() + settings_.options.connection_timeout;
    ELASTICJOB_CO_TRY(guard_, guard_seat::take(settings_.options.guardian, settings_.options));
    keeper_.spawn(keep());
    for (;;) {
        auto const seen = stir_.edition();
        if (view_.state == session_state::connected) co_return success();
        if (obstacle_ && !is_connection(obstacle_->code)) co_return *obstacle_;
        bool const in_time = co_await stir_.newer_than(seen, due);
        if (!in_time) co_return unreachable();
    }
}

ELASTICJOB_DECL task<result<void>> session::close() {
    view_.state = session_state::closed;
    loop_.disarm(lapse_);
    greeting_.cancel();
    abandoned_.cancel();
    calls_.fail_all(errc::closed, errc::closed, "the registry is closed");
    watches_.fire_everything();
    changed_.notify();
    auto const seen = finished_.edition();
    stir_.notify();
    if (!keeper_.empty()) co_await finished_.newer_than(seen);
    guard_.clear();
    co_return success();
}

ELASTICJOB_DECL void session::hear(link_news news) {
    post(loop_, [this, news] { take(news); });
}

ELASTICJOB_DECL void session::hear(watch_target fired) {
    post(loop_, [this, fired = std::move(fired)] { watches_.fire(fired); });
}

ELASTICJOB_DECL task<void> session::keep() {
    auto pause = settings_.options.reconnect_pause;
    while (!is_closed()) {
        auto const had_success = co_await keep_one();
        if (had_success) {
            pause = settings_.options.reconnect_pause;
            servers_.note_success();
        } else {
            servers_.note_failure();
        }
        auto const due = loop_.now() + pause;
        for (bool in_time = true; in_time && !is_closed();) in_time = co_await stir_.newer_than(stir_.edition(), due);
        pause = std::min(2 * pause, settings_.options.reconnect_pause_max);
    }
    finished_.notify();
}

ELASTICJOB_DECL task<bool> session::keep_one() {
    phase_ = phase::opening;
    was_established_ = is_introduced_ = is_up_ = false;
    aside opening{loop_, opener{*this}};
    auto const was_tried = co_await opening;
    if (!was_tried || !opened_) {
        obstacle_ = was_tried ? std::move(opened_).error() : was_tried.error();
        stir_.notify();
        co_return false;
    }
    if (phase_ == phase::opening) phase_ = phase::living; // unless the session is already lost
    if (phase_ == phase::living && !is_closed()) {
        if (is_up_)
            greet();
        else
            lapse_after(servers_.patience());
    }
    while (phase_ == phase::living && !is_closed()) co_await stir_.newer_than(stir_.edition());
    if (is_up_ && is_closed()) co_await drain();
    aside closing{loop_, closer{*this}};
    auto const is_closed_aside = co_await closing;
    if (!is_closed_aside) {
        handle_.close();       // no thread can be started, so the loop itself waits for the server
        co_await yield(loop_); // the client's thread may have posted replies meanwhile, and posted work must stay alive
    }
    calls_.forget_unanswered();
    co_return was_established_;
}

ELASTICJOB_DECL task<void> session::drain() {
    auto const due = loop_.now() + farewell;
    for (bool in_time = true; in_time && !calls_.is_drained();)
        in_time = co_await calls_.drained().newer_than(calls_.drained().edition(), due);
}

ELASTICJOB_DECL void session::take(link_news const& news) {
    if (phase_ == phase::lost || is_closed()) return;
    switch (news.what) {
    case link_news::kind::up:
        is_up_ = true;
        session_id_ = news.session;
        view_.timeout = news.timeout;
        lapse_after(view_.timeout); // the server has just confirmed that the session is alive
        guard_.hold({news.session, news.password, static_cast<std::int32_t>(news.timeout.count())});
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

ELASTICJOB_DECL void session::suspend() {
    bool const was_up = std::exchange(is_up_, false);
    greeting_.cancel();
    calls_.fail_queued();
    if (was_up || !lapse_.is_armed()) lapse_after(view_.timeout);
    if (view_.state != session_state::connected) return;
    view_.state = session_state::suspended;
    changed_.notify();
}

ELASTICJOB_DECL void session::lose() {
    phase_ = phase::lost;
    loop_.disarm(lapse_);
    greeting_.cancel();
    if (was_established_) {
        ephemerals_.clear();
        view_ = {{view_.generation.value + 1}, 0, session_state::connecting, view_.timeout};
        calls_.fail_all(errc::session_lost, errc::unknown_outcome, "the session of this request is over");
        watches_.fire_everything();
        changed_.notify();
    }
    stir_.notify();
}

ELASTICJOB_DECL void session::greet() {
    greeting_.cancel();
    greeting_.spawn(run_greeting());
}

ELASTICJOB_DECL task<void> session::run_greeting() {
    for (;;) {
        // The server answers the digest before the first request, which follows it. So if the server refuses the
        // digest, the handle becomes unusable here and not in the middle of a transaction.
        if (!is_introduced_) is_introduced_ = handle_.introduce();
        if (!is_introduced_) co_return; // the connection is down again
        auto const there = co_await find_name_space();
        if (there) co_return establish();
        obstacle_ = there.error();
        stir_.notify();
        // The end of the session destroys this coroutine, so it comes later. If the connection broke, `suspend` ends
        // this loop. If the server turned the request away, `calls_` holds the next one back for a while.
        if (!is_connection(obstacle_->code)) co_return lapse_after({});
    }
}

ELASTICJOB_DECL task<result<void>> session::find_name_space() {
    exists_request probe;
    ELASTICJOB_CO_TRY(auto const root, co_await calls_.ask(node_path{}, std::move(probe)));
    if (root) co_return success();
    co_return co_await create_name_space();
}

ELASTICJOB_DECL task<result<void>> session::create_name_space() {
    auto const& whole = settings_.prefix;
    std::optional<error> obstacle;
    for (auto end = whole.find('/', 1);; end = whole.find('/', end + 1)) {
        ELASTICJOB_CO_TRY(auto part, node_path::parse(whole.substr(0, end)));
        create_request request{{}, create_mode::persistent};
        auto made = co_await calls_.ask_on_server(std::move(part), std::move(request));
        bool const is_there = made.has_value() || made.error() == errc::node_exists;
        // The node cannot be created without its parent, so report the parent's problem instead.
        if (!is_there && !(obstacle && made.error() == errc::no_node)) obstacle = std::move(made).error();
        if (end != whole.npos) continue;
        if (!is_there) co_return *std::move(obstacle);
        co_return success();
    }
}

ELASTICJOB_DECL void session::establish() {
    was_established_ = true;
    loop_.disarm(lapse_);
    obstacle_.reset();
    view_.id = session_id_;
    view_.state = session_state::connected;
    watches_.look_again();
    changed_.notify();
    stir_.notify();
}

ELASTICJOB_DECL void session::lapse_after(std::chrono::milliseconds span) {
    loop_.disarm(lapse_);
    loop_.arm(lapse_, loop_.now() + span);
}

ELASTICJOB_DECL error session::unreachable() const {
    auto const& o = settings_.options;
    auto const why = obstacle_ ? " (" + obstacle_->what + ")" : std::string{};
    return error{errc::unreachable, "no ZooKeeper server answered at " + o.servers + " within " +
                                        std::to_string(o.connection_timeout.count()) + " ms" + why +
                                        ": check that one runs there, and that this machine may connect to it"};
}

} // namespace elasticjob::zk
#endif // ELASTICJOB_IMPL_REGISTRY_ZK_SESSION_IPP
