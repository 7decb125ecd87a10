// SPDX-License-Identifier: Apache-2.0
/// \file \brief A registry's server and the wires to it, on virtual time: latency, partitions, sessions that expire.
#ifndef ELASTICJOB_TESTING_SIMULATED_SERVER_HPP
#define ELASTICJOB_TESTING_SIMULATED_SERVER_HPP

#include <elasticjob/core/random.hpp>
#include <elasticjob/core/virtual_loop.hpp>
#include <elasticjob/registry/memory/memory_server.hpp> // memory_server_options, request_fate
#include <elasticjob/registry/memory/node_tree.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob::testing {

class wire;

/// What a process asks the server.
struct wire_request {
    enum class kind : std::uint8_t { get, exists, children, write };
    kind what = kind::get;
    node_path path{};                    ///< get, exists, children
    bool watches = false;                ///< likewise
    std::vector<operation> operations{}; ///< write
};

/// And what it is told.
struct wire_answer {
    bool was_lost = false; ///< the request or its reply; nothing else counts then
    std::optional<node> found{};
    std::vector<std::string> names{};
    node_tree::applied applied{};
    std::optional<node_stat> after{}; ///< a single set
};

/// What comes down a wire.
struct wire_message {
    enum class kind : std::uint8_t { welcome, expired, reply, event, closed };
    kind what = kind::closed;
    std::uint64_t connection = 0;
    std::int64_t session = 0; ///< welcome
    std::uint64_t number = 0; ///< of the request, or of the event within the session
    wire_answer answer{};
    std::string path{}; ///< event
    watch_kind watched{};
};

/// Who is at the end of a wire: typed trampolines and their context.
struct wire_client {
    void (*arrived)(void* context, wire_message m) = nullptr;
    void (*silent)(void* context, mono_time since) = nullptr; ///< nothing has come from the server since then
    void (*audible)(void* context) = nullptr;                 ///< again
    void* context = nullptr;
};

/// How long a message takes, each way.
struct latency_range {
    std::chrono::microseconds least{200};
    std::chrono::microseconds most{2'000};
};

/// Stands for a whole ensemble, as ZooKeeper shows itself: a session lives while something is heard of its owner, and
/// for its time-out after that, whatever has become of the process. Threads: the world's.
class simulated_server {
public:
    explicit simulated_server(virtual_loop& world, memory_server_options options = {}, std::uint64_t seed = 1)
        : world_{world}, options_{options}, random_{seed} {}
    simulated_server(simulated_server const&) = delete;
    simulated_server& operator=(simulated_server const&) = delete;
    inline ~simulated_server();

    virtual_loop& world() const noexcept { return world_; }
    memory_server_options const& options() const noexcept { return options_; }
    node_tree const& tree() const noexcept { return tree_; }
    request_counts const& counts() const noexcept { return counts_; }

    bool is_alive(std::int64_t id) const { return sessions_.contains(id); }

    /// The server gives the session up now.
    void expire(std::int64_t id) { end(id, true); }

    /// Is told of each change of the tree, once it is there.
    void on_change(void (*changed)(void*, tree_event const&), void* context) noexcept {
        changed_ = changed;
        listener_ = context;
    }

private:
    friend class wire;
    using watch_key = std::pair<std::string, watch_kind>;

    /// One client's session.
    struct session : timer {
        session(simulated_server& s, std::int64_t n) noexcept : timer{&ring}, server{s}, id{n} {}
        static void ring(timer& t) {
            auto& self = static_cast<session&>(t);
            self.server.end(self.id, true);
        }
        simulated_server& server;
        std::int64_t id;
        wire* by = nullptr; ///< which its owner is connected by
        std::set<watch_key> watches{};
        std::uint64_t last_event = 0;
        std::deque<wire_message> told{}; ///< until the client has confirmed it
    };

    session& open() {
        auto const id = ++last_session_;
        return *sessions_.emplace(id, std::make_unique<session>(*this, id)).first->second;
    }
    session* find(std::int64_t id) {
        auto const at = sessions_.find(id);
        return at == sessions_.end() ? nullptr : at->second.get();
    }
    inline void end(std::int64_t id, bool tells);
    inline void publish(std::vector<tree_event> const& events);
    void watch(session& s, std::string const& path, watch_kind kind) {
        if (s.watches.emplace(path, kind).second) watchers_[{path, kind}].push_back(s.id);
    }

    /// The session has been heard of for the last time, for now.
    void fall_silent(session& s, mono_time since) {
        world_.disarm(s);
        // A server looks at its sessions once a tick.
        auto const tick = options_.session_timeout / 10;
        auto const late = std::chrono::milliseconds{random_.next() % static_cast<std::uint64_t>(tick.count() + 1)};
        world_.arm(s, std::max(since + options_.session_timeout + late, world_.now()));
    }

    wire_answer serve(session& s, wire_request const& r) {
        wire_answer answer;
        if (r.what == wire_request::kind::write) {
            ++counts_.writes;
            answer.applied = tree_.apply(r.operations, s.id, now_ms());
            if (!answer.applied.refused && r.operations.size() == 1 && r.operations[0].what == operation::kind::set)
                answer.after = tree_.find(r.operations[0].path)->stat;
            return answer;
        }
        ++counts_.reads;
        if (auto const* n = tree_.find(r.path)) answer.found = *n;
        if (answer.found && r.what == wire_request::kind::children) answer.names = tree_.children(r.path);
        if (r.watches && (answer.found || r.what == wire_request::kind::exists))
            watch(s, r.path.str(), r.what == wire_request::kind::children ? watch_kind::children : watch_kind::data);
        return answer;
    }

    std::int64_t now_ms() const {
        return std::chrono::duration_cast<std::chrono::milliseconds>(world_.wall_now().time_since_epoch()).count();
    }

    virtual_loop& world_;
    memory_server_options options_;
    random_source random_;
    node_tree tree_;
    std::map<std::int64_t, std::unique_ptr<session>> sessions_;
    std::map<watch_key, std::vector<std::int64_t>> watchers_;
    request_counts counts_;
    std::int64_t last_session_ = 0;
    void (*changed_)(void*, tree_event const&) = nullptr;
    void* listener_ = nullptr;
};

/// The way between one machine and the server. It outlives the processes that use it, and what they have sent arrives
/// though they die. In each direction messages keep their order. While a direction is cut, what is on it waits; it is
/// lost when the connection is given up meanwhile. Threads: the world's; must not outlive the server's use.
class wire {
public:
    wire(simulated_server& server, std::uint64_t seed) : server_{server}, random_{seed} {}
    wire(wire const&) = delete;
    wire& operator=(wire const&) = delete;
    ~wire() {
        world().disarm(up_);
        world().disarm(down_);
        if (auto* s = served()) s->by = nullptr;
    }

    simulated_server& server() const noexcept { return server_; }

    // ---- The process's end.

    void attach(wire_client c) noexcept { client_ = c; }

    /// The process has gone, in whatever way. No effect if another has taken its place.
    void detach(void const* context) {
        if (client_.context != context) return;
        client_ = {};
        break_off();
    }

    /// Opens a connection, which takes the place of the one before: for the session, or for a new one if that is 0.
    std::uint64_t connect(std::int64_t session, std::uint64_t events_seen) {
        break_off();
        connection_ = ++last_connection_;
        send({connection_, 0, true, session, events_seen, {}});
        return connection_;
    }
    void request(std::uint64_t number, std::uint64_t events_seen, wire_request r) {
        send({connection_, number, false, 0, events_seen, std::move(r)});
    }

    /// The connection breaks. What was sent may still arrive, up to some request; nothing comes back.
    void break_off() {
        if (connection_ == 0) return;
        auto const reaches = up_is_cut_ ? 0 : random_.next() % (up_queue_.size() + 1);
        up_queue_.erase(up_queue_.begin() + static_cast<std::ptrdiff_t>(reaches), up_queue_.end());
        if (up_queue_.empty()) world().disarm(up_);
        connection_ = 0;
        is_closing_ = true;
        if (up_queue_.empty()) close_served();
    }

    /// In order: the session ends with the connection, as soon as the server hears of it. For a process that exits.
    void close_session() {
        auto const id = served_session_;
        break_off();
        if (!up_is_cut_ && id != 0) server_.end(id, false);
    }

    // ---- Faults.

    void set_latency(latency_range l) noexcept { latency_ = l; }

    /// Cuts the directions, or mends them.
    void cut(bool up, bool down) {
        change_silence([&] {
            up_is_cut_ = up;
            down_is_cut_ = down;
        });
        flow();
    }
    bool is_cut() const noexcept { return up_is_cut_ || down_is_cut_; }

    /// A paused process sends no heartbeats. (What it has sent already arrives.)
    void set_paused(bool paused) {
        change_silence([&] { is_paused_ = paused; });
    }

    /// The connection breaks for both sides at once, as when a server is restarted.
    void reset() {
        if (connection_ == 0) return;
        wire_message m;
        m.connection = connection_;
        break_off();
        if (client_.arrived) client_.arrived(client_.context, std::move(m));
    }

    /// The request after the next `skipped` ones, or their next write, meets that fate.
    void lose(std::uint64_t skipped, request_fate fate, bool writes_only = false) {
        losses_.push_back({skipped, fate, writes_only});
    }

    /// Calls back when the request after the next `skipped` ones arrives: before it takes effect, or just after.
    void stop_at(std::uint64_t skipped, bool after_effect, void (*stop)(void*), void* context) {
        stops_.push_back({skipped, after_effect, stop, context});
    }
    void forget_stops() noexcept { stops_.clear(); }

    std::int64_t session() const noexcept { return served_session_; }

private:
    friend class simulated_server;

    struct up_message {
        std::uint64_t connection = 0;
        std::uint64_t number = 0;
        bool is_hello = false;
        std::int64_t session = 0;
        std::uint64_t events_seen = 0;
        wire_request request{};
        mono_time arrival{};
    };
    struct down_message {
        wire_message message;
        mono_time arrival;
    };
    struct loss {
        std::uint64_t skipped;
        request_fate fate;
        bool writes_only;
    };
    struct planned_stop {
        std::uint64_t skipped;
        bool after_effect;
        void (*stop)(void*);
        void* context;
    };
    template <void (wire::*Arrive)()>
    struct arrival : timer {
        explicit arrival(wire& w) noexcept : timer{&ring}, self{w} {}
        static void ring(timer& t) { (static_cast<arrival&>(t).self.*Arrive)(); }
        wire& self;
    };

    virtual_loop& world() const noexcept { return server_.world(); }
    simulated_server::session* served() const { return server_.find(served_session_); }

    mono_time draw_arrival(mono_time& last) {
        auto const spread = static_cast<std::uint64_t>((latency_.most - latency_.least).count()) + 1;
        auto const takes = latency_.least + std::chrono::microseconds{random_.next() % spread};
        return last = std::max(last, world().now() + takes);
    }
    void send(up_message m) {
        m.arrival = draw_arrival(last_up_);
        up_queue_.push_back(std::move(m));
        flow();
    }
    void tell(wire_message m) {
        m.connection = served_connection_;
        auto const when = draw_arrival(last_down_);
        down_queue_.push_back({std::move(m), when});
        flow();
    }
    void flow() {
        auto const keep = [&](timer& t, auto const& queue, bool is_cut) {
            if (is_cut || queue.empty()) return world().disarm(t);
            if (!t.is_armed()) world().arm(t, std::max(queue.front().arrival, world().now()));
        };
        keep(up_, up_queue_, up_is_cut_);
        keep(down_, down_queue_, down_is_cut_);
    }

    void arrive_up() {
        auto m = std::move(up_queue_.front());
        up_queue_.pop_front();
        receive(std::move(m));
        if (is_closing_ && (up_queue_.empty() || up_queue_.front().connection != served_connection_)) close_served();
        flow();
    }
    void arrive_down() {
        auto m = std::move(down_queue_.front().message);
        down_queue_.pop_front();
        if (m.connection == connection_ && client_.arrived) client_.arrived(client_.context, std::move(m));
        flow();
    }

    void receive(up_message m) {
        if (m.is_hello) {
            is_closing_ = m.connection != connection_;
            return welcome(m);
        }
        auto* s = served();
        if (!s || m.connection != served_connection_) return; // closed; the client knows, or will
        confirm(*s, m.events_seen);
        if (stops(false)) return up_queue_.clear(); // nothing overtakes what has not arrived
        auto const fate = next_fate(m.request.what == wire_request::kind::write);
        wire_message reply;
        reply.what = wire_message::kind::reply;
        reply.number = m.number;
        std::vector<tree_event> events;
        if (fate != request_fate::request_lost) {
            reply.answer = server_.serve(*s, m.request);
            events = std::move(reply.answer.applied.events);
        }
        reply.answer.was_lost = fate != request_fate::served;
        server_.publish(events); // first: whoever reads the reply has been told what it shows
        tell(std::move(reply));
        (void)stops(true);
    }

    void welcome(up_message const& m) {
        if (auto* before = served()) {
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
        for (auto const& e : s->told) tell(e);
    }
    static void confirm(simulated_server::session& s, std::uint64_t seen) {
        while (!s.told.empty() && s.told.front().number <= seen) s.told.pop_front();
    }

    request_fate next_fate(bool is_write) {
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
    bool stops(bool after_effect) {
        bool stopped = false;
        for (auto at = stops_.begin(); at != stops_.end();) {
            if (at->after_effect != after_effect) {
                ++at;
            } else if (at->skipped-- == 0) {
                auto const s = *at;
                at = stops_.erase(at);
                s.stop(s.context);
                stopped = true;
                at = stops_.begin(); // the callback may have forgotten the others
                if (stops_.empty()) break;
                return stopped;
            } else {
                ++at;
            }
        }
        return stopped;
    }

    void close_served() {
        is_closing_ = false;
        if (auto* s = served()) {
            silence(*s);
            s->by = nullptr;
        }
        served_session_ = 0;
    }
    bool is_unheard() const noexcept { return up_is_cut_ || is_paused_; }
    mono_time last_heartbeat() {
        // A client sends one in a third of the time-out.
        auto const third = static_cast<std::uint64_t>(server_.options().session_timeout.count() / 3) + 1;
        return world().now() - std::chrono::milliseconds{random_.next() % third};
    }
    void silence(simulated_server::session& s) {
        if (!s.is_armed()) server_.fall_silent(s, last_heartbeat());
    }

    template <class Change>
    void change_silence(Change change) {
        bool const was_unheard = is_unheard();
        bool const was_silent = is_unheard() || down_is_cut_;
        change();
        bool const is_silent = is_unheard() || down_is_cut_;
        auto const since = last_heartbeat();
        if (auto* s = served(); s && was_unheard != is_unheard()) {
            world().disarm(*s);
            if (is_unheard()) server_.fall_silent(*s, since);
        }
        if (was_silent == is_silent || !client_.context) return;
        if (is_silent)
            client_.silent(client_.context, since);
        else
            client_.audible(client_.context);
    }

    simulated_server& server_;
    random_source random_;
    latency_range latency_;
    wire_client client_;
    std::deque<up_message> up_queue_;
    std::deque<down_message> down_queue_;
    mono_time last_up_{}, last_down_{};
    std::uint64_t connection_ = 0, last_connection_ = 0; ///< as the process has it
    std::uint64_t served_connection_ = 0;                ///< as the server has it
    std::int64_t served_session_ = 0;
    std::vector<loss> losses_;
    std::vector<planned_stop> stops_;
    bool up_is_cut_ = false, down_is_cut_ = false, is_paused_ = false;
    bool is_closing_ = false; ///< the process has closed its end; the server sees it behind what was sent
    arrival<&wire::arrive_up> up_{*this};
    arrival<&wire::arrive_down> down_{*this};
};

inline simulated_server::~simulated_server() {
    for (auto& [id, s] : sessions_) world_.disarm(*s);
}

inline void simulated_server::end(std::int64_t id, bool tells) {
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

inline void simulated_server::publish(std::vector<tree_event> const& events) {
    for (auto const& e : events) {
        auto const at = watchers_.find({e.path, e.kind});
        if (at != watchers_.end()) {
            auto const told = std::move(at->second);
            watchers_.erase(at);
            for (auto const id : told) {
                auto& s = *find(id);
                s.watches.erase({e.path, e.kind});
                wire_message m;
                m.what = wire_message::kind::event;
                m.number = ++s.last_event;
                m.path = e.path;
                m.watched = e.kind;
                s.told.push_back(m);
                if (s.by) s.by->tell(std::move(m));
            }
        }
        if (changed_) changed_(listener_, e);
    }
}

} // namespace elasticjob::testing
#endif // ELASTICJOB_TESTING_SIMULATED_SERVER_HPP
