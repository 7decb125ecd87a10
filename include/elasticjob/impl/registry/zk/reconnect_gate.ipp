// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_REGISTRY_ZK_RECONNECT_GATE_IPP
#define ELASTICJOB_IMPL_REGISTRY_ZK_RECONNECT_GATE_IPP

#include <elasticjob/registry/zk/reconnect_gate.hpp>

namespace elasticjob::zk {

ELASTICJOB_DECL reconnect_gate::pass::pass() {
    mutex_.lock_shared();
    submitting_ = true;
}

ELASTICJOB_DECL reconnect_gate::pass::~pass() {
    submitting_ = false;
    mutex_.unlock_shared();
}

ELASTICJOB_DECL void reconnect_gate::hear(std::string_view line) {
    // The submitting thread may write to the log itself, and would then wait for itself.
    if (submitting_ || line.find("nitiated connection") == line.npos) return;
    mutex_.lock();
    mutex_.unlock();
}

} // namespace elasticjob::zk
#endif // ELASTICJOB_IMPL_REGISTRY_ZK_RECONNECT_GATE_IPP
