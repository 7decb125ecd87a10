// SPDX-License-Identifier: Apache-2.0
// How do I let a service do the work, instead of a function of this process?
//
// With HttpExecutor: each run of an item is an HTTP request, and the response's status tells whether the run succeeded.
// The service here stands for yours. It runs in the same process, so the example needs no set-up.
#include <elasticjob/elasticjob.hpp>
#include <elasticjob/execution/http_executor.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <semaphore>
#include <string>
#include <thread>

using namespace elasticjob;
namespace http = boost::beast::http;
using boost::asio::ip::tcp;
using namespace std::chrono_literals;

// Settles a region. The library may consider a run dead whose request is still on its way. Such a run has a smaller
// token than the run that replaced it, so the service refuses it.
class service {
public:
    std::string url() const {
        return "http://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port()) + "/settle/";
    }
    ~service() {
        ::shutdown(acceptor_.native_handle(), SHUT_RDWR);
        thread_.join();
    }

private:
    void serve() {
        for (boost::system::error_code failed;;) {
            tcp::socket client{context_};
            acceptor_.accept(client, failed);
            if (failed) return;
            boost::beast::flat_buffer buffer;
            http::request<http::string_body> request;
            http::read(client, buffer, request, failed);
            if (!failed) http::write(client, settle(request), failed);
        }
    }

    http::response<http::string_body> settle(http::request<http::string_body> const& request) {
        std::string const path{request.target()};
        auto const region = path.substr(path.rfind('/') + 1);
        auto const token = std::stoll(std::string{request["Elasticjob-Token"]});
        http::response<http::string_body> response{http::status::ok, 11, region + " as told by " + request.body()};
        auto& last = last_token_[region];
        if (token < last) response.result(http::status::conflict);
        if (region == "Guangzhou") response.result(http::status::service_unavailable); // no paper today
        last = std::max<std::int64_t>(last, token);
        response.prepare_payload();
        return response;
    }

    boost::asio::io_context context_;
    tcp::acceptor acceptor_{context_, {boost::asio::ip::address_v4::loopback(), 0}};
    std::map<std::string, std::int64_t> last_token_;
    std::thread thread_{[this] { serve(); }}; // last, because it uses all members above
};

// The request for each item, and the result of a good response. `http_request::make("http://…")` alone would do too.
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
    void operator()(E const&) const {} // not used here

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
