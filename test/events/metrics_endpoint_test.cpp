// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/events/metrics_endpoint.hpp>

#include <elasticjob/events/metrics_events.hpp>

#include <events/kinds.hpp>
#include <events/openmetrics_parser.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <string>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

/// A connection to a port of this machine; -1 if nobody listens there.
int connect_to(int port, char const* address = "127.0.0.1") {
    int const s = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    inet_pton(AF_INET, address, &to.sin_addr);
    if (connect(s, reinterpret_cast<sockaddr const*>(&to), sizeof to) == 0) return s;
    close(s);
    return -1;
}

/// What is answered to these bytes, until the server hangs up.
std::string ask(int port, std::string const& request) {
    int const s = connect_to(port);
    REQUIRE(s >= 0);
    REQUIRE(send(s, request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size()));
    std::string answer;
    char part[4096];
    for (ssize_t n = 0; (n = recv(s, part, sizeof part, 0)) > 0;) answer.append(part, static_cast<std::size_t>(n));
    close(s);
    return answer;
}
std::string get(int port, std::string const& path) {
    return ask(port, "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
}

} // namespace

TEST_CASE("events.metrics_endpoint: serves the numbers as they are, and nothing else") {
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

TEST_CASE("events.metrics_endpoint: on this machine only, and no longer than it lives") {
    int port = 0;
    {
        auto const endpoint = MetricsEndpoint::start(MetricsEvents{});
        REQUIRE(endpoint);
        port = endpoint.value().port();
        CHECK(connect_to(port, "127.0.0.2") == -1); // another address of this machine: what listens on all would answer
        auto const second = MetricsEndpoint::start(MetricsEvents{}, {.address = "not an address", .port = 1});
        REQUIRE_FALSE(second);
        CHECK(second.error() == errc::unreachable);
    }
    CHECK(connect_to(port) == -1);
}

TEST_CASE("events.metrics_endpoint: clients that say nothing are let go of, and keep nobody waiting for ever") {
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
        CHECK(recv(s, &byte, 1, 0) >= 0); // it has hung up, or said why first
        close(s);
    }
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds{8}); // 5 s each is httplib's own choice
}
