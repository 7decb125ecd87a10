// SPDX-License-Identifier: Apache-2.0
#include <integration/zk_proxy.hpp>
#include <support/loopback.hpp>

#include <chrono>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

int connect_to(std::uint16_t port) {
    int const s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(s, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
    return s;
}

/// A port of loopback that refuses connections until `listen()`.
struct refusing_port {
    refusing_port() {
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof at;
        REQUIRE(::bind(socket.get(), reinterpret_cast<sockaddr*>(&at), size) == 0);
        REQUIRE(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&at), &size) == 0);
        number = ntohs(at.sin_port);
    }
    detail::descriptor socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    std::uint16_t number = 0;
};

bool is_readable(int socket, int limit_ms) {
    pollfd p{.fd = socket, .events = POLLIN, .revents = 0};
    return ::poll(&p, 1, limit_ms) == 1;
}

} // namespace

TEST_CASE("tcp_proxy: a connection waits for a target that refuses it at first") {
    refusing_port target;
    tcp_proxy proxy{target.number, std::chrono::seconds{60}};
    peer client{connect_to(proxy.port())};
    REQUIRE(client.write("early\r\n\r\n"));
    CHECK_FALSE(client.is_left(100));

    REQUIRE(::listen(target.socket.get(), 1) == 0);
    REQUIRE(is_readable(target.socket.get(), 20'000));
    peer const server{::accept(target.socket.get(), nullptr, nullptr)};
    CHECK(server.read_header() == "early\r\n\r\n");
}

TEST_CASE("tcp_proxy: a connection whose target refuses it for too long is closed") {
    refusing_port target;
    tcp_proxy impatient{target.number}, patient{target.number, std::chrono::milliseconds{50}};
    for (auto const* proxy : {&impatient, &patient}) CHECK(peer{connect_to(proxy->port())}.is_left(20'000));
}
