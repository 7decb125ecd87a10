// SPDX-License-Identifier: Apache-2.0
/// \file \brief An operator who writes nodes of a simulated cluster by hand.
#ifndef ELASTICJOB_TEST_SIMULATION_CONSOLE_HPP
#define ELASTICJOB_TEST_SIMULATION_CONSOLE_HPP

#include <elasticjob/testing/simulation.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <utility>

namespace elasticjob::test {

/// Writes nodes by hand, as an operator does. Each call takes a tenth of a second.
struct console {
    explicit console(testing::simulated_cluster& c)
        : cluster{c},
          to{c.server(), 77},
          loop{c.world()},
          registry{loop, to, 78} {
        cluster.run_for(std::chrono::milliseconds{100});
    }
    void set(node_path path, std::string data) {
        tasks.spawn(carry_out(registry.set(std::move(path), std::move(data))));
        cluster.run_for(std::chrono::milliseconds{100});
    }
    void create(node_path path) {
        tasks.spawn(carry_out(registry.create(std::move(path), {}, create_mode::persistent)));
        cluster.run_for(std::chrono::milliseconds{100});
    }
    template <class T>
    static task<void> carry_out(task<result<T>> what) {
        CHECK(co_await std::move(what));
    }

    testing::simulated_cluster& cluster;
    testing::wire to;
    testing::node_loop loop;
    testing::simulated_registry registry;
    task_scope tasks;
};

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SIMULATION_CONSOLE_HPP
