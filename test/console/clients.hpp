// SPDX-License-Identifier: Apache-2.0
/// \file \brief Clients of a console on loopback that send what the test tells them.
#ifndef ELASTICJOB_TEST_CONSOLE_CLIENTS_HPP
#define ELASTICJOB_TEST_CONSOLE_CLIENTS_HPP

#include <console/served_world.hpp>

#include <elasticjob/core/descriptor.hpp>

#include <support/private_file.hpp>

#include <doctest/doctest.h>

#include <httplib.h>

#include <string>
#include <string_view>
#include <utility>

#include <arpa/inet.h>
#include <crypt.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace elasticjob::test {

/// A connection without TLS.
class plain_client {
public:
    /// `buffer`: the size of the receive buffer; 0: the system's default.
    explicit plain_client(int port, int buffer = 0) : socket_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
        if (buffer > 0) REQUIRE(::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer) == 0);
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_port = htons(static_cast<std::uint16_t>(port));
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        REQUIRE(::connect(socket_.get(), reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
        timeval const patience{20, 0};
        REQUIRE(::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0);
    }

    int socket() const noexcept { return socket_.get(); }
    void say(std::string_view text) { (void)::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL); }

    /// Everything up to and including `end`, or up to the end of the connection.
    std::string hear(std::string_view end) {
        char c = 0;
        while (heard_.find(end) == heard_.npos && ::recv(socket_.get(), &c, 1, 0) == 1) heard_ += c;
        return std::exchange(heard_, {});
    }
    std::string ask(std::string const& text) {
        say(text);
        return hear("\r\n");
    }

private:
    detail::descriptor socket_;
    std::string heard_;
};

inline httplib::Client client_of(served_world const& w) { return httplib::Client{"127.0.0.1", w.port()}; }

inline std::string const local_host = "Host: 127.0.0.1\r\n";
inline std::string const stream_request = "GET /api/v1/registries/main/stream HTTP/1.1\r\n" + local_host + "\r\n";

/// ann's password is `secret`.
struct password_file : private_file {
    password_file() : private_file{"# operators\nann:" + std::string{::crypt("secret", "$6$salt$")} + "\n"} {}
};

/// ann may give commands there.
inline console_options with_passwords(password_file const& file) {
    console_options o;
    o.authentication = console_authentication::password;
    o.password_file = file.path;
    o.grants = {{"ann", "*", console_role::operator_}};
    return o;
}

/// Without attributes such as the lifetime.
inline std::string cookie_of(httplib::Result const& answer, std::size_t number = 0) {
    auto const text = answer->get_header_value("Set-Cookie", number);
    return text.substr(0, text.find(';'));
}

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_CONSOLE_CLIENTS_HPP
