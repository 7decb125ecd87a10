// SPDX-License-Identifier: Apache-2.0
// What a run of an item costs when its body is an HTTP request to a server in the same process, which answers at once
// with status 200 and two bytes. Beside it the floor: the same method sent by cpp-httplib alone, with a client, and so
// a connection, for each request, as HttpExecutor has them; the same with a thread for each, which would keep the time;
// and with a client that keeps its connection. With `job`, all that a run takes besides: schedule, registry in memory,
// records, marks.
//
// Columns: wall clock time; CPU time and allocations of the thread that sends, not of the server and the limit.
//
// 2026-11-22, Intel Xeon, 2 shared and very busy cores of 2.6 GHz, g++ 12.2 -O3, us of CPU time, one run:
//
// |                   | GET | POST | allocations | ratio to client_for_each |
// |-------------------|-----|------|-------------|--------------------------|
// | client_kept_alive |  29 |   45 |      23, 36 |                      0.5 |
// | client_for_each   |  80 |   75 |      23, 36 |                        1 |
// | client_and_thread | 134 |  132 |      24, 37 |                      1.7 |
// | http              | 117 |  115 |      62, 71 |                      1.5 |
// | http_job          | 144 |  153 |    271, 280 |                      1.9 |
//
// So the deadline of a request costs HttpExecutor less than a thread would. By the wall clock a request took 0.2 ms
// with the client alone, 0.4 to 0.8 ms with a thread beside it, and 0.3 ms with HttpExecutor.
#include "empty_job.hpp"

#include <elasticjob/execution/http_executor.hpp>

#include <httplib.h>

#include <atomic>
#include <cstdint>
#include <semaphore>
#include <string>
#include <thread>

namespace {

using namespace elasticjob;
using namespace elasticjob::bench;

/// On loopback, from its first use on.
class service {
public:
    static service& get() {
        static service one;
        return one;
    }
    std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/"; }
    int port() const noexcept { return port_; }
    std::uint64_t answered() const noexcept { return answered_; }

private:
    service() {
        auto const answer = [this](httplib::Request const&, httplib::Response& a) {
            ++answered_;
            a.set_content("ok", "text/plain");
        };
        server_.Get("/", answer).Post("/", answer);
        server_.set_tcp_nodelay(true); // or who keeps his connection waits for delayed acknowledgements
        port_ = server_.bind_to_any_port("127.0.0.1");
        thread_ = std::thread{[this] { server_.listen_after_bind(); }};
        while (!server_.is_running()) std::this_thread::yield();
    }
    ~service() {
        server_.stop();
        thread_.join();
    }

    httplib::Server server_;
    std::atomic<std::uint64_t> answered_{0};
    int port_ = 0;
    std::thread thread_;
};

char const* const methods[] = {"GET", "POST"};

http_request request_of(benchmark::State const& state) {
    return http_request::make(service::get().url(), {.method = methods[state.range(0)]}).value();
}

sharding_context context() {
    sharding_context ctx;
    ctx.job_name = "bench";
    ctx.task_id = "bench@-@0@-@READY@-@10.0.0.1@-@7-x";
    ctx.sharding_total_count = 1;
    return ctx;
}

/// `send()` says whether there was an answer.
template <class F>
void repeat(benchmark::State& state, F send) {
    double runs = 0, allocations = 0;
    for (auto _ : state) {
        auto const before = counted_new::calls;
        if (!send()) return state.SkipWithError("no answer");
        allocations += static_cast<double>(counted_new::calls - before);
        ++runs;
    }
    report(state, runs, 0, allocations);
}

bool send(benchmark::State const& state, httplib::Client& client) {
    if (state.range(0) == 0) return client.Get("/").error() == httplib::Error::Success;
    return client.Post("/", script_argument(context()), "application/json").error() == httplib::Error::Success;
}

void client_for_each(benchmark::State& state) {
    repeat(state, [&] {
        httplib::Client client{"127.0.0.1", service::get().port()};
        return send(state, client);
    });
}
/// The cost of a thread that enforces the time limit and requests to stop.
void client_and_thread(benchmark::State& state) {
    repeat(state, [&] {
        std::binary_semaphore over{0};
        std::thread keeper{[&] { over.acquire(); }};
        httplib::Client client{"127.0.0.1", service::get().port()};
        bool const is_sent = send(state, client);
        over.release();
        keeper.join();
        return is_sent;
    });
}
void client_kept_alive(benchmark::State& state) {
    httplib::Client client{"127.0.0.1", service::get().port()};
    client.set_keep_alive(true);
    client.set_tcp_nodelay(true);
    repeat(state, [&] { return send(state, client); });
}
void http(benchmark::State& state) {
    auto request = request_of(state);
    auto const ctx = context();
    HttpExecutor const executor;
    repeat(state, [&] { return executor(request, ctx).has_value(); });
}
void http_job(benchmark::State& state) {
    auto const before = service::get().answered();
    run_empty_job<HttpExecutor>(state, 1, true, request_of(state));
    if (service::get().answered() - before < static_cast<std::uint64_t>(state.iterations()))
        state.SkipWithError("runs without an answer");
}

BENCHMARK(client_kept_alive)->ArgName("post")->Arg(0)->Arg(1)->UseRealTime();
BENCHMARK(client_for_each)->ArgName("post")->Arg(0)->Arg(1)->UseRealTime();
BENCHMARK(client_and_thread)->ArgName("post")->Arg(0)->Arg(1)->UseRealTime();
BENCHMARK(http)->ArgName("post")->Arg(0)->Arg(1)->UseRealTime();
BENCHMARK(http_job)->ArgName("post")->Arg(0)->Arg(1)->UseRealTime();

} // namespace
