// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_OPERATIONS_LINE_SERVER_IPP
#define ELASTICJOB_IMPL_OPERATIONS_LINE_SERVER_IPP

#include <elasticjob/operations/line_server.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL result<listening_socket> listen_on(std::string const& address, int port) {
    auto const refuse = [&](std::string const& why) {
        return error{errc::unreachable, "the server cannot listen on the address: " + why,
                     address + ":" + std::to_string(port)};
    };
    auto const refused_by_system = [&] { return refuse(std::generic_category().message(errno)); };
    if (port < 0 || port > 65535) return refuse("a port is 0 to 65535");
    addrinfo wanted{};
    wanted.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (int const no = ::getaddrinfo(address.c_str(), std::to_string(port).c_str(), &wanted, &found); no != 0)
        return refuse(::gai_strerror(no));
    std::unique_ptr<addrinfo, void (*)(addrinfo*)> const target{found, &::freeaddrinfo};

    descriptor s{::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (!s) return refused_by_system();
    int const yes = 1; // the port is free although former connections are still being closed
    ::setsockopt(s.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (::bind(s.get(), found->ai_addr, found->ai_addrlen) != 0) return refused_by_system();
    if (::listen(s.get(), 16) != 0) return refused_by_system();
    sockaddr_in6 bound{}; // large enough for both kinds, which have the port at the same place
    socklen_t size = sizeof bound;
    if (::getsockname(s.get(), reinterpret_cast<sockaddr*>(&bound), &size) != 0) return refused_by_system();
    return listening_socket{std::move(s), ntohs(bound.sin6_port)};
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_OPERATIONS_LINE_SERVER_IPP
