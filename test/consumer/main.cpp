// SPDX-License-Identifier: Apache-2.0
// What a user of the library writes first, whatever way the library has come. It must run without a server.
#include <elasticjob/elasticjob.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <semaphore>
#include <string>

#if defined(CONSUMER_WITHOUT_EXCEPTIONS) && defined(__cpp_exceptions)
#error "the flag that turns exceptions off has not arrived here"
#endif
#if defined(CONSUMER_COMPILED) != defined(ELASTICJOB_COMPILED)
#error "this is not the form of the library that was asked for"
#endif
#if !defined(CONSUMER_USES_ZOOKEEPER) && defined(ELASTICJOB_HAS_ZOOKEEPER)
#error "the core has brought ZooKeeper with it"
#endif

using namespace elasticjob;

/// An event sink: lets go of `told` when a run has failed.
struct Failures {
    std::binary_semaphore* told;

    void operator()(events::item_finished const& e) const {
        if (e.failure && *e.failure == errc::job_failed) told->release();
    }
    template <class E>
    void operator()(E const&) const {}
};

using embedded_scheduler = job_scheduler<MemoryRegistry, AverageAllocation, SimpleExecutor, Failures>;

/// A job on the embedded registry runs each of its items, and leaves in order.
bool runs_a_job() {
    MemoryRegistry registry;
    std::atomic<unsigned> items_seen{0};
    std::counting_semaphore<> runs{0};
    std::binary_semaphore failed{0};
    embedded_scheduler scheduler{registry, {}, Failures{&failed}};
    auto job = scheduler.schedule({.name = "consumer",
                                   .cron = "0/1 * * * * ?",
                                   .sharding_total_count = 3,
                                   .sharding_item_parameters = "0=a,1=b,2=c"},
                                  [&](sharding_context const& shard) -> result<void> {
                                      if (shard.parameter == std::string(1, static_cast<char>('a' + shard.item)))
                                          items_seen |= 1U << shard.item;
                                      runs.release();
                                      return success();
                                  });
    if (!job) {
        std::printf("%s\n", to_string(job.error()).c_str());
        return false;
    }
    for (int n = 0; n < 3; ++n)
        if (!runs.try_acquire_for(std::chrono::seconds{20})) return false;
    return job->shutdown().has_value() && items_seen == 7 && !failed.try_acquire();
}

#ifdef CONSUMER_USES_ZOOKEEPER
/// Everything that a job needs of ZooKeeper is compiled and linked; that nobody answers is an error, in time.
bool misses_the_server() {
    auto registry = ZkRegistry::connect(
        {.servers = "127.0.0.1:1", .name_space = "consumer", .connection_timeout = std::chrono::milliseconds{500}});
    if (registry) {
        job_scheduler<ZkRegistry, AverageAllocation, SimpleExecutor> scheduler{*registry};
        auto const job = scheduler.schedule({.name = "consumer", .cron = "0/1 * * * * ?"}, [] {});
        std::printf("somebody answered at port 1, and the job %s\n", job ? "was scheduled" : "was not scheduled");
        return false;
    }
    std::printf("%s\n", to_string(registry.error()).c_str());
    return registry.error() == errc::unreachable;
}
#else
bool misses_the_server() { return true; }
#endif

/// A run whose body returns an error is reported as failed.
bool tells_of_a_failure() {
    std::binary_semaphore told{0};
    MemoryRegistry registry;
    embedded_scheduler scheduler{registry, {}, Failures{&told}};
    auto job = scheduler.schedule({.name = "failing", .cron = "0 0 0 1 1 ?"},
                                  []() -> result<void> { return error{errc::job_failed, "as it should"}; });
    return job && job->trigger() && told.try_acquire_for(std::chrono::seconds{20});
}

/// The package says that it is the version which its headers are.
bool is_version(char const* expected) {
    auto const version = std::to_string(ELASTICJOB_VERSION_MAJOR) + '.' + std::to_string(ELASTICJOB_VERSION_MINOR) + '.' +
                         std::to_string(ELASTICJOB_VERSION_PATCH);
    std::printf("elasticjob %s\n", version.c_str());
    return version == expected;
}

int main(int argc, char** argv) {
    return (argc < 2 || is_version(argv[1])) && runs_a_job() && tells_of_a_failure() && misses_the_server() ? 0 : 1;
}
