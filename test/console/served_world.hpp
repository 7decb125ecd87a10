// SPDX-License-Identifier: Apache-2.0
/// \file \brief A console on loopback over a registry in memory.
#ifndef ELASTICJOB_TEST_CONSOLE_SERVED_WORLD_HPP
#define ELASTICJOB_TEST_CONSOLE_SERVED_WORLD_HPP

#include <console/routes.hpp>

#include <elasticjob/console/console_server.hpp>
#include <elasticjob/console/options.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/registry/memory_registry.hpp>

#include <optional>
#include <string>
#include <vector>

namespace elasticjob::test {

/// A registry named `main` with one job, `settle`, without members.
class served_world {
public:
    explicit served_world(console_options options = {});
    served_world(served_world const&) = delete;
    served_world& operator=(served_world const&) = delete;

    /// The reason why a start with these options is refused.
    static error refusal(console_options options);

    /// Changes the job.
    void change();

    /// All routes of such a console.
    std::vector<route> routes() const;

    int port() const { return server_->port(); }
    std::string url() const { return server_->url(); }

    MemoryRegistry registry;

private:
    std::optional<console_server> server_{};
};

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_CONSOLE_SERVED_WORLD_HPP
