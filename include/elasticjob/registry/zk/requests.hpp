// SPDX-License-Identifier: Apache-2.0
/// \file \brief ZooKeeper's requests: how each is sent, and how its reply is interpreted.
#ifndef ELASTICJOB_REGISTRY_ZK_REQUESTS_HPP
#define ELASTICJOB_REGISTRY_ZK_REQUESTS_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/registry/transaction.hpp>
#include <elasticjob/registry/zk/call.hpp>
#include <elasticjob/registry/zk/handle.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob::zk {

// Their callbacks run on libzookeeper's thread. They copy libzookeeper's data and pass the call on.

/// A request that may set a watch.
template <watch_kind Kind>
struct read_request {
    static constexpr watch_kind watches = Kind;
    static watcher_fn watcher(handle const& h, call const& c) noexcept { return c.watches ? h.watcher(Kind) : nullptr; }
};

struct get_request : read_request<watch_kind::data> {
    using answer = node;

    int submit(handle& h, call& c) const;
    result<node> conclude(int code, node_path const& path) &&;

    node found{};

private:
    static void on_reply(int code, char const* data, int size, Stat const* stat, void const* context) noexcept;
};

struct exists_request : read_request<watch_kind::data> {
    using answer = std::optional<node_stat>;

    int submit(handle& h, call& c) const;
    result<std::optional<node_stat>> conclude(int code, node_path const& path) &&;

    std::optional<node_stat> found{};

private:
    static void on_reply(int code, Stat const* stat, void const* context) noexcept;
};

struct children_request : read_request<watch_kind::children> {
    using answer = std::vector<std::string>;

    int submit(handle& h, call& c) const;
    result<std::vector<std::string>> conclude(int code, node_path const& path) &&;

    std::vector<std::string> names{};

private:
    static void on_reply(int code, String_vector const* found, void const* context) noexcept;
};

struct create_request {
    using answer = node_path;

    int submit(handle& h, call& c) const;
    result<node_path> conclude(int code, node_path const& path) &&;

    std::string data;
    create_mode mode;
    std::string created{}; ///< on the server

private:
    static void on_reply(int code, char const* path, void const* context) noexcept;
};

struct set_request {
    using answer = node_stat;

    int submit(handle& h, call& c) const;
    result<node_stat> conclude(int code, node_path const& path) &&;

    std::string data;
    node_version version;
    node_stat after{};

private:
    static void on_reply(int code, Stat const* stat, void const* context) noexcept;
};

struct remove_request {
    using answer = void;

    int submit(handle& h, call& c) const;
    result<void> conclude(int code, node_path const& path) &&;

    node_version version;

private:
    static void on_reply(int code, void const* context) noexcept;
};

/// Removes the one watch of that kind from the server, and from the watches that libzookeeper sets again when it
/// reconnects.
struct remove_watch_request {
    using answer = void;

    int submit(handle& h, call& c) const;
    result<void> conclude(int code, node_path const& path) &&;

    watch_kind kind;

private:
    static void on_reply(int code, void const* context) noexcept;
};

/// libzookeeper writes into `results` and `written` until the reply; they must not move after `submit`.
struct commit_request {
    using answer = commit_reply;

    explicit commit_request(transaction t) noexcept : batch{std::move(t)} {}

    /// Precondition: the caller holds a `reconnect_gate::pass`; otherwise libzookeeper may free memory twice.
    int submit(handle& h, call& c);

    result<commit_reply> conclude(int code, node_path const& path) &&;

private:
    static void describe(operation const& o, char const* path, ACL_vector const* access, Stat* stat, zoo_op_t& op);

    static void on_reply(int code, void const* context) noexcept;

    transaction batch;
    std::vector<zoo_op_result_t> results{};
    Stat written{};
};

} // namespace elasticjob::zk

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/registry/zk/requests.ipp>
#endif
#endif // ELASTICJOB_REGISTRY_ZK_REQUESTS_HPP
