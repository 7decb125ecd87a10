// SPDX-License-Identifier: Apache-2.0
// The program `elasticjob`, on ZooKeeper. What it does is in program.hpp.
#include <elasticjob/command_line/program.hpp>
#include <elasticjob/command_line/serve_console.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/registry/zk_registry.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace elasticjob;

int main(int argc, char** argv) {
    auto const connect = [](cli::registry_address const& address) -> result<std::unique_ptr<ZkRegistry>> {
        zk_options options;
        options.servers = address.servers;
        options.name_space = address.name_space;
        options.digest = address.digest;
        ELASTICJOB_TRY(auto registry, ZkRegistry::connect(std::move(options)));
        return std::make_unique<ZkRegistry>(std::move(registry));
    };
    cli::terminal terminal;
    cli::program program{connect, terminal, cli::serve_console{}};
    return static_cast<int>(program.run({argv + (argc > 0), argv + argc}));
}
