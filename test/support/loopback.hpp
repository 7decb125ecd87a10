// SPDX-License-Identifier: Apache-2.0
/// \file \brief A server on loopback whose connections the test controls.
#ifndef ELASTICJOB_TEST_SUPPORT_LOOPBACK_HPP
#define ELASTICJOB_TEST_SUPPORT_LOOPBACK_HPP

#include <elasticjob/core/descriptor.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace elasticjob::test {

/// A socket with a free port of loopback, and the port, which refuses connections until the socket listens.
inline std::pair<detail::descriptor, int> bind_anywhere() {
    detail::descriptor s{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    REQUIRE(::bind(s.get(), reinterpret_cast<sockaddr*>(&at), size) == 0);
    REQUIRE(::getsockname(s.get(), reinterpret_cast<sockaddr*>(&at), &size) == 0);
    return {std::move(s), ntohs(at.sin_port)};
}

/// A socket that listens on a free port of loopback, and the port.
inline std::pair<detail::descriptor, int> listen_anywhere(int backlog = 8) {
    auto bound = bind_anywhere();
    REQUIRE(::listen(bound.first.get(), backlog) == 0);
    return bound;
}

/// A connection to a port of this machine; -1 if no process listens there.
inline int connect_to(int port, char const* address = "127.0.0.1") {
    int const s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    REQUIRE(::inet_pton(AF_INET, address, &to.sin_addr) == 1);
    if (::connect(s, reinterpret_cast<sockaddr const*>(&to), sizeof to) == 0) return s;
    ::close(s);
    return -1;
}

/// One side of a connection.
class peer {
public:
    explicit peer(int s) : socket_{s} {}

    /// The data sent by the other side, up to the end of the header.
    std::string read_header() const {
        std::string text;
        for (char c = 0; !text.ends_with("\r\n\r\n") && ::recv(socket_.get(), &c, 1, 0) == 1;) text += c;
        return text;
    }
    bool write(std::string_view text) const {
        return ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
    }
    /// Whether the other side has closed the connection, or closes it within that many milliseconds.
    bool is_left(int patience_ms) const {
        pollfd p{.fd = socket_.get(), .events = POLLRDHUP, .revents = 0};
        return ::poll(&p, 1, patience_ms) == 1;
    }
    /// Sends the text byte by byte, every few milliseconds, `times` times. Returns false if the other side has closed
    /// the connection.
    bool dribble(std::string_view text, int times) const {
        for (int i = 0; i < times; ++i)
            for (char const c : text)
                if (!write({&c, 1}) || is_left(2)) return false;
        return true;
    }

private:
    detail::descriptor socket_;
};

/// Handles one connection after another with the same function, on a thread of its own.
class odd_server {
public:
    using manners_type = std::function<void(peer const&)>;
    explicit odd_server(manners_type manners) : manners_{std::move(manners)} {
        std::tie(listening_, port_) = listen_anywhere();
        thread_ = std::thread{[this] {
            for (int s = 0; (s = ::accept(listening_.get(), nullptr, nullptr)) >= 0;) manners_(peer{s});
        }};
    }
    odd_server(odd_server const&) = delete;
    odd_server& operator=(odd_server const&) = delete;
    ~odd_server() {
        ::shutdown(listening_.get(), SHUT_RDWR);
        thread_.join();
    }
    std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/"; }

private:
    manners_type manners_;
    detail::descriptor listening_;
    int port_ = 0;
    std::thread thread_;
};

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SUPPORT_LOOPBACK_HPP
