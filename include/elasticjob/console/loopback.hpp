// SPDX-License-Identifier: Apache-2.0
/// \file \brief Recognizes addresses that only this machine can reach.
#ifndef ELASTICJOB_CONSOLE_LOOPBACK_HPP
#define ELASTICJOB_CONSOLE_LOOPBACK_HPP

#include <elasticjob/core/decl.hpp>

#include <string_view>

namespace elasticjob::detail {

/// Whether an address is a loopback address: 127.0.0.0/8, ::1, or the same as an IPv4-mapped one.
bool is_loopback(std::string_view address);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/loopback.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_LOOPBACK_HPP
