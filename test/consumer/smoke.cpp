// SPDX-License-Identifier: Apache-2.0
// The short form of main.cpp, for where only the way is another: the headers are found, and what they need is linked.
#include <elasticjob/elasticjob.hpp>

#include <cstdio>
#include <string>

#if !defined(CONSUMER_USES_ZOOKEEPER) && defined(ELASTICJOB_HAS_ZOOKEEPER)
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
#ifdef CONSUMER_USES_ZOOKEEPER
    if (ZkRegistry::connect({.servers = "not an address"})) return 1;
#endif
    return argc < 2 || version == argv[1] ? 0 : 1;
}
