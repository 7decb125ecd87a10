// SPDX-License-Identifier: Apache-2.0
/// \file \brief A world with the simulated registry, for the laws of registries.
#ifndef ELASTICJOB_TEST_TESTING_SIMULATED_WORLD_HPP
#define ELASTICJOB_TEST_TESTING_SIMULATED_WORLD_HPP

#include <elasticjob/testing/simulated_registry.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

namespace elasticjob::test {

class SimulatedWorld {
public:
    using registry_type = testing::simulated_registry;

    explicit SimulatedWorld(std::uint64_t seed = 1, memory_server_options options = {})
        : server{world, options, seed}, first_wire{server, seed + 1}, second_wire{server, seed + 2} {
        first_.emplace(loop, first_wire, seed + 3);
        second_.emplace(loop, second_wire, seed + 4);
        world.run_for(std::chrono::milliseconds{100});
    }

    registry_type& registry() noexcept { return *first_; }
    registry_type& second() noexcept { return *second_; }
    std::chrono::milliseconds limit() const { return std::chrono::hours{1}; }

    task<> end_second() {
        second_.reset();
        co_return;
    }
    task<> expire(registry_type& r) {
        auto const seen = r.session();
        server.expire(seen.id);
        while (r.session().generation == seen.generation)
            co_await r.session_changed().newer_than(r.session_changed().edition());
    }
    task<> disconnect(registry_type& r) {
        wire_of(r).cut(true, true);
        r.disconnect();
        co_return;
    }
    task<> reconnect(registry_type& r) {
        wire_of(r).cut(false, false);
        co_return;
    }
    void lose_next_write(request_fate fate) { first_wire.lose(0, fate, true); }

    /// Runs the world until the task has ended, for at most 20 s. Errors: the task's; timed_out.
    template <class T>
    result<T> wait_for(task<result<T>> t) {
        std::optional<result<T>> outcome;
        auto run = [](task<result<T>> what, std::optional<result<T>>& into) -> task<void> {
            into.emplace(co_await std::move(what));
        };
        task_scope running;
        post(loop, [&, t = std::move(t)]() mutable { running.spawn(run(std::move(t), outcome)); });
        for (int ms = 0; ms < 20'000 && !outcome; ++ms) world.run_for(std::chrono::milliseconds{1});
        if (!outcome) return error{errc::timed_out, "the task has not ended within 20 s"};
        return *std::move(outcome);
    }

    testing::wire& wire_of(registry_type& r) { return &r == &*first_ ? first_wire : second_wire; }

    virtual_loop world{wall_time{std::chrono::seconds{1'767'225'600}}}; // 2026-01-01 00:00:00 UTC
    testing::node_loop loop{world};
    testing::simulated_server server;
    testing::wire first_wire, second_wire;

private:
    std::optional<registry_type> first_, second_;
};

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_TESTING_SIMULATED_WORLD_HPP
