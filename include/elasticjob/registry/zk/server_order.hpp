// SPDX-License-Identifier: Apache-2.0
/// \file \brief The order in which the servers are tried, and the time that each of them gets.
#ifndef ELASTICJOB_REGISTRY_ZK_SERVER_ORDER_HPP
#define ELASTICJOB_REGISTRY_ZK_SERVER_ORDER_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/registry/zk/options.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace elasticjob::zk {

/// libzookeeper waits for a silent server for two thirds of the session time-out, which may be longer than `connect`
/// waits for all of them. So a handle without a session is given up sooner, and the next handle begins with another
/// server. The order is random at first, so that clients spread over the servers.
/// Threads: one at a time.
class server_order {
public:
    server_order(zk_options const& o, std::uint64_t seed);

    /// For libzookeeper.
    std::string text() const;
    bool has_choice() const noexcept { return servers_.size() > 1; }

    /// How long a handle may try to open a session: at first, so long that `connect` can try each server.
    std::chrono::milliseconds patience() const noexcept;

    /// A handle has had a session.
    void note_success() noexcept { failures_ = 0; }
    /// A handle has had none. When all servers have been tried, each gets twice the time: it may just be slow.
    void note_failure();

private:
    std::vector<std::string> servers_;
    std::chrono::milliseconds patience_; ///< at first
    std::chrono::milliseconds patience_max_;
    std::size_t failures_ = 0;
};

} // namespace elasticjob::zk

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/registry/zk/server_order.ipp>
#endif
#endif // ELASTICJOB_REGISTRY_ZK_SERVER_ORDER_HPP
