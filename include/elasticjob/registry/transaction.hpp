// SPDX-License-Identifier: Apache-2.0
/// \file \brief A transaction: several changes that happen together or not at all, and the registry's reply.
#ifndef ELASTICJOB_REGISTRY_TRANSACTION_HPP
#define ELASTICJOB_REGISTRY_TRANSACTION_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/path.hpp>
#include <elasticjob/registry/node.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob {

/// One step of a transaction.
struct operation {
    enum class kind : std::uint8_t { check, create, set, remove };
    kind what;
    node_path path;
    std::string data{};                         ///< create, set
    create_mode mode = create_mode::persistent; ///< create
    node_version version = any_version;         ///< check, set, remove

    /// An upper bound of the operation's size in a request: ZooKeeper's wire format with an access list that admits
    /// everyone.
    std::size_t bytes() const noexcept { return 48 + path.str().size() + data.size(); }
};

/// Collects operations. Later operations see the effect of earlier ones. All of them are valid only for the generation
/// that the constructor receives.
class transaction {
public:
    explicit transaction(session_generation g) noexcept : generation_{g} {}

    transaction& check(node_path path, node_version version = any_version);
    transaction& create(node_path path, std::string data, create_mode mode = create_mode::persistent);
    transaction& set(node_path path, std::string data, node_version version = any_version);
    transaction& remove(node_path path, node_version version = any_version);

    /// Makes the registry refuse the transaction if the node exists. It does so by creating and removing the node,
    /// because ZooKeeper has no such check.
    transaction& check_absent(node_path path);

    /// Removes a persistent node. The transaction is refused with no_children_for_ephemerals if the node is ephemeral,
    /// because it also creates and removes a child of it. A version alone does not distinguish the two kinds.
    transaction& remove_persistent(node_path path, node_version version = any_version);

    transaction& add(operation o);

    /// Drops all operations after the first `size` ones.
    void shorten(std::size_t size) noexcept;

    session_generation generation() const noexcept { return generation_; }
    std::vector<operation> const& operations() const noexcept { return operations_; }
    std::size_t size() const noexcept { return operations_.size(); }
    bool empty() const noexcept { return operations_.empty(); }

    /// An upper bound of the transaction's size in a request.
    std::size_t bytes() const noexcept { return bytes_; }

    /// Whether `more` further operations with `more_bytes` bytes in total would fit.
    bool has_room(registry_limits const& limits, std::size_t more = 0, std::size_t more_bytes = 0) const noexcept;

private:
    session_generation generation_;
    std::vector<operation> operations_;
    std::size_t bytes_ = 64; ///< the head and the tail of the request
};

/// The registry's decision on a transaction: it has applied all operations, or none because of one of them.
struct commit_reply {
    struct refusal {
        std::size_t operation; ///< its index
        errc why;              ///< no_node, node_exists, version_conflict, not_empty, no_children_for_ephemerals
    };
    std::optional<refusal> refused;
    revision at = 0; ///< of the transaction, if it contains a `set`; otherwise 0

    explicit operator bool() const noexcept { return !refused; }
};

/// The refusal as an error, for callers that treat any refusal as a failure.
template <class Refusal>
error refusal_error(transaction const& t, Refusal const& r) {
    return error{r.why, "the registry refused the transaction", t.operations()[r.operation].path.str()};
}

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/registry/transaction.ipp>
#endif
#endif // ELASTICJOB_REGISTRY_TRANSACTION_HPP
