// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_REGISTRY_ZK_HANDLE_IPP
#define ELASTICJOB_IMPL_REGISTRY_ZK_HANDLE_IPP

#include <elasticjob/registry/zk/handle.hpp>

#include <elasticjob/core/start_thread.hpp>

namespace elasticjob::zk {

ELASTICJOB_DECL result<void> handle::check_threads() {
    gate end; // both threads are alive at the same time
    auto const wait = [&end] { end.wait(); };
    auto first = elasticjob::detail::start_thread(wait);
    auto second = elasticjob::detail::start_thread(wait);
    end.open();
    if (first) first->join();
    if (second) second->join();
    if (!first) return std::move(first).error();
    if (!second) return std::move(second).error();
    return success();
}

ELASTICJOB_DECL handle::kept_order::kept_order(bool is_wanted) : is_wanted_{is_wanted} {
    if (is_wanted_) change(1);
}

ELASTICJOB_DECL handle::kept_order::~kept_order() {
    if (is_wanted_) change(-1);
}

ELASTICJOB_DECL void handle::kept_order::change(int number) {
    std::lock_guard const lock{mutex_};
    number_ += number;
    zoo_deterministic_conn_order(number_ > 0);
}

ELASTICJOB_DECL void handle::close() {
    if (raw_) zookeeper_close(std::exchange(raw_, nullptr));
}

ELASTICJOB_DECL bool handle::introduce() {
    auto const& digest = settings_.options.digest;
    return digest.empty() ||
           zoo_add_auth(raw_, "digest", digest.data(), static_cast<int>(digest.size()), nullptr, nullptr) == ZOK;
}

ELASTICJOB_DECL ACL_vector const* handle::access() const noexcept {
    return settings_.options.digest.empty() ? &ZOO_OPEN_ACL_UNSAFE : &ZOO_CREATOR_ALL_ACL;
}

} // namespace elasticjob::zk
#endif // ELASTICJOB_IMPL_REGISTRY_ZK_HANDLE_IPP
