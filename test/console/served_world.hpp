// SPDX-License-Identifier: Apache-2.0
/// \file \brief A console on loopback over a registry in memory, and a client. Only served_world.cpp knows the server's type,
/// because it takes long to compile.
#ifndef ELASTICJOB_TEST_CONSOLE_SERVED_WORLD_HPP
#define ELASTICJOB_TEST_CONSOLE_SERVED_WORLD_HPP

#include <console/routes.hpp>

#include <elasticjob/console/options.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/registry/memory_registry.hpp>

#include <memory>
#include <string>
#include <vector>

namespace elasticjob::test {

/// A registry named `main` with one job, `settle`, without members.
class served_world {
public:
    explicit served_world(console_options options = {});
    ~served_world();
    served_world(served_world const&) = delete;
    served_world& operator=(served_world const&) = delete;

    /// The reason why a start with these options is refused.
    static error refusal(console_options options);

    /// Changes the job.
    void change();

    /// All routes of such a console.
    std::vector<route> routes() const;

    int port() const;
    std::string url() const;

    MemoryRegistry registry;

private:
    struct server;
    std::unique_ptr<server> server_;
};

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_CONSOLE_SERVED_WORLD_HPP
