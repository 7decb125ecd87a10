// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_TESTING_SIMULATED_SERVER_IPP
#define ELASTICJOB_IMPL_TESTING_SIMULATED_SERVER_IPP

#include <elasticjob/testing/simulated_server.hpp>

namespace elasticjob::testing {

ELASTICJOB_DECL simulated_server::simulated_server(virtual_loop& world, memory_server_options options,
                                                   std::uint64_t seed)
    : world_{world},
      options_{options},
      random_{seed} {}

ELASTICJOB_DECL void simulated_server::on_change(void (*changed)(void*, tree_event const&), void* context) noexcept {
    changed_ = changed;
    listener_ = context;
}

ELASTICJOB_DECL void simulated_server::session::ring(timer& t) {
    auto& self = static_cast<session&>(t);
    self.server.end(self.id, true);
}

ELASTICJOB_DECL auto simulated_server::open() -> session& {
    auto const id = ++last_session_;
    return *sessions_.emplace(id, std::make_unique<session>(*this, id)).first->second;
}

ELASTICJOB_DECL auto simulated_server::find(std::int64_t id) -> session* {
    auto const at = sessions_.find(id);
    return at == sessions_.end() ? nullptr : at->second.get();
}

ELASTICJOB_DECL void simulated_server::watch(session& s, std::string const& path, watch_kind kind) {
    if (s.watches.emplace(path, kind).second) watchers_[{path, kind}].push_back(s.id);
}

ELASTICJOB_DECL void simulated_server::fall_silent(session& s, mono_time since) {
    world_.disarm(s);
    // A server checks its sessions once per tick.
    auto const tick = options_.session_timeout / 10;
    auto const late = std::chrono::milliseconds{random_.next() % static_cast<std::uint64_t>(tick.count() + 1)};
    world_.arm(s, std::max(since + options_.session_timeout + late, world_.now()));
}

ELASTICJOB_DECL wire_answer simulated_server::serve(session& s, wire_request const& r, revision shown) {
    wire_answer answer;
    if (r.what == wire_request::kind::write) {
        ++counts_.writes;
        answer.applied = tree_.apply(r.operations, s.id, now_ms());
        if (!answer.applied.refused && r.operations.size() == 1 && r.operations[0].what == operation::kind::set)
            answer.after = tree_.find(r.operations[0].path)->stat;
        return answer;
    }
    ++counts_.reads;
    if (shown != tree_.last_revision()) {
        answer.found = history_->find(r.path, shown);
        if (answer.found && r.what == wire_request::kind::children) answer.names = history_->children(r.path, shown);
    } else if (auto const* n = tree_.find(r.path)) {
        answer.found = *n;
        if (r.what == wire_request::kind::children) answer.names = tree_.children(r.path);
    }
    if (r.watches && (answer.found || r.what == wire_request::kind::exists))
        watch(s, r.path.str(), r.what == wire_request::kind::children ? watch_kind::children : watch_kind::data);
    return answer;
}

ELASTICJOB_DECL std::int64_t simulated_server::now_ms() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(world_.wall_now().time_since_epoch()).count();
}

ELASTICJOB_DECL wire::~wire() {
    world().disarm(up_);
    world().disarm(down_);
    world().disarm(apply_);
    if (auto* s = served()) s->by = nullptr;
}

ELASTICJOB_DECL void wire::detach(void const* context) {
    if (client_.context != context) return;
    client_ = {};
    break_off();
}

ELASTICJOB_DECL std::uint64_t wire::connect(std::int64_t session, std::uint64_t events_seen, revision seen) {
    break_off();
    connection_ = ++last_connection_;
    send({connection_, 0, true, session, events_seen, seen, {}});
    return connection_;
}

ELASTICJOB_DECL void wire::request(std::uint64_t number, std::uint64_t events_seen, wire_request r) {
    send({connection_, number, false, 0, events_seen, 0, std::move(r)});
}

ELASTICJOB_DECL void wire::break_off() {
    if (connection_ == 0) return;
    auto const reaches = up_is_cut_ ? 0 : random_.next() % (up_queue_.size() + 1);
    up_queue_.erase(up_queue_.begin() + static_cast<std::ptrdiff_t>(reaches), up_queue_.end());
    if (up_queue_.empty()) world().disarm(up_);
    connection_ = 0;
    is_closing_ = true;
    if (up_queue_.empty()) close_served();
}

ELASTICJOB_DECL void wire::close_session() {
    auto const id = served_session_;
    break_off();
    if (!up_is_cut_ && id != 0) server_.end(id, false);
}

ELASTICJOB_DECL void wire::cut(bool up, bool down) {
    change_silence([&] {
        up_is_cut_ = up;
        down_is_cut_ = down;
    });
    flow();
}

ELASTICJOB_DECL void wire::set_lag(std::chrono::microseconds most) {
    lag_ = std::min<std::chrono::microseconds>(most, std::chrono::seconds{1});
    if (lag_.count() > 0 && !server_.history_) server_.history_.emplace(server_.tree_);
}

ELASTICJOB_DECL void wire::set_paused(bool paused) {
    change_silence([&] { is_paused_ = paused; });
}

ELASTICJOB_DECL void wire::reset() {
    if (connection_ == 0) return;
    wire_message m;
    m.connection = connection_;
    break_off();
    if (client_.arrived) client_.arrived(client_.context, std::move(m));
}

ELASTICJOB_DECL void wire::lose(std::uint64_t skipped, request_fate fate, bool writes_only) {
    losses_.push_back({skipped, fate, writes_only});
}

ELASTICJOB_DECL void wire::stop_at(std::uint64_t skipped, bool after_effect, void (*stop)(void*), void* context) {
    stops_.push_back({skipped, after_effect, stop, context});
}

ELASTICJOB_DECL mono_time wire::draw_arrival(mono_time& last) {
    auto const spread = static_cast<std::uint64_t>((latency_.most - latency_.least).count()) + 1;
    auto const takes = latency_.least + std::chrono::microseconds{random_.next() % spread};
    return last = std::max(last, world().now() + takes);
}

ELASTICJOB_DECL void wire::send(up_message m) {
    m.arrival = draw_arrival(last_up_);
    up_queue_.push_back(std::move(m));
    flow();
}

ELASTICJOB_DECL void wire::tell(wire_message m) {
    m.connection = served_connection_;
    auto const when = draw_arrival(last_down_);
    down_queue_.push_back({std::move(m), when});
    flow();
}

ELASTICJOB_DECL void wire::flow() {
    auto const keep = [&](timer& t, auto const& queue, bool is_cut) {
        if (is_cut || queue.empty()) return world().disarm(t);
        if (!t.is_armed()) world().arm(t, std::max(queue.front().arrival, world().now()));
    };
    keep(up_, up_queue_, up_is_cut_);
    keep(down_, down_queue_, down_is_cut_);
}

ELASTICJOB_DECL void wire::arrive_up() {
    auto m = std::move(up_queue_.front());
    up_queue_.pop_front();
    receive(std::move(m));
    if (is_closing_ && (up_queue_.empty() || up_queue_.front().connection != served_connection_)) close_served();
    flow();
}

ELASTICJOB_DECL void wire::arrive_down() {
    auto m = std::move(down_queue_.front().message);
    down_queue_.pop_front();
    if (m.connection == connection_ && client_.arrived) client_.arrived(client_.context, std::move(m));
    flow();
}

ELASTICJOB_DECL void wire::receive(up_message m) {
    if (m.is_hello) {
        is_closing_ = m.connection != connection_;
        return welcome(m);
    }
    auto* s = served();
    if (!s || m.connection != served_connection_) return; // closed; the client knows it, or will notice it
    confirm(*s, m.events_seen);
    if (stops(false)) return up_queue_.clear(); // later messages must not overtake a message that has not arrived
    bool const is_write = m.request.what == wire_request::kind::write;
    auto const fate = next_fate(is_write);
    wire_message reply;
    reply.what = wire_message::kind::reply;
    reply.number = m.number;
    std::vector<tree_event> events;
    if (fate != request_fate::request_lost) {
        reply.answer = server_.serve(*s, m.request, shown());
        events = std::move(reply.answer.applied.events);
    }
    reply.answer.was_lost = fate != request_fate::served;
    server_.publish(events); // first, because a client receives the events before the reply that shows them
    if (is_write && fate == request_fate::served) catch_up(); // a follower applies earlier writes before it answers
    reply.shown = shown();
    tell(std::move(reply));
    (void)stops(true);
}

ELASTICJOB_DECL void wire::welcome(up_message const& m) {
    if (auto* before = served()) {
        catch_up();
        if (before->id != m.session) silence(*before);
        before->by = nullptr;
    }
    served_connection_ = m.connection;
    served_session_ = 0;
    wire_message answer;
    auto* s = m.session != 0 ? server_.find(m.session) : &server_.open();
    if (!s) {
        answer.what = wire_message::kind::expired;
        return tell(std::move(answer));
    }
    served_session_ = s->id;
    s->by = this;
    world().disarm(*s);
    if (is_unheard() || is_closing_) silence(*s);
    answer.what = wire_message::kind::welcome;
    answer.session = s->id;
    tell(std::move(answer));
    confirm(*s, m.events_seen);
    if (lag_.count() > 0) change_follower(*s, m.seen);
    for (auto const& e : s->told) tell(e);
}

ELASTICJOB_DECL revision wire::shown() const noexcept {
    return unapplied_.empty() ? server_.tree_.last_revision() : unapplied_.front().at - 1;
}

ELASTICJOB_DECL void wire::hold_back(revision at, std::vector<tree_event> const& events) {
    if (events.empty()) return;
    auto const late = std::chrono::microseconds{random_.next() % (static_cast<std::uint64_t>(lag_.count()) + 1)};
    auto const earliest = unapplied_.empty() ? world().now() : unapplied_.back().due;
    unapplied_.push_back({at, std::max(earliest, world().now() + late), events});
    if (!apply_.is_armed()) world().arm(apply_, unapplied_.front().due);
}

ELASTICJOB_DECL void wire::apply_one() {
    auto const next = std::move(unapplied_.front());
    unapplied_.pop_front();
    if (auto* s = served())
        for (auto const& e : next.events) server_.fire(*s, e, next.at);
    if (!unapplied_.empty() && !apply_.is_armed()) world().arm(apply_, unapplied_.front().due);
}

ELASTICJOB_DECL void wire::catch_up() {
    while (!unapplied_.empty()) apply_one();
    world().disarm(apply_);
}

ELASTICJOB_DECL void wire::change_follower(simulated_server::session& s, revision seen) {
    auto const& changes = server_.history_->changes();
    auto first = changes.end();
    while (first != changes.begin() && (first - 1)->at > seen && (first - 1)->when + lag_ > world().now()) --first;
    first += static_cast<std::ptrdiff_t>(random_.next() % (static_cast<std::uint64_t>(changes.end() - first) + 1));
    for (; first != changes.end(); ++first) hold_back(first->at, first->events);
    // The new connection has the client's watches, so the follower reports the changes that it applies.
    auto const is_untold = [&](wire_message const& m) { return m.shown > shown(); };
    for (auto const& m : s.told)
        if (is_untold(m)) server_.watch(s, m.path, m.watched);
    std::erase_if(s.told, is_untold);
}

ELASTICJOB_DECL void wire::confirm(simulated_server::session& s, std::uint64_t seen) {
    while (!s.told.empty() && s.told.front().number <= seen) s.told.pop_front();
}

ELASTICJOB_DECL request_fate wire::next_fate(bool is_write) {
    auto fate = request_fate::served;
    for (auto at = losses_.begin(); at != losses_.end();) {
        if (at->writes_only && !is_write) {
            ++at;
        } else if (at->skipped-- == 0) {
            fate = at->fate;
            at = losses_.erase(at);
        } else {
            ++at;
        }
    }
    return fate;
}

ELASTICJOB_DECL bool wire::stops(bool after_effect) {
    bool stopped = false;
    for (auto at = stops_.begin(); at != stops_.end();) {
        if (at->after_effect != after_effect) {
            ++at;
        } else if (at->skipped-- == 0) {
            auto const s = *at;
            at = stops_.erase(at);
            s.stop(s.context);
            stopped = true;
            at = stops_.begin(); // the callback may have cleared the others
            if (stops_.empty()) break;
            return stopped;
        } else {
            ++at;
        }
    }
    return stopped;
}

ELASTICJOB_DECL void wire::close_served() {
    is_closing_ = false;
    if (auto* s = served()) {
        catch_up();
        silence(*s);
        s->by = nullptr;
    }
    served_session_ = 0;
}

ELASTICJOB_DECL mono_time wire::last_heartbeat() {
    // A client sends a heartbeat every third of the time-out.
    auto const third = static_cast<std::uint64_t>(server_.options().session_timeout.count() / 3) + 1;
    return world().now() - std::chrono::milliseconds{random_.next() % third};
}

ELASTICJOB_DECL void wire::silence(simulated_server::session& s) {
    if (!s.is_armed()) server_.fall_silent(s, last_heartbeat());
}

ELASTICJOB_DECL simulated_server::~simulated_server() {
    for (auto& [id, s] : sessions_) world_.disarm(*s);
}

ELASTICJOB_DECL void simulated_server::end(std::int64_t id, bool tells) {
    auto* s = find(id);
    if (!s) return;
    world_.disarm(*s);
    for (auto const& key : s->watches) {
        auto const at = watchers_.find(key);
        std::erase(at->second, id);
        if (at->second.empty()) watchers_.erase(at);
    }
    auto* by = s->by;
    sessions_.erase(id);
    if (by) by->served_session_ = 0;
    if (by && tells) by->tell({});
    publish(tree_.end_session(id, now_ms()));
}

ELASTICJOB_DECL void simulated_server::publish(std::vector<tree_event> const& events) {
    auto const at = tree_.last_revision();
    if (history_) history_->note(at, events, world_.now());
    for (auto const& [id, s] : sessions_)
        if (s->by && s->by->is_behind()) s->by->hold_back(at, events);
    for (auto const& e : events) {
        auto const watching = watchers_.find({e.path, e.kind});
        if (watching != watchers_.end())
            for (auto const id : std::vector<std::int64_t>{watching->second})
                if (auto& s = *find(id); !s.by || !s.by->is_behind()) fire(s, e, at);
        if (changed_) changed_(listener_, e);
    }
}

ELASTICJOB_DECL void simulated_server::fire(session& s, tree_event const& e, revision shown) {
    watch_key const key{e.path, e.kind};
    if (s.watches.erase(key) == 0) return;
    auto const watching = watchers_.find(key);
    std::erase(watching->second, s.id);
    if (watching->second.empty()) watchers_.erase(watching);
    wire_message m;
    m.what = wire_message::kind::event;
    m.number = ++s.last_event;
    m.shown = shown;
    m.path = e.path;
    m.watched = e.kind;
    s.told.push_back(m);
    if (s.by) s.by->tell(std::move(m));
}

} // namespace elasticjob::testing
#endif // ELASTICJOB_IMPL_TESTING_SIMULATED_SERVER_IPP
