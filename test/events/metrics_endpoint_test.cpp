// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/events/metrics_endpoint.hpp>

#include <elasticjob/events/metrics_events.hpp>

#include <events/kinds.hpp>
#include <events/openmetrics_parser.hpp>
#include <support/loopback.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

/// A connection that waits at most 20 s for anything.
int connect_patiently(int port) {
    int const s = connect_to(port);
    REQUIRE(s >= 0);
    timeval const patience{20, 0};
    setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    return s;
}

bool say(int s, std::string const& text) {
    return send(s, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

/// Everything received until the server hangs up.
std::string hear(int s) {
    std::string answer;
    char part[4096];
    for (ssize_t n = 0; (n = recv(s, part, sizeof part, 0)) > 0;) answer.append(part, static_cast<std::size_t>(n));
    close(s);
    return answer;
}

/// The answer to these bytes, until the server hangs up.
std::string ask(int port, std::string const& request) {
    int const s = connect_patiently(port);
    REQUIRE(say(s, request));
    return hear(s);
}
std::string get(int port, std::string const& path) {
    return ask(port, "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
}

/// Sends the text again and again, every 5 ms, for at most 20 s. True when the server has hung up.
bool dribble(int s, std::string const& text) {
    for (int n = 0; n < 4'000; ++n) {
        pollfd p{s, POLLRDHUP, 0};
        if (!say(s, text) || poll(&p, 1, 5) > 0) return true;
    }
    return false;
}

/// A page larger than both sides' socket buffers, and quickly made: it contains the name twice, unchanged.
struct large_page {
    static constexpr std::size_t size = 16'000'000;
    void write_to(openmetrics_writer& w) const { w.family(std::string(size / 2, 'x'), "gauge", ""); }
};

struct broken_source {
    void write_to(openmetrics_writer&) const { throw std::runtime_error{"no numbers today"}; }
};

std::string const page_request = "GET /metrics HTTP/1.1\r\n\r\n";

} // namespace

TEST_CASE("events.metrics_endpoint: serves the current numbers, and nothing else") {
    happenings const h;
    MetricsEvents const m;
    auto started = MetricsEndpoint::start(m);
    REQUIRE(started);
    auto const endpoint = *std::move(started);
    m(h.started());
    auto const answer = get(endpoint.port(), "/metrics");
    CHECK(answer.starts_with("HTTP/1.1 200 "));
    CHECK(answer.find("Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n") != answer.npos);
    auto const body = answer.find("\r\n\r\n");
    REQUIRE(body != answer.npos);
    auto const e = exposition::parse(answer.substr(body + 4));
    CHECK(e.at("elasticjob_runs_started_total{job=\"settle\",source=\"schedule\"}") == 1);
    CHECK(get(endpoint.port(), "/").starts_with("HTTP/1.1 404 "));
    CHECK(get(endpoint.port(), "/metrics/../etc").starts_with("HTTP/1.1 404 "));
    CHECK(ask(endpoint.port(), "POST /metrics HTTP/1.1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
              .starts_with("HTTP/1.1 404 "));
}

TEST_CASE("events.metrics_endpoint: listens on this machine only, and only while it lives") {
    int port = 0;
    {
        auto const endpoint = MetricsEndpoint::start(MetricsEvents{});
        REQUIRE(endpoint);
        port = endpoint.value().port();
        CHECK(connect_to(port, "127.0.0.2") == -1); // an own address: a listener on all of them would answer
        auto const second = MetricsEndpoint::start(MetricsEvents{}, {.address = "not an address", .port = 1});
        REQUIRE_FALSE(second);
        CHECK(second.error() == errc::unreachable);
        auto const taken = MetricsEndpoint::start(MetricsEvents{}, {.port = port});
        REQUIRE_FALSE(taken); // two endpoints must not share a port
        CHECK(taken.error() == errc::unreachable);
        CHECK(taken.error().where == "127.0.0.1:" + std::to_string(port));
        for (int const none : {-1, 65'536}) {
            auto const no = MetricsEndpoint::start(MetricsEvents{}, {.port = none});
            REQUIRE_FALSE(no);
            CHECK(no.error() == errc::unreachable);
        }
    }
    CHECK(connect_to(port) == -1);
}

TEST_CASE("events.metrics_endpoint: drops silent clients, which keep no other client waiting for ever") {
    MetricsEvents const m;
    auto const endpoint = MetricsEndpoint::start(m, {.read_timeout = std::chrono::milliseconds{200}});
    REQUIRE(endpoint);
    auto const begin = std::chrono::steady_clock::now();
    int silent[4];
    for (auto& s : silent) s = connect_to(endpoint.value().port()); // more than there are threads
    CHECK(get(endpoint.value().port(), "/metrics").starts_with("HTTP/1.1 200 "));
    for (int const s : silent) {
        char byte = 0;
        timeval const patience{10, 0};
        setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        CHECK(recv(s, &byte, 1, 0) >= 0); // it has hung up, or sent the reason first
        close(s);
    }
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds{8});
}

TEST_CASE("events.metrics_endpoint: sends the whole page, whatever ranges a request asks for") {
    auto const endpoint = MetricsEndpoint::start(MetricsEvents{});
    REQUIRE(endpoint);
    auto const whole = get(endpoint->port(), "/metrics");
    std::string ranges = "bytes=0-";
    SUBCASE("one") {}
    SUBCASE("many") {
        while (ranges.size() < 7'000) ranges += ",0-";
    }
    auto const answer = ask(endpoint->port(), "GET /metrics HTTP/1.1\r\nRange: " + ranges + "\r\n\r\n");
    CHECK(answer.starts_with("HTTP/1.1 200 "));
    CHECK(answer == whole);
}

TEST_CASE("events.metrics_endpoint: answers HEAD with the page's headers") {
    auto const endpoint = MetricsEndpoint::start(MetricsEvents{});
    REQUIRE(endpoint);
    auto const whole = get(endpoint->port(), "/metrics?a=b");
    auto const head = ask(endpoint->port(), "HEAD /metrics HTTP/1.1\r\n\r\n");
    CHECK(head == whole.substr(0, whole.find("\r\n\r\n") + 4));
    CHECK(ask(endpoint->port(), "HEAD / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
    CHECK(ask(endpoint->port(), "GET /metrics HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\nbody") == whole);
    CHECK(ask(endpoint->port(), "SSH-2.0-OpenSSH_9.2\r\n\r\n").starts_with("HTTP/1.1 400 "));
}

TEST_CASE("events.metrics_endpoint: cuts off a client that sends in drips") {
    auto const endpoint = MetricsEndpoint::start(MetricsEvents{}, {.read_timeout = std::chrono::milliseconds{200}});
    REQUIRE(endpoint);
    int const s = connect_patiently(endpoint->port());
    std::string part;
    SUBCASE("header by header") {
        REQUIRE(say(s, "GET /metrics HTTP/1.1\r\n"));
        part = "X: y\r\n";
    }
    SUBCASE("a byte of its first line at a time") { part = "G"; }
    SUBCASE("after its request") {
        REQUIRE(say(s, page_request));
        part = "x";
    }
    CHECK(dribble(s, part));
    close(s);
}

TEST_CASE("events.metrics_endpoint: its destructor waits for no client") {
    using std::chrono::hours;
    bool was_cut = false;
    std::thread client;
    {
        auto const endpoint =
            MetricsEndpoint::start(large_page{}, {.read_timeout = hours{1}, .write_timeout = hours{1}});
        REQUIRE(endpoint);
        int const deaf = connect_patiently(endpoint->port()), slow = connect_patiently(endpoint->port());
        REQUIRE(say(deaf, page_request));
        char byte = 0;
        REQUIRE(recv(deaf, &byte, 1, 0) == 1); // it is being answered
        REQUIRE(say(slow, "GET /metrics HTTP/1.1\r\n"));
        client = std::thread{[&was_cut, slow, deaf] {
            was_cut = dribble(slow, "X: y\r\n");
            close(slow);
            close(deaf);
        }};
    }
    client.join();
    CHECK(was_cut);
}

TEST_CASE("events.metrics_endpoint: refuses endless headers") {
    auto const endpoint = MetricsEndpoint::start(MetricsEvents{});
    REQUIRE(endpoint);
    std::string part;
    SUBCASE("many") { part = "X-Y: z\r\n"; }
    SUBCASE("one") { part = "x"; }
    std::string block;
    while (block.size() < 65'536) block += part;
    int const s = connect_patiently(endpoint->port());
    REQUIRE(say(s, "GET /metrics HTTP/1.1\r\n"));
    bool is_left = false;
    for (int n = 0; n < 4'000 && !is_left; ++n) is_left = !say(s, block); // 260 MB
    CHECK(is_left);
    close(s);
    auto const head = "GET /metrics HTTP/1.1\r\nX: " + std::string(9'000, 'x') + "\r\n\r\n";
    CHECK(ask(endpoint->port(), head).starts_with("HTTP/1.1 431 "));
    auto const larger = MetricsEndpoint::start(MetricsEvents{}, {.head_max = 10'000});
    CHECK(ask(larger->port(), head).starts_with("HTTP/1.1 200 "));
}

TEST_CASE("events.metrics_endpoint: a client that does not read keeps its place only for a while") {
    auto const endpoint =
        MetricsEndpoint::start(large_page{}, {.write_timeout = std::chrono::milliseconds{500}, .connections_max = 1});
    REQUIRE(endpoint);
    int const deaf = connect_patiently(endpoint->port());
    REQUIRE(say(deaf, page_request));
    CHECK(get(endpoint->port(), "/").starts_with("HTTP/1.1 404 ")); // the client that waits for the place gets it
    CHECK(hear(deaf).size() < large_page::size);
}

TEST_CASE("events.metrics_endpoint: answers also if the source throws") {
    auto const endpoint = MetricsEndpoint::start(broken_source{});
    REQUIRE(endpoint);
    for (int n = 0; n < 3; ++n) CHECK(get(endpoint->port(), "/metrics").starts_with("HTTP/1.1 500 "));
}

TEST_CASE("events.metrics_endpoint: a missing thread is an error") {
    pthread_attr_t before, huge;
    pthread_getattr_default_np(&before);
    pthread_getattr_default_np(&huge);
    pthread_attr_setstacksize(&huge, std::size_t{1} << 46); // no process has room for it
    REQUIRE(pthread_setattr_default_np(&huge) == 0);
    auto const endpoint = MetricsEndpoint::start(MetricsEvents{});
    pthread_setattr_default_np(&before);
    REQUIRE_FALSE(endpoint);
    CHECK(endpoint.error() == errc::unreachable);
    CHECK(endpoint.error().what.starts_with("the endpoint cannot start a thread: "));
}

TEST_CASE("events.metrics_endpoint: limits have bounds") {
    using std::chrono::milliseconds;
    auto const wrong_in = [](metrics_endpoint_options o) {
        auto const no = MetricsEndpoint::start(MetricsEvents{}, o);
        return no ? "" : no.error().where;
    };
    CHECK(wrong_in({.read_timeout = milliseconds{0}}) == "read_timeout");
    CHECK(wrong_in({.write_timeout = milliseconds{-1}}) == "write_timeout");
    CHECK(wrong_in({.connections_max = 0}) == "connections_max");
    CHECK(wrong_in({.head_max = 255}) == "head_max");
}
