// SPDX-License-Identifier: Apache-2.0
/// \file \brief The name of this machine in a job: an IPv4 address.
#ifndef ELASTICJOB_MEMBERSHIP_SERVER_IP_HPP
#define ELASTICJOB_MEMBERSHIP_SERVER_IP_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/identity.hpp>
#include <elasticjob/core/random.hpp>
#include <elasticjob/core/result.hpp>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <cstdint>
#include <cstdio>
#include <string>

namespace elasticjob {

/// Whether Java members recognize this text as a server: four numbers from 0 to 255, with points between them. They
/// ignore changes of a server with any other name.
bool is_server_ip(std::string const& text) noexcept;

/// The first address in the system's order of interfaces that is neither loopback nor private (10/8, 172.16/12,
/// 192.168/16). If there is none, the last private address, as the original does. Without a network, 127.0.0.1, because
/// an instance needs an address (D-40). Reads the interfaces each time.
std::string find_server_ip();

/// An id for one job on one instance: `<ip>@-@<process>-<16 hexadecimal digits>`. Precondition: is_server_ip(ip).
instance_id make_instance_id(std::string const& ip, long process, random_source& random);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/membership/server_ip.ipp>
#endif
#endif // ELASTICJOB_MEMBERSHIP_SERVER_IP_HPP
