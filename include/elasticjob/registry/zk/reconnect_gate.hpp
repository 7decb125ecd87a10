// SPDX-License-Identifier: Apache-2.0
/// \file \brief Keeps libzookeeper from losing its session in the middle of a submission.
#ifndef ELASTICJOB_REGISTRY_ZK_RECONNECT_GATE_HPP
#define ELASTICJOB_REGISTRY_ZK_RECONNECT_GATE_HPP

#include <elasticjob/core/decl.hpp>

#include <shared_mutex>
#include <string_view>

namespace elasticjob::zk {

/// If a handle becomes unusable while `zoo_amulti` runs, libzookeeper frees memory twice. A handle becomes unusable
/// only by the reply to a reconnection, and libzookeeper logs each reconnection before it reads the reply. So the log
/// callback waits here until no submission is in progress, and each submission checks the state while it holds the
/// gate. A connected handle then stays usable until the gate is released. The process has one gate, because a log
/// callback does not receive the handle. Threads: any.
class reconnect_gate {
public:
    /// Holds the gate during a submission.
    class pass {
    public:
        pass();
        pass(pass const&) = delete;
        pass& operator=(pass const&) = delete;
        ~pass();
    };

    /// Receives every line of libzookeeper's log, because libzookeeper gives no other sign of a reconnection.
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
