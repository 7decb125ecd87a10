// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/execution/http_executor.hpp>

#include <support/loopback.hpp>
#include <support/web_server.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <mutex>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace std::chrono_literals;

namespace {

HttpExecutor const http;

sharding_context context() {
    sharding_context ctx;
    ctx.job_name = "settle";
    ctx.task_id = "t";
    ctx.sharding_total_count = 2;
    ctx.item = 1;
    ctx.parameter = "B";
    ctx.token = 77;
    return ctx;
}

result<void> call(std::string const& url, http_options options = {}, sharding_context const& ctx = context()) {
    auto request = http_request::make(url, std::move(options)).value();
    return http(request, ctx);
}

/// `call`'s failure.
error failure(std::string const& url, http_options options = {}, sharding_context const& ctx = context()) {
    auto const outcome = call(url, std::move(options), ctx);
    REQUIRE_FALSE(outcome);
    return outcome.error();
}

bool holds(std::string const& text, std::string const& part) { return text.find(part) != text.npos; }

/// Remembers the requests, and answers as it is told.
class recorder {
public:
    explicit recorder(int status = 200, std::string text = {}) : status_{status}, text_{std::move(text)} {}

    void answer_with(int status, std::string text = {}, std::string location = {}) {
        std::lock_guard const lock{mutex_};
        status_ = status;
        text_ = std::move(text);
        location_ = std::move(location);
    }
    std::vector<httplib::Request> heard() {
        std::lock_guard const lock{mutex_};
        return heard_;
    }

    auto set_up() {
        return [this](httplib::Server& s) {
            auto const answer = [this](httplib::Request const& r, httplib::Response& a) {
                std::lock_guard const lock{mutex_};
                heard_.push_back(r);
                a.status = r.path == "/end" ? 200 : status_;
                if (!location_.empty()) a.set_header("Location", location_);
                a.set_content(text_, "text/plain");
            };
            s.Get(".*", answer).Post(".*", answer).Put(".*", answer).Delete(".*", answer);
        };
    }

private:
    std::mutex mutex_;
    std::vector<httplib::Request> heard_;
    int status_;
    std::string text_, location_;
};

std::string const json =
    R"({"jobName":"settle","taskId":"t","shardingTotalCount":2,"jobParameter":"","shardingItem":1,"shardingParameter":"B"})";

static_assert(body_for<http_request, HttpExecutor>);
static_assert(body_for<result<http_request> (*)(sharding_context const&), HttpExecutor>);
static_assert(!body_for<void (*)(sharding_context const&), HttpExecutor> && !body_for<int, HttpExecutor>);

} // namespace

TEST_CASE("execution.http_executor: the request tells the service which run it is for") {
    recorder r;
    web_server<> const server{r.set_up()};
    CHECK(call(server.url("/run?a=%20b+c,d;e:f'g"), {.headers = {{"X-Key", "k"}}}));
    auto const all = r.heard();
    REQUIRE(all.size() == 1);
    auto const& heard = all.front();
    CHECK(heard.method == "POST");
    CHECK(heard.target == "/run?a=%20b+c,d;e:f'g");
    CHECK(heard.get_header_value("X-Key") == "k");
    CHECK(heard.get_header_value("Elasticjob-Context") == json);
    CHECK(heard.get_header_value("Elasticjob-Token") == "77");
    CHECK(heard.get_header_value("Content-Type") == "application/json");
    CHECK(heard.get_header_value_count("Content-Type") == 1);
    CHECK(heard.get_header_value("Host") == "127.0.0.1:" + std::to_string(server.port()));
    CHECK(heard.body == json);
}

TEST_CASE("execution.http_executor: a request has a body of its own, or none") {
    recorder r;
    web_server<> const server{r.set_up()};
    CHECK(call(server.url("/"), {.method = "PUT", .headers = {{"content-type", "text/csv"}}, .body = "a,b"}));
    CHECK(call(server.url("/"), {.headers = {{"content-type", "a/b"}}}));
    CHECK(call(server.url("/"), {.body = ""}));
    CHECK(call(server.url("/"), {.method = "GET"}));
    CHECK(call(server.url("/"), {.method = "HEAD"}));
    auto const heard = r.heard();
    REQUIRE(heard.size() == 5);
    CHECK(heard[0].method == "PUT");
    CHECK(heard[0].body == "a,b");
    CHECK(heard[0].get_header_value("Content-Type") == "text/csv");
    CHECK(heard[0].get_header_value("Elasticjob-Context") == json);
    CHECK(heard[1].body == json);
    CHECK(heard[1].get_header_value_count("Content-Type") == 1);
    CHECK(heard[2].body.empty());
    CHECK(heard[3].method == "GET");
    CHECK(heard[3].body.empty());
    CHECK_FALSE(heard[3].has_header("Content-Type"));
    CHECK(heard[4].method == "HEAD");
}

TEST_CASE("execution.http_executor: the status decides, and the answer is reported") {
    recorder r{500, "no\npaper"};
    web_server<> const server{r.set_up()};
    auto failed = failure(server.url("/run?key=secret"));
    CHECK(failed == errc::job_failed);
    CHECK(failed.what == "the server answered with status 500: 'no\\x0apaper'");
    CHECK(failed.where == "127.0.0.1:" + std::to_string(server.port()) + "/run");
    CHECK(call(server.url("/"), {.success = {{200, 299}, {500, 500}}}));
    r.answer_with(200);
    CHECK(failure(server.url("/"), {.success = {{201, 299}}}) == errc::job_failed);
    r.answer_with(204);
    CHECK(call(server.url("/")));
    CHECK(holds(failure(server.url("/"), {.success = {{200, 200}}}).what, "status 204"));
    r.answer_with(404);
    CHECK(holds(failure(server.url("/"), {.method = "HEAD"}).what, "status 404"));
}

TEST_CASE("execution.http_executor: no more of an answer is read than was wanted, and the status counts all the same") {
    std::size_t size = 0;
    bool was_cut = false;
    struct body {
        http_request request;
        std::size_t& size;
        bool& was_cut;
        http_request operator()(sharding_context const&) const { return request; }
        void answered(sharding_context const&, http_answer const& a) const {
            size = a.body.size();
            was_cut = a.is_cut;
        }
    };
    bool is_left = false;
    {
        odd_server const server{[&](peer const& p) {
            p.read_header();
            if (!p.write("HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")) return;
            std::string const part(10'000, 'x');
            for (int n = 0; n < 10'000 && !is_left; ++n) is_left = !p.write(part);
        }};
        body b{http_request::make(server.url(), {.method = "GET", .answer_max = 5'000}).value(), size, was_cut};
        CHECK(http(b, context()));
    }
    CHECK(size == 5'000);
    CHECK(was_cut);
    CHECK(is_left);
    recorder r{200, std::string(5'000, 'x')};
    web_server<> const exact{r.set_up()};
    body b{http_request::make(exact.url("/"), {.answer_max = 5'000}).value(), size, was_cut};
    CHECK(http(b, context()));
    CHECK(size == 5'000);
    CHECK_FALSE(was_cut);
}

TEST_CASE("execution.http_executor: the time-out covers the whole exchange, however slowly the answer comes") {
    // Where nothing keeps the time, each of these goes on for ten seconds and more, and ends well.
    std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n", part = "x";
    int times = 5'000;
    SUBCASE("the body") {}
    SUBCASE("the header") {
        head = "HTTP/1.1 200 OK\r\n";
        part = "A: b\r\n";
        times = 1'000;
    }
    SUBCASE("the first line") {
        head = "HTTP/1.1 200 O";
        part = "K";
    }
    bool was_read_to_the_end = true;
    {
        odd_server const server{[&](peer const& p) {
            p.read_header();
            was_read_to_the_end = p.write(head) && p.dribble(part, times);
            if (was_read_to_the_end) p.write("\r\nContent-Length: 0\r\n\r\n");
        }};
        auto const failed = failure(server.url(), {.method = "GET", .timeout = 100ms});
        CHECK(failed == errc::timed_out);
        CHECK(failed.what == "no complete answer within 100 ms");
    }
    CHECK_FALSE(was_read_to_the_end);
}

TEST_CASE("execution.http_executor: a server that answers nothing, and a server that reads nothing") {
    odd_server const silent{[](peer const& p) { (void)p.is_left(20'000); }};
    CHECK(failure(silent.url(), {.method = "GET", .timeout = 50ms}) == errc::timed_out);
    std::binary_semaphore over{0};
    odd_server const deaf{[&](peer const&) { over.acquire(); }};
    CHECK(failure(deaf.url(), {.body = std::string(30'000'000, 'x'), .timeout = 50ms}) == errc::timed_out);
    over.release();
}

TEST_CASE("execution.http_executor: without a connection nothing was sent") {
    int port = 0;
    {
        auto const [closed, number] = listen_anywhere();
        port = number;
    }
    auto const failed = failure("http://127.0.0.1:" + std::to_string(port) + "/");
    CHECK(failed == errc::unreachable);
    CHECK(holds(failed.what, "5000 ms"));
}

/// Listens and accepts no connection: connections beyond its queue are not answered.
struct full_server {
    full_server() {
        std::tie(listening, port) = listen_anywhere(0);
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(static_cast<std::uint16_t>(port));
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        for (int n = 0; n < 4; ++n) {
            waiting.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
            (void)::connect(waiting.back().get(), reinterpret_cast<sockaddr*>(&to), sizeof to);
        }
    }
    std::string url() const { return "http://127.0.0.1:" + std::to_string(port) + "/"; }
    detail::descriptor listening;
    int port = 0;
    std::vector<detail::descriptor> waiting;
};

TEST_CASE("execution.http_executor: connecting has a time-out of its own") {
    full_server const server;
    CHECK(failure(server.url(), {.connect_timeout = 50ms}) == errc::unreachable);
}

TEST_CASE("execution.http_executor: the time-out is for connecting too") {
    full_server const server;
    CHECK(failure(server.url(), {.connect_timeout = 60s, .timeout = 50ms}) == errc::timed_out);
}

TEST_CASE("execution.http_executor: a run that is asked to stop lets go of the server") {
    detail::stop_order order;
    detail::run_port port{order};
    auto ctx = context();
    ctx.stop = order.token();
    ctx.port = &port;
    stop_reason why{};
    errc code{};
    SUBCASE("by an operator") {
        why = stop_reason::ordered;
        code = errc::job_failed;
    }
    SUBCASE("for its time") {
        why = stop_reason::time_limit;
        code = errc::timed_out;
    }
    bool is_left = false;
    {
        odd_server const server{[&](peer const& p) {
            p.read_header();
            order.give(why);
            is_left = p.is_left(20'000);
        }};
        auto const failed = failure(server.url(), {.method = "GET"}, ctx);
        CHECK(failed == code);
        CHECK(failed.what == "broken off: the run has been asked to stop (" + std::string{name_of(why)} + ")");
    }
    CHECK(is_left);
    recorder r;
    web_server<> const server{r.set_up()};
    auto const failed = failure(server.url("/"), {}, ctx);
    CHECK(holds(failed.what, "not sent"));
    CHECK(r.heard().empty());
}

TEST_CASE("execution.http_executor: a request to stop during connecting takes effect without a wait") {
    full_server const server;
    detail::stop_order order;
    detail::run_port port{order};
    auto ctx = context();
    ctx.stop = order.token();
    ctx.port = &port;
    // The request is made before anybody asks: by then there is a token that nobody has asked.
    std::binary_semaphore begun{0};
    auto const body = [&](sharding_context const&) {
        begun.release();
        return http_request::make(server.url(), {.connect_timeout = 60s, .timeout = 60s}).value();
    };
    std::thread operator_{[&] {
        begun.acquire();
        order.give(stop_reason::ordered);
    }};
    auto const outcome = http(body, ctx);
    operator_.join();
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error() == errc::job_failed);
}

TEST_CASE("execution.http_executor: a lost connection is a failure, whatever has been answered by then") {
    std::string answer;
    SUBCASE("nothing") {}
    SUBCASE("half a header") { answer = "HTTP/1.1 200 OK\r\nContent-Le"; }
    SUBCASE("half a body") { answer = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"; }
    odd_server const server{[&](peer const& p) {
        p.read_header();
        p.write(answer);
    }};
    auto const failed = failure(server.url(), {.method = "GET"});
    CHECK(failed == errc::job_failed);
    CHECK(holds(failed.what, "the connection was lost"));
}

TEST_CASE("execution.http_executor: redirects are followed when asked, and within the server") {
    recorder r;
    web_server<> const server{r.set_up()};
    std::string const story = "a long story about where it has gone";
    http_options const once{.headers = {{"Content-Type", "a/b"}}, .body = "x", .answer_max = 10, .redirects_max = 1};
    auto const last = [&] {
        auto const all = r.heard();
        return all.back().method + " " + all.back().path + " " + all.back().body +
               all.back().get_header_value("Content-Type");
    };
    SUBCASE("not asked") {
        r.answer_with(302, story, "/end");
        CHECK(holds(failure(server.url("/a")).what, "status 302"));
        CHECK(r.heard().size() == 1);
    }
    SUBCASE("as GET") {
        r.answer_with(302, story, "/end");
        CHECK(call(server.url("/a"), once));
        CHECK(last() == "GET /end ");
    }
    SUBCASE("as it was") {
        r.answer_with(307, story, server.url("/end"));
        CHECK(call(server.url("/a"), once));
        CHECK(last() == "POST /end xa/b");
    }
    SUBCASE("not for ever") {
        r.answer_with(308, story, "/a");
        CHECK(holds(failure(server.url("/a"), {.redirects_max = 3}).what, "status 308"));
        CHECK(r.heard().size() == 4);
    }
    SUBCASE("not elsewhere") {
        r.answer_with(302, story, "http://localhost:" + std::to_string(server.port()) + "/end");
        auto const failed = failure(server.url("/a"), once);
        CHECK(failed == errc::invalid_argument);
        CHECK(holds(failed.what, "another server"));
        CHECK(r.heard().size() == 1);
    }
}

TEST_CASE("execution.http_executor: a body may choose the request and interpret the answer") {
    recorder r{200, "{\"done\":false}"};
    web_server<> const server{r.set_up()};
    auto by_item = [&](sharding_context const& c) -> result<http_request> {
        return http_request::make(server.url("/item/" + std::to_string(c.item)));
    };
    CHECK(http(by_item, context()));
    REQUIRE(r.heard().size() == 1);
    CHECK(r.heard()[0].path == "/item/1");

    auto wrong = [](sharding_context const& c) { return http_request::make(c.parameter); };
    auto outcome = http(wrong, context());
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error() == errc::invalid_argument);

    auto throws = [](sharding_context const&) -> http_request { throw std::runtime_error{"no idea"}; };
    outcome = http(throws, context());
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error() == error{errc::job_threw, "no idea"});

    struct judge {
        http_request request;
        http_request operator()(sharding_context const&) const { return request; }
        result<void> answered(sharding_context const& c, http_answer const& a) const {
            if (a.body == "{\"done\":true}") return success();
            return error{errc::job_failed, c.parameter + std::to_string(a.status) + a.body};
        }
    } judge{http_request::make(server.url("/")).value()};
    outcome = http(judge, context());
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().what == "B200{\"done\":false}");
    r.answer_with(200, "{\"done\":true}");
    CHECK(http(judge, context()));
}

#if defined(ELASTICJOB_HTTPS) && defined(CPPHTTPLIB_OPENSSL_SUPPORT)
TEST_CASE("execution.http_executor: https accepts only a server with a trusted certificate") {
    // Made for this test: for 127.0.0.1, valid from 2000 to 2100.
    std::string const certificate = R"(-----BEGIN CERTIFICATE-----
MIIBZzCCAQ6gAwIBAgIBATAKBggqhkjOPQQDAjAaMRgwFgYDVQQDDA9lbGFzdGlj
am9iIHRlc3QwIBcNMDAwMTAxMDAwMDAwWhgPMjEwMDAxMDEwMDAwMDBaMBoxGDAW
BgNVBAMMD2VsYXN0aWNqb2IgdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IA
BKXVqYbMfyv4sIKPhJwh8DvhblTkyxXBYTU2EQ6Ojoj5lpn7FXVKLC5N/cG18FJV
5LJdYnzjnQdIOOPsptEOrxqjQzBBMA8GA1UdEwEB/wQFMAMBAf8wDwYDVR0RBAgw
BocEfwAAATAdBgNVHQ4EFgQUMzdAsCZDmEyk07kYtpBhkX3QqUkwCgYIKoZIzj0E
AwIDRwAwRAIgf5t0PoyYw4sZEU4QGVFqZ8ESFTLNm8JyjxW4qlyo+iICIAr9Hvqh
WFg9GebXAA7WB25+1BMJn4GYs0wMUf+APPb1
-----END CERTIFICATE-----
)";
    std::string const key = R"(-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgJpn/kCpPZ35p75kF
WiBoyKbZplzbsWyhv6wttfSQU3yhRANCAASl1amGzH8r+LCCj4ScIfA74W5U5MsV
wWE1NhEOjo6I+ZaZ+xV1SiwuTf3BtfBSVeSyXWJ8450HSDjj7KbRDq8a
-----END PRIVATE KEY-----
)";
    struct temporary {
        explicit temporary(std::string const& text) {
            REQUIRE((descriptor = detail::descriptor{::mkstemp(name)}));
            std::ofstream{name} << text;
        }
        ~temporary() { ::unlink(name); }
        char name[32] = "/tmp/elasticjob_tls_XXXXXX";
        detail::descriptor descriptor;
    } const certificate_file{certificate}, key_file{key};
    recorder r;
    web_server<httplib::SSLServer> const server{r.set_up(), certificate_file.name, key_file.name};
    auto const port = std::to_string(server.port());
    CHECK(failure("https://127.0.0.1:" + port + "/") == errc::unreachable);
    CHECK(r.heard().empty());
    CHECK(call("https://127.0.0.1:" + port + "/", {.ca_file = certificate_file.name}));
    CHECK(r.heard().size() == 1);
    CHECK(failure("https://localhost:" + port + "/", {.ca_file = certificate_file.name}) == errc::unreachable);
}
#endif

namespace {
int volatile pipe_signals = 0;
}

TEST_CASE("execution.http_executor: a server that hangs up during a request raises no signal") {
    pipe_signals = 0;
    auto const before = std::signal(SIGPIPE, [](int) { pipe_signals = pipe_signals + 1; });
    {
        odd_server const server{[](peer const& p) { p.read_header(); }};
        CHECK(failure(server.url(), {.body = std::string(30'000'000, 'x')}) == errc::job_failed);
    }
    CHECK(pipe_signals == 0);
    std::signal(SIGPIPE, before);
}
