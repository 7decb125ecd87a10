// SPDX-License-Identifier: Apache-2.0
/// \file \brief What this machine calls itself in a job: an IPv4 address.
#ifndef ELASTICJOB_MEMBERSHIP_SERVER_IP_HPP
#define ELASTICJOB_MEMBERSHIP_SERVER_IP_HPP

#include <elasticjob/core/identity.hpp>
#include <elasticjob/core/random.hpp>
#include <elasticjob/core/result.hpp>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <unistd.h> // getpid

#include <cstdint>
#include <cstdio>
#include <string>

namespace elasticjob {

/// Whether Java members can tell a server by this text: four numbers from 0 to 255. Others are no addresses to them, and
/// changes of such a server would pass unnoticed.
inline bool is_server_ip(std::string const& text) noexcept {
    in_addr address{};
    return inet_pton(AF_INET, text.c_str(), &address) == 1;
}

/// The first address that is neither loopback nor private (10/8, 172.16/12, 192.168/16) in the system's order of
/// interfaces, else the last private one, as the original chooses. Without a network, 127.0.0.1: an instance must be
/// somewhere (D-40). Reads the interfaces each time.
inline std::string find_server_ip() {
    std::string chosen = "127.0.0.1";
    ifaddrs* list = nullptr;
    if (getifaddrs(&list) != 0) return chosen;
    for (auto const* at = list; at != nullptr; at = at->ifa_next) {
        if (at->ifa_addr == nullptr || at->ifa_addr->sa_family != AF_INET) continue;
        auto const& address = reinterpret_cast<sockaddr_in const*>(at->ifa_addr)->sin_addr;
        std::uint32_t const ip = ntohl(address.s_addr);
        bool const is_loopback = ip >> 24U == 127;
        bool const is_private = ip >> 24U == 10 || ip >> 20U == (172U << 4U | 1U) || ip >> 16U == (192U << 8U | 168U);
        char text[INET_ADDRSTRLEN];
        if (is_loopback || inet_ntop(AF_INET, &address, text, sizeof text) == nullptr) continue;
        chosen = text;
        if (!is_private) break;
    }
    freeifaddrs(list);
    return chosen;
}

/// An id for one job on one instance: `<ip>@-@<process id>-<16 hexadecimal digits>`. Precondition: is_server_ip(ip).
template <class Id = instance_id>
Id make_instance_id(std::string const& ip, random_source& random) {
    char token[48];
    std::snprintf(token, sizeof token, "%ld-%016llx", static_cast<long>(getpid()),
                  static_cast<unsigned long long>(random.next()));
    return *Id::parse(ip + std::string{identity_delimiter} + token);
}

} // namespace elasticjob
#endif // ELASTICJOB_MEMBERSHIP_SERVER_IP_HPP
