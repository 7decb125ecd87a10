// SPDX-License-Identifier: Apache-2.0
/// \file \brief The `registry` concept: the store through which instances coordinate.
#ifndef ELASTICJOB_REGISTRY_REGISTRY_HPP
#define ELASTICJOB_REGISTRY_REGISTRY_HPP

#include <elasticjob/core/loop.hpp>
#include <elasticjob/core/path.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/registry/abandoned_nodes.hpp>
#include <elasticjob/registry/node.hpp>
#include <elasticjob/registry/transaction.hpp>
#include <elasticjob/registry/watch.hpp>

#include <concepts>
#include <optional>
#include <string>
#include <vector>

namespace elasticjob {

namespace detail {

template <class R>
using watch_of = node_watch<typename R::loop_type>;

template <class R>
concept registry_reads = requires(R& r, node_path path, watch_of<R>* w) {
    { r.get(path) } -> std::same_as<task<result<node>>>;
    { r.get(path, w) } -> std::same_as<task<result<node>>>;
    { r.exists(path) } -> std::same_as<task<result<std::optional<node_stat>>>>;
    { r.exists(path, w) } -> std::same_as<task<result<std::optional<node_stat>>>>;
    { r.children(path) } -> std::same_as<task<result<std::vector<std::string>>>>;
    { r.children(path, w) } -> std::same_as<task<result<std::vector<std::string>>>>;
};

template <class R>
concept registry_writes = requires(R& r, node_path path, std::string data, create_mode mode, node_version version,
                                   session_generation g, transaction t) {
    { r.create(path, data, mode, g) } -> std::same_as<task<result<node_path>>>;
    { r.set(path, data, version, g) } -> std::same_as<task<result<node_stat>>>;
    { r.remove(path, version, g) } -> std::same_as<task<result<void>>>;
    { r.commit(t) } -> std::same_as<task<result<commit_reply>>>;
    { r.limits() } -> std::same_as<registry_limits>;
};

template <class R>
concept registry_sessions = requires(R& r, abandoned_nodes left) {
    { r.session() } -> std::same_as<session_view>;
    { r.session_changed() } -> std::same_as<event_count<typename R::loop_type>&>;
    { r.abandon(left) } -> std::same_as<void>;
};

} // namespace detail

/// A tree of small nodes that many processes share, with sessions, versions, transactions and watches. All operations
/// are asynchronous: a coroutine on the registry's loop awaits them, and they run on that loop.
///
/// | expression                   | gives              | must hold                                                 |
/// |------------------------------|--------------------|-----------------------------------------------------------|
/// | `r.get(path[, w])`           | node               | no_node if absent; otherwise arms `w` (data)              |
/// | `r.exists(path[, w])`        | stat or nothing    | arms `w` (data) either way                                |
/// | `r.children(path[, w])`      | names, in no order | no_node if absent; otherwise arms `w` (children)          |
/// | `r.create(path, data, m, g)` | the path created   | the parent must exist; a sequential one gets ten digits   |
/// | `r.set(path, data, v, g)`    | the new stat       | version_conflict unless `v` is its version or any_version |
/// | `r.remove(path, v, g)`       |                    | not_empty if it has children                              |
/// | `r.commit(t)`                | commit_reply       | all or nothing, in one revision; a refusal is no error    |
/// | `r.session()`                | session_view       | as known now                                              |
/// | `r.session_changed()`        | event_count        | notified after every change of `session()`                |
/// | `r.abandon(nodes)`           | nothing            | removes them as soon as it can, while their session lives |
/// | `r.limits()`                 | registry_limits    | larger requests fail with too_large, and are not sent     |
/// | `r.loop()`                   | the loop           | everything above happens on it                            |
///
/// Errors of every operation: not_sent (certainly without effect), unknown_outcome (the reply was lost: read the state
/// again), session_lost (the generation is over), no_auth, closed. A registry repeats no operation by itself, except
/// the removal of abandoned nodes, for which no caller waits: every model runs `remove_abandoned` in a task of its own.
/// Laws (run over every model by test/laws/registry.hpp): a second create keeps the first data; ephemeral nodes end
/// with their session; sequence numbers grow; a watch fires once for each arming, and its cause is readable then; a
/// watch fires before any read shows its change; a transaction is all or nothing, its operations see each other; a
/// write under an old generation never lands; every operation ends, with a result or an error.
/// A registry whose sessions have a budget for watches may also have `keep_room(path)` and `release_room(path)`: see
/// ZkRegistry.
/// Models: MemoryRegistry, ZkRegistry, MeasuredRegistry, registry_ref. Threads: the loop's, except `loop()`.
template <class R>
concept registry = loop<typename R::loop_type> && requires(R& r) {
    { r.loop() } -> std::same_as<typename R::loop_type&>;
} && detail::registry_reads<R> && detail::registry_writes<R> && detail::registry_sessions<R>;

/// Waits until the registry has a connected session, and returns it. The wait has no limit, so limit the caller's time,
/// or destroy the task. Errors: closed.
template <registry Registry>
task<result<session_view>> connected_session(Registry& r) {
    for (;;) {
        auto const seen = r.session_changed().edition();
        auto const session = r.session();
        if (session.state == session_state::connected) co_return session;
        if (session.state == session_state::closed) co_return error{errc::closed, "the registry is closed"};
        co_await r.session_changed().newer_than(seen);
    }
}

/// As above, but waits for this generation only. The wait is limited, because every registry gives up a session whose
/// connection has been down for the session time-out. Errors: session_lost, closed.
template <registry Registry>
task<result<session_view>> connected_session(Registry& r, session_generation g) {
    for (;;) {
        auto const seen = r.session_changed().edition();
        auto const session = r.session();
        if (session.state == session_state::closed) co_return error{errc::closed, "the registry is closed"};
        if (session.generation != g) co_return error{errc::session_lost, "the session of this request is over"};
        if (session.state == session_state::connected) co_return session;
        co_await r.session_changed().newer_than(seen);
    }
}

} // namespace elasticjob
#endif // ELASTICJOB_REGISTRY_REGISTRY_HPP
