// SPDX-License-Identifier: Apache-2.0
/// \file \brief Limits the bytes in the paths of a session's ephemeral nodes.
#ifndef ELASTICJOB_REGISTRY_ZK_EPHEMERAL_TABLE_HPP
#define ELASTICJOB_REGISTRY_ZK_EPHEMERAL_TABLE_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/registry/transaction.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace elasticjob::zk {

/// When a session ends, ZooKeeper removes its ephemeral nodes in one transaction that contains all their paths. If that
/// transaction is larger than a server accepts (1 MiB by default), the servers can no longer read their own log
/// (ZOOKEEPER-4306). So the paths have a budget, and a write that would exceed it is not sent.
///
/// If another client removes a node, the node still counts until this session creates it again. Sequential nodes do not
/// count: a job has at most one at a time, its candidate, and the budget leaves room for them. The table holds 64 bits
/// for each path. Threads: the loop's.
class ephemeral_table {
public:
    static constexpr std::size_t bytes_max = 900'000;

    /// The effect of a write that is in flight.
    struct change {
        struct path {
            std::size_t hash;
            std::size_t bytes;
            bool is_removed;
        };
        std::vector<path> paths{}; ///< in the order of the operations
        std::size_t added = 0;     ///< bytes
        std::uint64_t session = 0;
    };

    /// `prefix` is the length of the name space, which is part of each path.
    explicit ephemeral_table(std::size_t prefix) noexcept : prefix_{prefix} {}

    /// Follow each success by one `settle`. Errors: too_large.
    result<change> reserve(std::vector<operation> const& operations);
    /// As above, for a write that creates one node.
    result<change> reserve_create(node_path const& path, create_mode mode);
    change reserve_remove(node_path const& path) const;

    /// Call it when the write has ended. An unknown outcome counts as if the write had happened.
    void settle(change const& c, bool has_happened, bool may_have_happened);

    /// The session is over, and its nodes are gone.
    void clear() noexcept;

    /// The bytes that count against `bytes_max`.
    std::size_t bytes() const noexcept { return held_bytes_ + asked_bytes_; }

private:
    void add(change& c, node_path const& path, create_mode mode) const;
    void remove(change& c, node_path const& path) const;
    result<change> admit(change c);

    std::size_t prefix_;
    std::unordered_map<std::size_t, std::size_t> held_; ///< hashes of paths, and their bytes
    std::size_t held_bytes_ = 0;
    std::size_t asked_bytes_ = 0; ///< of creations in flight
    std::uint64_t session_ = 0;
};

} // namespace elasticjob::zk

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/registry/zk/ephemeral_table.ipp>
#endif
#endif // ELASTICJOB_REGISTRY_ZK_EPHEMERAL_TABLE_HPP
