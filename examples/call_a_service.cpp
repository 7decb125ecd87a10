// SPDX-License-Identifier: Apache-2.0
// How do I have a service do the work, and not a function of this process?
//
// With HttpExecutor: each run of an item is an HTTP request, and its status says whether the run has succeeded. The service here
// stands in for yours; it lives in the same process so that the example needs nothing.
#include <elasticjob/elasticjob.hpp>
#include <elasticjob/execution/http_executor.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <semaphore>
#include <string>
#include <thread>

using namespace elasticjob;
using namespace std::chrono_literals;

// Settles a region. A run that was taken for dead and is still on its way has a smaller token than the one that has taken its
// place: it is refused.
class service {
public:
    service() : port_{server_.bind_to_any_port("127.0.0.1")} {
        server_.Post("/settle/(\\w+)", [this](httplib::Request const& request, httplib::Response& response) {
            std::string const region = request.matches[1];
            auto const token = std::stoll(request.get_header_value("Elasticjob-Token"));
            std::lock_guard const lock{mutex_};
            if (token < last_token_[region]) return void(response.status = 409);
            last_token_[region] = token;
            if (region == "Guangzhou") response.status = 503; // no paper today
            response.set_content(region + " as told by " + request.body, "text/plain");
        });
        thread_ = std::thread{[this] { server_.listen_after_bind(); }};
        while (!server_.is_running()) std::this_thread::yield();
    }
    ~service() {
        server_.stop();
        thread_.join();
    }
    std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/settle/"; }

private:
    httplib::Server server_;
    int port_;
    std::mutex mutex_;
    std::map<std::string, std::int64_t> last_token_;
    std::thread thread_;
};

// What to send for which item, and what to make of a good answer. `http_request::make("http://…")` alone would do as well.
struct settle_region {
    std::string url;
    result<http_request> operator()(sharding_context const& shard) const {
        return http_request::make(url + shard.parameter, {.connect_timeout = 1s, .timeout = 10s});
    }
    void answered(sharding_context const&, http_answer const& answer) const {
        std::printf("%s\n", answer.body.c_str());
    }
};

struct count_runs {
    std::counting_semaphore<>& runs;

    template <class E>
    void operator()(E const&) const {} // of no interest here

    void operator()(events::item_finished const& e) const {
        std::printf("item %u: %s\n", e.item, e.failure ? to_string(*e.failure).c_str() : "done");
        runs.release();
    }
};

int main() {
    service const here;
    MemoryRegistry registry;
    std::counting_semaphore<> runs{0};
    job_scheduler<MemoryRegistry, AverageAllocation, HttpExecutor, count_runs> scheduler{
        registry, {}, count_runs{runs}};
    auto job = scheduler.schedule({.name = "settle",
                                   .cron = "0/1 * * * * ?",
                                   .sharding_total_count = 3,
                                   .sharding_item_parameters = "0=Beijing,1=Shanghai,2=Guangzhou"},
                                  settle_region{here.url()});
    if (!job) {
        std::fprintf(stderr, "%s\n", to_string(job.error()).c_str());
        return 1;
    }
    for (int n = 0; n < 6; ++n)
        if (!runs.try_acquire_for(10s)) return 1;
}
