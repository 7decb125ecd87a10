// SPDX-License-Identifier: Apache-2.0
/// \file \brief The host name of this machine.
#ifndef ELASTICJOB_CORE_HOST_NAME_HPP
#define ELASTICJOB_CORE_HOST_NAME_HPP

#include <elasticjob/core/decl.hpp>

#include <string>
#include <string_view>

namespace elasticjob {

/// Whether the text can be a host name: 1 to 255 visible ASCII characters.
bool is_host_name(std::string_view text) noexcept;

/// The host name that this process sees; in a container, usually the container's. Empty if the system has none.
std::string find_host_name();

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/core/host_name.ipp>
#endif
#endif // ELASTICJOB_CORE_HOST_NAME_HPP
