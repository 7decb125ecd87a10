// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_REGISTRY_ZK_SERVER_ORDER_IPP
#define ELASTICJOB_IMPL_REGISTRY_ZK_SERVER_ORDER_IPP

#include <elasticjob/registry/zk/server_order.hpp>

#include <elasticjob/core/algorithm.hpp> // max, min, rotate
#include <elasticjob/core/random.hpp>

#include <utility> // swap

namespace elasticjob::zk {

ELASTICJOB_DECL server_order::server_order(zk_options const& o, std::uint64_t seed) : patience_max_{o.session_timeout} {
    for (auto const endpoint : endpoints(o.servers)) servers_.emplace_back(endpoint);
    random_source random{seed};
    for (auto n = servers_.size(); n > 1; --n) std::swap(servers_[n - 1], servers_[random.next() % n]);
    constexpr std::size_t addresses_of_one_name = 3; // a guess: libzookeeper shuffles them
    patience_ = o.connection_timeout / static_cast<int>(std::max(servers_.size(), addresses_of_one_name));
}

ELASTICJOB_DECL std::string server_order::text() const {
    std::string all;
    for (auto const& s : servers_) all.append(all.empty() ? "" : ",").append(s);
    return all;
}

ELASTICJOB_DECL std::chrono::milliseconds server_order::patience() const noexcept {
    auto const rounds = std::min<std::size_t>(failures_ / servers_.size(), 16);
    return std::min(patience_ * (1 << rounds), std::max(patience_, patience_max_));
}

ELASTICJOB_DECL void server_order::note_failure() {
    ++failures_;
    std::rotate(servers_.begin(), servers_.begin() + 1, servers_.end());
}

} // namespace elasticjob::zk
#endif // ELASTICJOB_IMPL_REGISTRY_ZK_SERVER_ORDER_IPP
