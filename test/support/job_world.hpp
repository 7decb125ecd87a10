// SPDX-License-Identifier: Apache-2.0
/// \file \brief One job's nodes on an in-memory server, and sessions that act on them, for tests of parts of the
/// protocol.
#ifndef ELASTICJOB_TEST_SUPPORT_JOB_WORLD_HPP
#define ELASTICJOB_TEST_SUPPORT_JOB_WORLD_HPP

#include <elasticjob/core/virtual_loop.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/memory_registry.hpp>
#include <elasticjob/sharding/item_nodes.hpp>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob::test {

using namespace std::chrono_literals;
using session_type = basic_memory_registry<virtual_loop>;

struct job_world {
    explicit job_world(memory_server_options o = {}) : server{loop, o}, one{server}, two{server}, by_hand{server} {}

    virtual_loop loop{wall_time{std::chrono::seconds{1'767'225'600}}}; // 2026-01-01 00:00:00 UTC
    basic_memory_server<virtual_loop> server;
    session_type one, two;
    session_type by_hand; ///< an operator's, or a Java member's
    job_layout at{job_name::parse("settle").value()};

    template <class T>
    result<T> wait_for(task<result<T>> t) {
        return block_on(loop, std::move(t));
    }

    /// Starts the task and lets the test continue.
    template <class T>
    std::optional<result<T>>& start(task<result<T>> t, std::optional<result<T>>& into) {
        auto run = [](task<result<T>> what, std::optional<result<T>>& outcome) -> task<void> {
            outcome.emplace(co_await std::move(what));
        };
        post(loop, [this, run, &into, t = std::move(t)]() mutable { background.spawn(run(std::move(t), into)); });
        loop.run_ready();
        return into;
    }

    /// Creates the node and its parents.
    void create(node_path const& path, std::string data = {}, create_mode mode = create_mode::persistent) {
        create_as(by_hand, path, std::move(data), mode);
    }
    void create_as(session_type& who, node_path const& path, std::string data = {},
                   create_mode mode = create_mode::persistent) {
        std::vector<node_path> missing;
        for (auto p = path.parent(); !server.tree().find(p); p = p.parent()) missing.push_back(p);
        for (; !missing.empty(); missing.pop_back())
            wait_for(who.create(missing.back(), {}, create_mode::persistent)).value();
        wait_for(who.create(path, std::move(data), mode)).value();
    }
    void set(node_path const& path, std::string data) { wait_for(by_hand.set(path, std::move(data))).value(); }
    void remove(node_path const& path) { wait_for(by_hand.remove(path)).value(); }

    node const* find(node_path const& path) const { return server.tree().find(path); }
    bool has(node_path const& path) const { return find(path) != nullptr; }
    std::string data(node_path const& path) const {
        auto const* n = find(path);
        return n ? n->data : "(absent)";
    }
    std::vector<std::string> owners(item_index count) const {
        std::vector<std::string> all;
        for (item_index i = 0; i < count; ++i) all.push_back(owner_in(data(at.item_instance(i))));
        return all;
    }

    task_scope background; ///< destroyed first
};

/// Loses the given requests or replies during its lifetime.
struct losing {
    using server_type = basic_memory_server<virtual_loop>;
    using rule_type = std::function<request_fate(std::int64_t session, operation::kind const* write)>;

    losing(server_type& s, rule_type r) : server{s}, rule{std::move(r)} { server.set_filter({&decide, this}); }
    losing(losing const&) = delete;
    losing& operator=(losing const&) = delete;
    ~losing() { server.set_filter({}); }

    /// The n-th write of the session from now, counted from 0, has this fate, and then the connection works no more.
    static rule_type cut_at_write(std::int64_t session, request_fate fate, int n = 0) {
        return [session, fate, n, is_cut = false](std::int64_t s, operation::kind const* write) mutable {
            if (s != session) return request_fate::served;
            if (is_cut) return request_fate::request_lost;
            is_cut = write && n-- == 0;
            return is_cut ? fate : request_fate::served;
        };
    }

    /// Only the n-th request of the session from now, counted from 0.
    static rule_type nth(std::int64_t session, std::uint64_t n, request_fate fate) {
        return [session, n, fate, seen = std::uint64_t{0}](std::int64_t s, operation::kind const*) mutable {
            return s == session && seen++ == n ? fate : request_fate::served;
        };
    }
    static rule_type nth_write(std::int64_t session, std::uint64_t n, request_fate fate) {
        return [session, n, fate, seen = std::uint64_t{0}](std::int64_t s, operation::kind const* write) mutable {
            return s == session && write && seen++ == n ? fate : request_fate::served;
        };
    }

    server_type& server;
    rule_type rule;

private:
    static request_fate decide(void* context, std::int64_t session, operation::kind const* write) {
        return static_cast<losing*>(context)->rule(session, write);
    }
};

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SUPPORT_JOB_WORLD_HPP
