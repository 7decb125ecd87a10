// SPDX-License-Identifier: Apache-2.0
// What a user of the headers for HTTP writes. The requests of the job go to the metrics endpoint of this process.
#include <elasticjob/elasticjob.hpp>
#include <elasticjob/events/metrics_endpoint.hpp>
#include <elasticjob/events/metrics_events.hpp>
#include <elasticjob/execution/http_executor.hpp>

#include <chrono>
#include <cstdio>
#include <semaphore>
#include <string>

#if defined(CONSUMER_COMPILED) != defined(ELASTICJOB_COMPILED)
#error "this is not the form of the library that was asked for"
#endif
#if defined(CONSUMER_USES_HTTPS) != defined(ELASTICJOB_HTTPS)
#error "https is not as it was asked for"
#endif

using namespace elasticjob;

/// An event sink: notes how a run has ended, and says that it has.
struct Ends {
    std::string* failure;
    std::binary_semaphore* told;

    void operator()(events::item_finished const& e) const {
        *failure = e.failure ? to_string(*e.failure) : "";
        told->release();
    }
    template <class E>
    void operator()(E const&) const {}
};

/// One run of a job that is this request, and how it failed.
std::string failure_of(result<http_request> request) {
    if (!request) return to_string(request.error());
    std::string failure;
    std::binary_semaphore told{0};
    MemoryRegistry registry;
    job_scheduler<MemoryRegistry, AverageAllocation, HttpExecutor, Ends> scheduler{registry, {}, Ends{&failure, &told}};
    auto job = scheduler.schedule({.name = "caller", .cron = "0 0 0 1 1 ?"}, *std::move(request));
    if (!job) return to_string(job.error());
    if (auto const triggered = job->trigger(); !triggered) return to_string(triggered.error());
    return told.try_acquire_for(std::chrono::seconds{20}) ? failure : "no run has ended";
}

int main(int argc, char** argv) {
    auto const version = std::to_string(ELASTICJOB_VERSION_MAJOR) + '.' + std::to_string(ELASTICJOB_VERSION_MINOR) +
                         '.' + std::to_string(ELASTICJOB_VERSION_PATCH);
    auto const endpoint = MetricsEndpoint::start(MetricsEvents{});
    if (!endpoint) return 1;
    auto const local = "://127.0.0.1:" + std::to_string(endpoint->port());

    auto const answered = failure_of(http_request::make("http" + local + "/metrics", {.method = "GET"}));
    std::printf("%s: %s\n", version.c_str(), answered.empty() ? "answered" : answered.c_str());
    // The endpoint does not speak TLS, so such a request is made only where OpenSSL is, and fails.
    auto const secured = failure_of(http_request::make("https" + local + "/metrics", {.method = "GET"}));
    std::printf("%s\n", secured.c_str());
#ifdef CONSUMER_USES_HTTPS
    bool const is_as_asked = secured.find("ELASTICJOB_HTTPS") == std::string::npos && !secured.empty();
#else
    bool const is_as_asked = secured.find("ELASTICJOB_HTTPS") != std::string::npos;
#endif
    return answered.empty() && is_as_asked && (argc < 2 || version == argv[1]) ? 0 : 1;
}
