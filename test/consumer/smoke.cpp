// SPDX-License-Identifier: Apache-2.0
// The short form of main.cpp, for tests of other ways to install: one header for each dependency is found, compiles and
// links.
#include <elasticjob/config/json_codec.hpp> // Boost and RapidJSON
#include <elasticjob/core/version.hpp>
#include <elasticjob/core/worker_pool.hpp> // threads

#ifdef CONSUMER_USES_ZOOKEEPER
#include <elasticjob/registry/zk/c_api.hpp>
#endif

#include <cstdio>
#include <string>

#if !defined(CONSUMER_USES_ZOOKEEPER) && defined(THREADED)
#error "the core has brought ZooKeeper with it"
#endif
#if defined(EXPECT_STAND_IN_ZOOKEEPER) && !defined(STAND_IN_ZOOKEEPER)
#error "this is not the header of the package that CMake found"
#endif

using namespace elasticjob;

int main(int argc, char** argv) {
    auto const version = std::to_string(ELASTICJOB_VERSION_MAJOR) + '.' + std::to_string(ELASTICJOB_VERSION_MINOR) + '.' +
                         std::to_string(ELASTICJOB_VERSION_PATCH);
    std::printf("elasticjob %s\n", version.c_str());
    ThreadPool pool{{.threads = 1}};
    job_config config;
    config.name = "smoke";
    config.cron = "0 * * * * ?";
    config.sharding_total_count = 1;
    auto const read = from_json(to_json(config));
    if (!read || !*read || (*read)->name != config.name) return 1;
#ifdef CONSUMER_USES_ZOOKEEPER
    if (zoo_state(nullptr) != 0) return 1;
#endif
    return argc < 2 || version == argv[1] ? 0 : 1;
}
