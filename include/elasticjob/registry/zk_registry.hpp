// SPDX-License-Identifier: Apache-2.0
/// \file \brief `ZkRegistry`: the registry on a ZooKeeper ensemble.
#ifndef ELASTICJOB_REGISTRY_ZK_REGISTRY_HPP
#define ELASTICJOB_REGISTRY_ZK_REGISTRY_HPP

#include <elasticjob/core/algorithm.hpp> // min
#include <elasticjob/core/block_on.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/registry/registry.hpp>
#include <elasticjob/registry/zk/options.hpp>

#include <cassert>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob {

namespace zk {
class session;
} // namespace zk

/// A session with a ZooKeeper ensemble, by libzookeeper.
/// `auto registry = ZkRegistry::connect({.servers = "zk1:2181,zk2:2181", .name_space = "billing"});`
///
/// The registry restores an interrupted connection by itself, with the same session if that is still alive. When the
/// session is lost, the generation changes, every armed watch fires, and every operation in flight ends. The registry
/// then opens a new session, and repeats that until it succeeds or is closed. If the server is silent for the whole
/// session time-out, the session counts as lost. The registry removes a watch without a waiter from the server, if that
/// is ZooKeeper 3.5 or later. An idle registry sends only libzookeeper's pings, one in each third of the session
/// time-out.
///
/// The object is a handle: it may be moved while operations run. Its destructor ends the session, which removes its
/// ephemeral nodes at once, and ends all operations with `closed`. Their waiters resume before the destructor returns,
/// and must not use the registry afterwards. The destructor takes milliseconds, or seconds if the server does not
/// answer.
/// Threads: `connect` and the destructor on any but the loop's; the rest as the concept says.
class ZkRegistry {
public:
    using loop_type = event_loop;

    /// Waits for the first connection, at most `connection_timeout` (longer if a name server is silent).
    /// Errors: invalid_argument (with the field), unreachable, no_auth (the digest is refused, or the name space cannot
    /// be created because its parent belongs to another user), wrong_thread, overloaded (no thread can be started, or
    /// the guardian has no room).
    static result<ZkRegistry> connect(zk_options options);

    ZkRegistry(ZkRegistry&& other) noexcept;
    ZkRegistry& operator=(ZkRegistry&& other) noexcept;
    ~ZkRegistry();

    event_loop& loop() noexcept;
    session_view session() const noexcept;
    event_count<event_loop>& session_changed() noexcept;
    registry_limits limits() const noexcept;
    /// The spent or kept part of the session's budget for watches or of that for ephemeral nodes, whichever is larger;
    /// from 0 to 1. A request that needs more than is left fails with too_large. See scheduler/scheduler_group.hpp. Threads:
    /// the loop's.
    double budget_used() const noexcept;

    /// Keeps a part of the budget for a watch of that node, which is to be set later; returns false if there is not
    /// enough left. Release it once, before the watch is set or when it is not needed. Threads: the loop's.
    bool keep_room(node_path const& path);
    void release_room(node_path const& path);
    void abandon(abandoned_nodes what);

    task<result<node>> get(node_path path, node_watch<event_loop>* w = nullptr);
    task<result<std::optional<node_stat>>> exists(node_path path, node_watch<event_loop>* w = nullptr);
    task<result<std::vector<std::string>>> children(node_path path, node_watch<event_loop>* w = nullptr);

    task<result<node_path>> create(node_path path, std::string data, create_mode mode,
                                   session_generation g = session_generation::current());
    task<result<node_stat>> set(node_path path, std::string data, node_version version = any_version,
                                session_generation g = session_generation::current());
    task<result<void>> remove(node_path path, node_version version = any_version,
                              session_generation g = session_generation::current());

    /// `commit_reply::at` is the revision of the transaction if it contains a `set`.
    task<result<commit_reply>> commit(transaction t);

private:
    explicit ZkRegistry(zk::settings s);

    std::unique_ptr<event_loop> own_loop_;
    std::unique_ptr<zk::session> session_; ///< has a stable address: coroutines keep this pointer, not the `ZkRegistry`
};

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/registry/zk_registry.ipp>
#endif
#if defined(ELASTICJOB_COMPILED) && defined(ELASTICJOB_SCHEDULER_INSTANCES_HPP)
#include <elasticjob/scheduler/zk_instances.hpp>
#endif
#endif // ELASTICJOB_REGISTRY_ZK_REGISTRY_HPP
