// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_REGISTRY_ZK_GUARDED_SESSIONS_IPP
#define ELASTICJOB_IMPL_REGISTRY_ZK_GUARDED_SESSIONS_IPP

#include <elasticjob/registry/zk/guarded_sessions.hpp>

#include <unistd.h>

#include <cstring>

namespace elasticjob::zk {

ELASTICJOB_DECL void guarded_sessions::place::put(session_key const& next) noexcept {
    auto const now = edition.load(std::memory_order_relaxed);
    keys[(now + 1) % 2] = next;
    edition.store(now + 1, std::memory_order_release);
}

ELASTICJOB_DECL result<guard_seat> guard_seat::take(guarded_sessions* all, zk_options const& o) {
    if (!all) return guard_seat{};
    if (all->worker != ::getpid())
        return error{errc::invalid_argument, "another process has started this guardian: start it after fork"};
    if (o.digest.size() > guarded_sessions::digest_bytes_max)
        return error{errc::invalid_argument, "with a guardian, a digest must be shorter than 256 bytes", "digest"};
    auto servers = o.servers; // the guardian uses only servers whose names fit
    while (servers.size() > guarded_sessions::servers_bytes_max) {
        auto const comma = servers.rfind(',');
        if (comma == servers.npos)
            return error{errc::invalid_argument, "with a guardian, a server's name must be shorter than 1 KiB",
                         "servers"};
        servers.resize(comma);
    }
    for (auto& p : all->places) {
        if (p.is_taken.exchange(true)) continue;
        std::memcpy(p.servers, servers.c_str(), servers.size() + 1);
        std::memcpy(p.digest, o.digest.c_str(), o.digest.size() + 1);
        return guard_seat{*all, p};
    }
    return error{errc::overloaded, "a guardian has room for 64 registries of a process, and all are taken"};
}

ELASTICJOB_DECL guard_seat::~guard_seat() {
    clear();
    if (is_ours()) place_->is_taken = false;
}

ELASTICJOB_DECL void guard_seat::hold(session_key const& key) noexcept {
    if (is_ours()) place_->put(key);
}

ELASTICJOB_DECL bool guard_seat::is_ours() const noexcept { return place_ && all_->worker == ::getpid(); }

} // namespace elasticjob::zk
#endif // ELASTICJOB_IMPL_REGISTRY_ZK_GUARDED_SESSIONS_IPP
