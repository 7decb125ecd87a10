// SPDX-License-Identifier: Apache-2.0
/// \file \brief `ZkWorld`: the world for the laws of registries that uses a real ZooKeeper server.
#ifndef ELASTICJOB_TEST_SUPPORT_ZK_WORLD_HPP
#define ELASTICJOB_TEST_SUPPORT_ZK_WORLD_HPP

#include <elasticjob/registry/zk/aside.hpp>
#include <elasticjob/registry/zk_registry.hpp>

#include <integration/zk_lab.hpp>
#include <integration/zk_proxy.hpp>

#include <chrono>
#include <optional>
#include <string>

namespace elasticjob::test {

/// On the common server. The first session goes through a wire that can be cut. Threads: make it on the
/// main thread.
class ZkWorld {
public:
    using registry_type = ZkRegistry;

    ZkWorld() : first_{open(proxy_.endpoint())}, second_{open(server_.endpoint())} {}
    ZkWorld(ZkWorld const&) = delete;
    ZkWorld& operator=(ZkWorld const&) = delete;

    event_loop& loop() noexcept { return loop_; }
    ZkRegistry& registry() noexcept { return *first_; }
    ZkRegistry& second() noexcept { return *second_; }
    std::chrono::milliseconds limit() const { return std::chrono::seconds{30}; }

    task<> end_second() {
        auto close = [this] { second_.reset(); };
        zk::aside closing{loop_, close};
        (void)co_await closing;
    }

    /// Continues when the registry has noticed it. Precondition: `r` is the first session.
    task<> expire(ZkRegistry& r) {
        auto const former = r.session();
        co_await disconnect(r); // otherwise it would take the session back
        auto steal = [port = server_.port(), id = former.id] { session_thief::end_session(port, id); };
        zk::aside stealing{loop_, steal};
        (void)co_await stealing;
        co_await reconnect(r);
        while (r.session().generation == former.generation)
            co_await r.session_changed().newer_than(r.session_changed().edition());
    }

    /// Precondition: `r` is the first session. New connections are accepted, but pass no data.
    task<> disconnect(ZkRegistry&) {
        proxy_.set_requests(wire::held);
        proxy_.set_replies(wire::held);
        proxy_.cut();
        co_return;
    }
    task<> reconnect(ZkRegistry&) {
        proxy_.cut_and_repair();
        co_return;
    }

private:
    ZkRegistry open(std::string servers) {
        auto o = to(std::move(servers), server_.name_space());
        o.session_timeout = std::chrono::milliseconds{2000};
        o.loop = &loop_;
        return connected(std::move(o));
    }

    event_loop loop_;
    shared_zk_server server_;
    tcp_proxy proxy_{server_.port()};
    std::optional<ZkRegistry> first_, second_;
};

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SUPPORT_ZK_WORLD_HPP
