// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_MEMBERSHIP_SERVER_IP_IPP
#define ELASTICJOB_IMPL_MEMBERSHIP_SERVER_IP_IPP

#include <elasticjob/membership/server_ip.hpp>

namespace elasticjob {

ELASTICJOB_DECL bool is_server_ip(std::string const& text) noexcept {
    in_addr address{};
    return inet_pton(AF_INET, text.c_str(), &address) == 1;
}

ELASTICJOB_DECL std::string find_server_ip() {
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

ELASTICJOB_DECL instance_id make_instance_id(std::string const& ip, long process, random_source& random) {
    char token[48];
    std::snprintf(token, sizeof token, "%ld-%016llx", process, static_cast<unsigned long long>(random.next()));
    return *instance_id::parse(ip + std::string{identity_delimiter} + token);
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_MEMBERSHIP_SERVER_IP_IPP
