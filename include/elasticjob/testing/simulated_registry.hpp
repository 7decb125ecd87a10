// SPDX-License-Identifier: Apache-2.0
/// \file \brief The registry client of one simulated process: a model of `registry` at one end of a wire.
#ifndef ELASTICJOB_TESTING_SIMULATED_REGISTRY_HPP
#define ELASTICJOB_TESTING_SIMULATED_REGISTRY_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/registry/registry.hpp>
#include <elasticjob/testing/library_version.hpp>
#include <elasticjob/testing/node_loop.hpp>
#include <elasticjob/testing/simulated_server.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob::testing {

/// Keeps a session as ZooKeeper's client does. If it receives nothing for two thirds of the time-out, it considers the
/// connection broken and reconnects. If the connection has been down for the whole time-out by its own clock, it gives
/// the session up, unless the server has ended it sooner. The server handles requests in their order.
///
/// | event                                           | how an operation ends          |
/// |-------------------------------------------------|--------------------------------|
/// | the connection is down when it starts           | not_sent                       |
/// | the connection breaks, or a message is lost     | unknown_outcome                |
/// | its generation is over when it starts           | session_lost                   |
///
/// A process of an earlier version of the library reads and writes as that version does: see `library_version`.
///
/// Threads: the loop's; construct and destroy it between two steps of the world. The destructor ends the session if the
/// process is alive. After a kill it does not, and the server only notices the silence.
class simulated_registry {
public:
    using loop_type = node_loop;
    using watch_type = node_watch<node_loop>;

    /// Connects. Use `connected_session` to wait for the connection.
    simulated_registry(node_loop& l, wire& w, std::uint64_t seed, library_version const& v = {});
    simulated_registry(simulated_registry const&) = delete;
    simulated_registry& operator=(simulated_registry const&) = delete;
    ~simulated_registry();
    /// Call it when the process has been killed: closes its end of the wire.
    void die() { wire_.detach(this); }

    node_loop& loop() noexcept { return loop_; }
    session_view session() const noexcept { return session_; }
    event_count<node_loop>& session_changed() noexcept { return changed_; }
    library_version const& version() const noexcept { return translation_.version(); }
    registry_limits limits() const noexcept { return wire_.server().options().limits; }
    void abandon(abandoned_nodes what) { abandoned_.spawn(remove_abandoned(*this, std::move(what))); }

    task<result<node>> get(node_path path, watch_type* w = nullptr);

    task<result<std::optional<node_stat>>> exists(node_path path, watch_type* w = nullptr);

    task<result<std::vector<std::string>>> children(node_path path, watch_type* w = nullptr);

    task<result<node_path>> create(node_path path, std::string data, create_mode mode,
                                   session_generation g = session_generation::current());

    task<result<node_stat>> set(node_path path, std::string data, node_version version = any_version,
                                session_generation g = session_generation::current());

    task<result<void>> remove(node_path path, node_version version = any_version,
                              session_generation g = session_generation::current());

    task<result<commit_reply>> commit(transaction t);

    /// Breaks the connection, as the client sees it.
    void disconnect() { suspend(); }

private:
    /// A pending request. It lies in the frame of its coroutine. If the frame is destroyed, the reply is ignored.
    struct pending {
        pending(simulated_registry& r, std::uint64_t n, wire_request const& what, watch_type* w);
        pending(pending const&) = delete;
        pending& operator=(pending const&) = delete;
        ~pending() { self.pending_.erase(number); }

        void finish(wire_answer a);

        simulated_registry& self;
        std::uint64_t number;
        watch_type* watch;
        std::string path;
        watch_kind kind;
        bool arms_if_absent;
        event_count<node_loop> done;
        std::optional<wire_answer> answer;
    };

    task<result<wire_answer>> call(wire_request r, session_generation g, watch_type* w);

    /// One write outside a transaction. If the registry refuses it, the error is the reason.
    task<result<wire_answer>> write(operation o, session_generation g);

    // ---- Messages from the wire wait in the process's socket until it is the process's turn.

    static void arrived(void* self, wire_message m) { static_cast<simulated_registry*>(self)->enqueue(std::move(m)); }
    static void silent(void* context, mono_time since);
    static void audible(void* context);

    void enqueue(wire_message m);
    void receive_one();

    void take(wire_message m);

    void take_reply(std::uint64_t number, wire_answer a);

    void fire(std::pair<std::string, watch_kind> const& what);

    // ---- The connection.

    void suspend();

    void try_to_connect();

    void lose_session();

    void give_up();

    struct receiving : work {
        explicit receiving(simulated_registry& r) noexcept : work{&act_on}, self{r} {}
        static void act_on(work& w, work_action action);
        simulated_registry& self;
    };
    template <void (simulated_registry::*Act)()>
    struct alarm : timer {
        explicit alarm(simulated_registry& r) noexcept : timer{&ring}, self{r} {}
        static void ring(timer& t) { (static_cast<alarm&>(t).self.*Act)(); }
        simulated_registry& self;
    };

    node_loop& loop_;
    wire& wire_;
    random_source random_;
    version_translation translation_;
    event_count<node_loop> changed_;
    session_view session_{.generation = {1}};
    std::map<std::pair<std::string, watch_kind>, intrusive_list<watch_type>> watches_;
    std::map<std::uint64_t, pending*> pending_;
    std::deque<wire_message> inbox_;
    std::uint64_t last_request_ = 0;
    std::uint64_t events_seen_ = 0;
    revision seen_ = 0; ///< the latest revision that a server has shown
    std::uint64_t connection_ = 0;
    receiving receive_;
    alarm<&simulated_registry::suspend> notice_;       ///< fires after a long silence
    alarm<&simulated_registry::try_to_connect> retry_; ///< repeats a failed attempt
    alarm<&simulated_registry::give_up> give_up_;
    task_scope abandoned_; ///< last, because its tasks use all members above
};

static_assert(registry<simulated_registry>);

} // namespace elasticjob::testing

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/testing/simulated_registry.ipp>
#endif
#endif // ELASTICJOB_TESTING_SIMULATED_REGISTRY_HPP
