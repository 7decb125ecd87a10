// SPDX-License-Identifier: Apache-2.0
#include <integration/zk_proxy.hpp>
#include <support/loopback.hpp>

#include <chrono>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

bool is_readable(int socket, int limit_ms) {
    pollfd p{.fd = socket, .events = POLLIN, .revents = 0};
    return ::poll(&p, 1, limit_ms) == 1;
}

} // namespace

TEST_CASE("tcp_proxy: a connection waits for a target that refuses it at first") {
    auto const [target, port] = bind_anywhere();
    tcp_proxy proxy{static_cast<std::uint16_t>(port), std::chrono::seconds{60}};
    peer client{connect_to(proxy.port())};
    REQUIRE(client.write("early\r\n\r\n"));
    CHECK_FALSE(client.is_left(100));

    REQUIRE(::listen(target.get(), 1) == 0);
    REQUIRE(is_readable(target.get(), 20'000));
    peer const server{::accept(target.get(), nullptr, nullptr)};
    CHECK(server.read_header() == "early\r\n\r\n");
}

TEST_CASE("tcp_proxy: a connection whose target refuses it for too long is closed") {
    auto const [target, bound] = bind_anywhere();
    auto const port = static_cast<std::uint16_t>(bound);
    tcp_proxy impatient{port}, patient{port, std::chrono::milliseconds{50}};
    for (auto const* proxy : {&impatient, &patient}) CHECK(peer{connect_to(proxy->port())}.is_left(20'000));
}
