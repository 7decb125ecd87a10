// SPDX-License-Identifier: Apache-2.0
/// \file \brief Removes ephemeral nodes whose owner has gone while its session continues.
#ifndef ELASTICJOB_REGISTRY_ABANDONED_NODES_HPP
#define ELASTICJOB_REGISTRY_ABANDONED_NODES_HPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/path.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/registry/catch_up.hpp>
#include <elasticjob/registry/node.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// A node that a scheduler could not remove at its end. It may or may not exist.
struct abandoned_nodes {
    struct one {
        node_path path;
        std::optional<std::string> data{}; ///< if the node has other data, it belongs to another user of the session
    };

    session_generation generation{};
    std::vector<one> nodes{};
    std::optional<node_path> sequential{}; ///< also the nodes beside this path whose names begin with its name
};

namespace detail {

/// Whether this node is the abandoned one.
bool is_abandoned(node const& there, abandoned_nodes::one const& left, session_view const& session);

/// Returns true if the node certainly does not exist, or certainly belongs to another owner.
template <class Registry>
task<bool> remove_abandoned(Registry& r, abandoned_nodes::one const& left, session_generation g) {
    auto const there = co_await r.get(left.path);
    if (!there) co_return there.error() == errc::no_node;
    if (!is_abandoned(*there, left, r.session())) co_return r.session().generation == g;
    auto const removed = co_await r.remove(left.path, there->stat.version, g);
    co_return removed || removed.error() == errc::no_node;
}

/// Replaces `what.sequential` by the matching nodes, if their parent can be read.
template <class Registry>
task<void> find_sequential(Registry& r, abandoned_nodes& what) {
    auto const queue = what.sequential->parent();
    auto const names = co_await r.children(queue);
    bool const is_known = names || names.error() == errc::no_node;
    if (names)
        for (auto const& name : *names)
            if (name.starts_with(what.sequential->name())) what.nodes.push_back({queue / name});
    if (is_known) what.sequential.reset();
}

} // namespace detail

/// For models of `registry`: removes the nodes as soon as there is a connection, and repeats this until they are gone
/// or their session is over. After each failure it pauses, twice as long each time, for at most ten seconds. `r` must
/// outlive the task. Precondition: there is at least one node.
template <class Registry>
task<void> remove_abandoned(Registry& r, abandoned_nodes what) {
    constexpr std::chrono::milliseconds pause_min{100}, pause_max{10'000};
    auto const anyone = what.sequential ? *what.sequential : what.nodes.front().path;
    for (auto pause = pause_min;; pause = std::min(2 * pause, pause_max)) {
        auto const seen = r.session_changed().edition();
        auto const session = r.session();
        bool const is_over = session.generation != what.generation || session.state == session_state::closed;
        if (is_over) co_return; // the nodes ended with the session
        bool is_caught_up = false;
        if (session.state == session_state::connected) {
            auto const written = co_await r.commit(catch_up_write(what.generation, anyone));
            is_caught_up = written || !is_connection(written.error().code);
        }
        if (is_caught_up) {
            if (what.sequential) co_await detail::find_sequential(r, what);
            std::vector<abandoned_nodes::one> rest;
            for (auto const& left : what.nodes) {
                bool const is_gone = co_await detail::remove_abandoned(r, left, what.generation);
                if (!is_gone) rest.push_back(left);
            }
            what.nodes = std::move(rest);
            if (what.nodes.empty() && !what.sequential) co_return;
        }
        auto const until = r.loop().now() + pause;
        co_await r.session_changed().newer_than(seen, until);
    }
}

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/registry/abandoned_nodes.ipp>
#endif
#endif // ELASTICJOB_REGISTRY_ABANDONED_NODES_HPP
