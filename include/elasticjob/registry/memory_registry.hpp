// SPDX-License-Identifier: Apache-2.0
/// \file \brief `MemoryRegistry`: the registry inside one process.
#ifndef ELASTICJOB_REGISTRY_MEMORY_REGISTRY_HPP
#define ELASTICJOB_REGISTRY_MEMORY_REGISTRY_HPP

#include <elasticjob/core/block_on.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/registry/memory/memory_server.hpp>
#include <elasticjob/registry/registry.hpp>

#include <optional>
#include <utility>

namespace elasticjob {

/// One member's connection to a memory server: a session with its own ephemeral nodes and watches, connected from the
/// start. A request takes one turn of the loop, and its reply another. The server handles requests of one session in
/// order. Threads: construction and destruction on any; the rest as the concept says.
template <loop Loop>
class basic_memory_registry {
public:
    using loop_type = Loop;

    /// With its own loop and its own server, which others may join: `MemoryRegistry a; MemoryRegistry b{a.server()};`
    /// Throws std::system_error if the loop's thread cannot be started.
    basic_memory_registry() : basic_memory_registry{new own_world} {}

    explicit basic_memory_registry(basic_memory_server<Loop>& server) : basic_memory_registry{nullptr, server} {}
    basic_memory_registry(basic_memory_registry const&) = delete;
    basic_memory_registry& operator=(basic_memory_registry const&) = delete;

    /// Ends the session and removes its ephemeral nodes. Everything that uses this registry must have ended.
    ~basic_memory_registry();

    Loop& loop() noexcept { return server_.loop(); }
    basic_memory_server<Loop>& server() noexcept { return server_; }
    session_view session() const noexcept { return session_; }
    event_count<Loop>& session_changed() noexcept { return changed_; }
    registry_limits limits() const noexcept { return server_.options().limits; }
    void abandon(abandoned_nodes what) { abandoned_.spawn(remove_abandoned(*this, std::move(what))); }

    task<result<node>> get(node_path path, node_watch<Loop>* w = nullptr);

    task<result<std::optional<node_stat>>> exists(node_path path, node_watch<Loop>* w = nullptr);

    task<result<std::vector<std::string>>> children(node_path path, node_watch<Loop>* w = nullptr);

    task<result<node_path>> create(node_path path, std::string data, create_mode mode,
                                   session_generation g = session_generation::current());

    task<result<node_stat>> set(node_path path, std::string data, node_version version = any_version,
                                session_generation g = session_generation::current());

    task<result<void>> remove(node_path path, node_version version = any_version,
                              session_generation g = session_generation::current());

    task<result<commit_reply>> commit(transaction t);

    // For tests and simulations, on the loop.

    /// The server ends the session and removes its ephemeral nodes, and a new session begins.
    void expire();

    /// The connection breaks. Watches stay armed, and the session stays alive for its time-out.
    void disconnect();

    /// The connection comes back, with the same session if it is still alive, otherwise with a new one.
    void reconnect();

private:
    using applied = typename basic_memory_server<Loop>::applied;

    struct own_world {
        Loop loop;
        basic_memory_server<Loop> server{loop};
    };

    explicit basic_memory_registry(own_world* own) : basic_memory_registry{own, own->server} {}
    basic_memory_registry(own_world* own, basic_memory_server<Loop>& server);

    /// The way of a request to the server and back, with the fate of its reply.
    struct passage {
        session_generation generation;
        request_fate fate;
    };

    task<result<passage>> request(session_generation g, operation::kind const* write_kind);

    task<result<void>> reply(passage way);

    task<result<applied>> submit(std::vector<operation> operations, session_generation g);

    /// A single write outside of a transaction: a refusal is its error.
    task<result<applied>> write(operation o, session_generation g, std::optional<node_stat>* after = nullptr);

    std::optional<error> refusal(session_generation g) const;
    static error unreadable(node_path const& path) {
        return error{errc::no_auth, "the access list of the node does not allow reading it", path.str()};
    }
    static error lost() { return error{errc::unknown_outcome, "no reply came"}; }

    void open();

    void lose_session();

    void close();

    template <class F>
    void on_its_loop(F f) {
        auto run = [](F function) -> task<result<void>> {
            function();
            co_return success();
        };
        if (loop().on_loop())
            f();
        else
            (void)block_on(loop(), run(std::move(f)));
    }

    struct expiry : timer {
        explicit expiry(basic_memory_registry& r) noexcept : timer{&ring}, self{r} {}
        static void ring(timer& t) { static_cast<expiry&>(t).self.lose_session(); }
        basic_memory_registry& self;
    };

    std::unique_ptr<own_world> own_; ///< first, because it must outlive the rest
    basic_memory_server<Loop>& server_;
    event_count<Loop> changed_;
    session_view session_{.generation = {1}};
    session_watches<Loop> watches_;
    expiry expiry_;
    task_scope abandoned_; ///< last: its tasks use all of the above
};

using MemoryRegistry = basic_memory_registry<event_loop>;

template <loop Loop>
basic_memory_registry<Loop>::~basic_memory_registry() {
    on_its_loop([this] { close(); });
}

template <loop Loop>
task<result<node>> basic_memory_registry<Loop>::get(node_path path, node_watch<Loop>* w) {
    ELASTICJOB_CO_TRY(auto const way, co_await request(session_.generation, nullptr));
    node const* const found = server_.tree().find(path);
    bool const is_refused = found && server_.tree().is_unreadable(path);
    std::optional<node> answer;
    if (found && !is_refused) {
        answer = *found;
        if (w) watches_.arm(*w, path.str(), watch_kind::data);
    }
    ELASTICJOB_CO_CHECK(co_await reply(way));
    if (is_refused) co_return unreadable(path);
    if (!answer) co_return error{errc::no_node, "no such node", path.str()};
    co_return std::move(*answer);
}

template <loop Loop>
task<result<std::optional<node_stat>>> basic_memory_registry<Loop>::exists(node_path path, node_watch<Loop>* w) {
    ELASTICJOB_CO_TRY(auto const way, co_await request(session_.generation, nullptr));
    node const* const found = server_.tree().find(path);
    std::optional<node_stat> answer;
    if (found) answer = found->stat;
    if (w) watches_.arm(*w, path.str(), watch_kind::data);
    ELASTICJOB_CO_CHECK(co_await reply(way));
    co_return answer;
}

template <loop Loop>
task<result<std::vector<std::string>>> basic_memory_registry<Loop>::children(node_path path, node_watch<Loop>* w) {
    ELASTICJOB_CO_TRY(auto const way, co_await request(session_.generation, nullptr));
    bool const found = server_.tree().find(path) != nullptr;
    bool const is_refused = found && server_.tree().is_unreadable(path);
    std::vector<std::string> answer;
    if (found && !is_refused) {
        answer = server_.tree().children(path);
        if (w) watches_.arm(*w, path.str(), watch_kind::children);
    }
    ELASTICJOB_CO_CHECK(co_await reply(way));
    if (is_refused) co_return unreadable(path);
    if (!found) co_return error{errc::no_node, "no such node", path.str()};
    co_return answer;
}

template <loop Loop>
task<result<node_path>> basic_memory_registry<Loop>::create(node_path path, std::string data, create_mode mode,
                                                            session_generation g) {
    operation o{operation::kind::create, std::move(path), std::move(data), mode};
    ELASTICJOB_CO_TRY(auto const answer, co_await write(std::move(o), g));
    co_return node_path::parse(answer.created.front());
}

template <loop Loop>
task<result<node_stat>> basic_memory_registry<Loop>::set(node_path path, std::string data, node_version version,
                                                         session_generation g) {
    operation o{operation::kind::set, path, std::move(data), create_mode::persistent, version};
    std::optional<node_stat> after;
    ELASTICJOB_CO_CHECK(co_await write(std::move(o), g, &after));
    co_return *after;
}

template <loop Loop>
task<result<void>> basic_memory_registry<Loop>::remove(node_path path, node_version version, session_generation g) {
    operation o{operation::kind::remove, std::move(path), {}, create_mode::persistent, version};
    ELASTICJOB_CO_CHECK(co_await write(std::move(o), g));
    co_return success();
}

template <loop Loop>
task<result<commit_reply>> basic_memory_registry<Loop>::commit(transaction t) {
    if (!t.has_room(limits()))
        co_return error{errc::too_large, "the transaction is larger than one request may be: split it"};
    ELASTICJOB_CO_TRY(auto const answer, co_await submit(t.operations(), t.generation()));
    if (answer.refused && answer.refused->why == errc::no_auth)
        co_return error{errc::no_auth, "the node is read-only", t.operations()[answer.refused->operation].path.str()};
    bool wrote = false;
    for (auto const& o : t.operations()) wrote |= o.what == operation::kind::set;
    co_return commit_reply{answer.refused, wrote ? answer.at : 0};
}

template <loop Loop>
void basic_memory_registry<Loop>::expire() {
    disconnect();
    lose_session();
    reconnect();
}

template <loop Loop>
void basic_memory_registry<Loop>::disconnect() {
    if (session_.state != session_state::connected) return;
    session_.state = session_state::suspended;
    watches_.hold();
    loop().arm(expiry_, loop().now() + session_.timeout);
    changed_.notify();
}

template <loop Loop>
void basic_memory_registry<Loop>::reconnect() {
    if (session_.state == session_state::suspended) {
        loop().disarm(expiry_);
        session_.state = session_state::connected;
        watches_.release();
        changed_.notify();
    } else if (session_.state == session_state::connecting) {
        open();
    }
}

template <loop Loop>
basic_memory_registry<Loop>::basic_memory_registry(own_world* own, basic_memory_server<Loop>& server)
    : own_{own},
      server_{server},
      changed_{server.loop()},
      expiry_{*this} {
    on_its_loop([this] {
        server_.subscribe(watches_);
        open();
    });
}

template <loop Loop>
auto basic_memory_registry<Loop>::request(session_generation g, operation::kind const* write_kind)
    -> task<result<passage>> {
    if (auto const e = refusal(g)) co_return *e;
    auto const fate = server_.fate_of(session_.id, write_kind);
    co_await yield(loop());
    if (auto const e = refusal(g)) co_return error{errc::unknown_outcome, e->what};
    if (fate == request_fate::request_lost) co_return lost();
    co_return passage{g, fate};
}

template <loop Loop>
task<result<void>> basic_memory_registry<Loop>::reply(passage way) {
    co_await yield(loop());
    if (way.fate == request_fate::reply_lost) co_return lost();
    if (auto const e = refusal(way.generation)) co_return error{errc::unknown_outcome, e->what};
    co_return success();
}

template <loop Loop>
auto basic_memory_registry<Loop>::submit(std::vector<operation> operations, session_generation g)
    -> task<result<applied>> {
    if (g == session_generation::current()) g = session_.generation;
    auto const kind = operations.empty() ? operation::kind::check : operations.front().what;
    ELASTICJOB_CO_TRY(auto const way, co_await request(g, &kind));
    auto answer = server_.apply(operations, session_.id);
    ELASTICJOB_CO_CHECK(co_await reply(way));
    co_return answer;
}

template <loop Loop>
auto basic_memory_registry<Loop>::write(operation o, session_generation g, std::optional<node_stat>* after)
    -> task<result<applied>> {
    auto const path = o.path;
    if (o.bytes() > limits().request_bytes_max)
        co_return error{errc::too_large, "the data is larger than one request may be", path.str()};
    if (g == session_generation::current()) g = session_.generation;
    auto const kind = o.what;
    ELASTICJOB_CO_TRY(auto const way, co_await request(g, &kind));
    std::vector<operation> operations;
    operations.push_back(std::move(o));
    auto answer = server_.apply(operations, session_.id);
    if (after && !answer.refused) *after = server_.tree().find(path)->stat;
    ELASTICJOB_CO_CHECK(co_await reply(way));
    if (answer.refused) co_return error{answer.refused->why, "the registry refused the request", path.str()};
    co_return answer;
}

template <loop Loop>
std::optional<error> basic_memory_registry<Loop>::refusal(session_generation g) const {
    if (session_.state == session_state::closed) return error{errc::closed, "the registry is closed"};
    if (g != session_.generation) return error{errc::session_lost, "the session of this request is over"};
    if (session_.state != session_state::connected) return error{errc::not_sent, "the connection is down"};
    return std::nullopt;
}

template <loop Loop>
void basic_memory_registry<Loop>::open() {
    session_.id = server_.open_session();
    session_.state = session_state::connected;
    session_.timeout = server_.options().session_timeout;
    changed_.notify();
}

template <loop Loop>
void basic_memory_registry<Loop>::lose_session() {
    loop().disarm(expiry_);
    server_.end_session(session_.id);
    session_ = {{session_.generation.value + 1}, 0, session_state::connecting, session_.timeout};
    watches_.fire_everything();
    changed_.notify();
}

template <loop Loop>
void basic_memory_registry<Loop>::close() {
    abandoned_.cancel();
    loop().disarm(expiry_);
    watches_.unlink();
    server_.end_session(session_.id);
    session_.state = session_state::closed;
}

#if defined(ELASTICJOB_COMPILED)
extern template class basic_memory_server<event_loop>; // src.hpp defines them
extern template class basic_memory_registry<event_loop>;
#endif

} // namespace elasticjob
#endif // ELASTICJOB_REGISTRY_MEMORY_REGISTRY_HPP
