// SPDX-License-Identifier: Apache-2.0
/// \file \brief A registry's server and its wires in virtual time: latency, partitions, and sessions that expire.
#ifndef ELASTICJOB_TESTING_SIMULATED_SERVER_HPP
#define ELASTICJOB_TESTING_SIMULATED_SERVER_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/random.hpp>
#include <elasticjob/core/virtual_loop.hpp>
#include <elasticjob/registry/memory/memory_server.hpp> // memory_server_options, request_fate
#include <elasticjob/registry/memory/node_tree.hpp>
#include <elasticjob/testing/tree_history.hpp>

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

/// A request of a process to the server.
struct wire_request {
    enum class kind : std::uint8_t { get, exists, children, write };
    kind what = kind::get;
    node_path path{};                    ///< get, exists, children
    bool watches = false;                ///< likewise
    std::vector<operation> operations{}; ///< write
};

/// The reply to a request.
struct wire_answer {
    bool was_lost = false; ///< the request or its reply was lost; then no other member is used
    std::optional<node> found{};
    std::vector<std::string> names{};
    node_tree::applied applied{};
    std::optional<node_stat> after{}; ///< a single set
};

/// A message from the server.
struct wire_message {
    enum class kind : std::uint8_t { welcome, expired, reply, event, closed };
    kind what = kind::closed;
    std::uint64_t connection = 0;
    std::int64_t session = 0; ///< welcome
    std::uint64_t number = 0; ///< number of the request, or of the event within the session
    revision shown = 0;       ///< the revision that the sending server shows
    wire_answer answer{};
    std::string path{}; ///< event
    watch_kind watched{};
};

/// The client at the end of a wire: functions and their context.
struct wire_client {
    void (*arrived)(void* context, wire_message m) = nullptr;
    void (*silent)(void* context, mono_time since) = nullptr; ///< no message has come from the server since then
    void (*audible)(void* context) = nullptr;                 ///< messages arrive again
    void* context = nullptr;
};

/// The latency of a message in each direction.
struct latency_range {
    std::chrono::microseconds least{200};
    std::chrono::microseconds most{2'000};
};

/// Represents a whole ensemble that behaves like ZooKeeper: a session lives while the server receives messages from its
/// owner, and for its time-out after that, even if the process is dead. Threads: the world's.
class simulated_server {
public:
    explicit simulated_server(virtual_loop& world, memory_server_options options = {}, std::uint64_t seed = 1);
    simulated_server(simulated_server const&) = delete;
    simulated_server& operator=(simulated_server const&) = delete;
    ~simulated_server();

    virtual_loop& world() const noexcept { return world_; }
    memory_server_options const& options() const noexcept { return options_; }
    node_tree const& tree() const noexcept { return tree_; }
    request_counts const& counts() const noexcept { return counts_; }

    bool is_alive(std::int64_t id) const { return sessions_.contains(id); }

    /// Ends the session now.
    void expire(std::int64_t id) { end(id, true); }

    /// See `node_tree::set_read_only`.
    void set_read_only(node_path const& above, bool is_read_only) { tree_.set_read_only(above, is_read_only); }

    /// Sets the function that is called with each change of the tree, after the change.
    void on_change(void (*changed)(void*, tree_event const&), void* context) noexcept;

private:
    friend class wire;
    using watch_key = std::pair<std::string, watch_kind>;

    /// One client's session.
    struct session : timer {
        session(simulated_server& s, std::int64_t n) noexcept : timer{&ring}, server{s}, id{n} {}
        static void ring(timer& t);
        simulated_server& server;
        std::int64_t id;
        wire* by = nullptr; ///< its owner's wire
        std::set<watch_key> watches{};
        std::uint64_t last_event = 0;
        std::deque<wire_message> told{}; ///< events that the client has not confirmed yet
    };

    session& open();
    session* find(std::int64_t id);
    void end(std::int64_t id, bool tells);

    /// Notifies the watchers of the tree's last revision, except watchers whose server has not applied it yet.
    void publish(std::vector<tree_event> const& events);
    void watch(session& s, std::string const& path, watch_kind kind);

    /// No effect if the session has no such watch.
    void fire(session& s, tree_event const& e, revision shown);

    /// Starts the session's time-out after the last message from its owner.
    void fall_silent(session& s, mono_time since);

    /// Answers a request. Reads show the tree as of `shown`.
    wire_answer serve(session& s, wire_request const& r, revision shown);

    std::int64_t now_ms() const;

    virtual_loop& world_;
    memory_server_options options_;
    random_source random_;
    node_tree tree_;
    std::map<std::int64_t, std::unique_ptr<session>> sessions_;
    std::map<watch_key, std::vector<std::int64_t>> watchers_;
    std::optional<tree_history> history_; ///< exists once the first wire gets a server that is behind
    request_counts counts_;
    std::int64_t last_session_ = 0;
    void (*changed_)(void*, tree_event const&) = nullptr;
    void* listener_ = nullptr;
};

/// The connection between one machine and the server. It outlives the processes that use it, and their messages arrive
/// even if they die. Messages in one direction keep their order. While a direction is cut, its messages wait; they are
/// lost if the connection is given up meanwhile. Threads: the world's; must not outlive the server.
class wire {
public:
    wire(simulated_server& server, std::uint64_t seed) : server_{server}, random_{seed} {}
    wire(wire const&) = delete;
    wire& operator=(wire const&) = delete;
    ~wire();

    simulated_server& server() const noexcept { return server_; }

    // ---- The process's end of the wire.

    void attach(wire_client c) noexcept { client_ = c; }

    /// Call it when the process is gone, for any reason. No effect if another process has taken its place.
    void detach(void const* context);

    /// Opens a connection for the session, or for a new session if `session` is 0. It replaces the previous connection.
    /// The server that answers shows no revision older than `seen`.
    std::uint64_t connect(std::int64_t session, std::uint64_t events_seen, revision seen);
    void request(std::uint64_t number, std::uint64_t events_seen, wire_request r);

    /// Breaks the connection. A first part of the requests sent so far may still arrive; no replies come back.
    void break_off();

    /// Ends the session in order and closes the connection, as soon as the server receives the message. For a process
    /// that exits.
    void close_session();

    // ---- Faults.

    void set_latency(latency_range l) noexcept { latency_ = l; }

    /// Connects the process to a follower that applies changes of other clients later, by up to that time, at most a
    /// second. Each connection may use another follower, which may lack even writes of this process whose effect the
    /// process has not seen.
    void set_lag(std::chrono::microseconds most);

    /// Cuts these directions, and restores the others.
    void cut(bool up, bool down);
    bool is_cut() const noexcept { return up_is_cut_ || down_is_cut_; }

    /// While the process is paused, sends no heartbeats. (Messages that the process has sent still arrive.)
    void set_paused(bool paused);

    /// Breaks the connection for both sides at once, as when a server restarts.
    void reset();

    /// Applies the fate to one request, or one write, after the next `skipped` ones.
    void lose(std::uint64_t skipped, request_fate fate, bool writes_only = false);

    /// Calls `stop` when one request after the next `skipped` ones arrives: before it takes effect, or just after.
    void stop_at(std::uint64_t skipped, bool after_effect, void (*stop)(void*), void* context);
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
        revision seen = 0; ///< hello
        wire_request request{};
        mono_time arrival{};
    };
    struct down_message {
        wire_message message;
        mono_time arrival;
    };
    /// A revision that the follower has not applied yet.
    struct unapplied {
        revision at;
        mono_time due;
        std::vector<tree_event> events;
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

    mono_time draw_arrival(mono_time& last);
    void send(up_message m);
    void tell(wire_message m);
    void flow();

    void arrive_up();
    void arrive_down();

    void receive(up_message m);

    void welcome(up_message const& m);
    static void confirm(simulated_server::session& s, std::uint64_t seen);

    request_fate next_fate(bool is_write);
    bool stops(bool after_effect);

    // ---- The follower.

    bool is_behind() const noexcept { return lag_.count() > 0 || !unapplied_.empty(); }
    revision shown() const noexcept;
    void hold_back(revision at, std::vector<tree_event> const& events);
    void apply_one();
    void catch_up();

    /// Changes to another follower. It is behind the others, but not behind the revision that the client has seen.
    void change_follower(simulated_server::session& s, revision seen);

    void close_served();
    bool is_unheard() const noexcept { return up_is_cut_ || is_paused_; }
    mono_time last_heartbeat();
    void silence(simulated_server::session& s);

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
    std::uint64_t connection_ = 0, last_connection_ = 0; ///< as the process knows them
    std::uint64_t served_connection_ = 0;                ///< as the server knows it
    std::int64_t served_session_ = 0;
    std::deque<unapplied> unapplied_;
    std::chrono::microseconds lag_{};
    std::vector<loss> losses_;
    std::vector<planned_stop> stops_;
    bool up_is_cut_ = false, down_is_cut_ = false, is_paused_ = false;
    bool is_closing_ = false; ///< the process has closed its end; the server sees this after the messages sent before
    arrival<&wire::arrive_up> up_{*this};
    arrival<&wire::arrive_down> down_{*this};
    arrival<&wire::apply_one> apply_{*this};
};

} // namespace elasticjob::testing

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/testing/simulated_server.ipp>
#endif
#endif // ELASTICJOB_TESTING_SIMULATED_SERVER_HPP
