// SPDX-License-Identifier: Apache-2.0
/// \file \brief Keeps libzookeeper from losing its session in the middle of a submission.
#ifndef ELASTICJOB_REGISTRY_ZK_RECONNECT_GATE_HPP
#define ELASTICJOB_REGISTRY_ZK_RECONNECT_GATE_HPP

#include <elasticjob/core/decl.hpp>

#include <shared_mutex>
#include <string_view>

namespace elasticjob::zk {

/// When a handle becomes unusable while `zoo_amulti` runs, libzookeeper frees memory twice. A handle becomes unusable
/// only by an answer to a reconnection, and it logs each reconnection before it reads the answer. So: the log callback
/// waits here until nobody submits, and a submission looks at the state with the gate in its hand. Connected then means
/// usable until the gate is given back.
/// The gate is one for the process, because a log callback is told no handle. Threads: any.
class reconnect_gate {
public:
    /// Held while submitting.
    class pass {
    public:
        pass();
        pass(pass const&) = delete;
        pass& operator=(pass const&) = delete;
        ~pass();
    };

    /// For libzookeeper's log: every line of it, since there is no other sign of a reconnection.
    static void hear(std::string_view line);

private:
    static inline std::shared_mutex mutex_;
    static inline thread_local bool submitting_ = false;
};

} // namespace elasticjob::zk

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/registry/zk/reconnect_gate.ipp>
#endif
#endif // ELASTICJOB_REGISTRY_ZK_RECONNECT_GATE_HPP
