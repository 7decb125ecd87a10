// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_REGISTRY_ZK_HANDLE_IPP
#define ELASTICJOB_IMPL_REGISTRY_ZK_HANDLE_IPP

#include <elasticjob/registry/zk/handle.hpp>

namespace elasticjob::zk {

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
