// SPDX-License-Identifier: Apache-2.0
// The program `elasticjob`, on ZooKeeper. Its code is in program.hpp.
#include <elasticjob/command_line/program.hpp>
#include <elasticjob/command_line/serve_console.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/registry/zk_registry.hpp>
#if defined(ELASTICJOB_PROGRAM_SQLITE)
#include <elasticjob/events/sqlite_database.hpp>
#endif
#if defined(ELASTICJOB_PROGRAM_POSTGRES)
#include <elasticjob/events/postgres_database.hpp>
#endif

#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace elasticjob;

namespace {

/// The databases that this program was built with.
result<std::vector<console_database>> open_databases(cli::console_arguments const& given) {
    auto left = given;
    std::vector<console_database> all;
#if defined(ELASTICJOB_PROGRAM_SQLITE)
    for (auto const& text : std::exchange(left.sqlite, {})) {
        ELASTICJOB_TRY(auto named, cli::detail::parse_sqlite(text));
        all.push_back(open_console_database(std::move(named.first), SqliteDatabase{std::move(named.second)}));
    }
#endif
#if defined(ELASTICJOB_PROGRAM_POSTGRES)
    for (auto const& text : std::exchange(left.postgres, {})) {
        ELASTICJOB_TRY(auto named, cli::detail::parse_postgres(text));
        all.push_back(open_console_database(std::move(named.first), PostgresDatabase{std::move(named.second)}));
    }
#endif
    ELASTICJOB_CHECK(cli::no_databases{}(left));
    return all;
}

} // namespace

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
    cli::program program{connect, terminal, cli::serve_console{&open_databases}};
    return static_cast<int>(program.run({argv + (argc > 0), argv + argc}));
}
