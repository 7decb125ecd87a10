// SPDX-License-Identifier: Apache-2.0
/// \file \brief Keeps the descriptors of the standard streams from being given to other files.
#ifndef ELASTICJOB_CORE_STANDARD_STREAMS_HPP
#define ELASTICJOB_CORE_STANDARD_STREAMS_HPP

#include <elasticjob/core/decl.hpp>

namespace elasticjob::detail {

/// Opens /dev/null for each standard stream that is closed. Otherwise the next socket or pipe would take its number,
/// and whatever the process writes to standard error would go there. Without effect if the system has no descriptor
/// left. Costs three system calls. Threads: any, but no other thread should open files meanwhile.
void occupy_standard_streams() noexcept;

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/core/standard_streams.ipp>
#endif
#endif // ELASTICJOB_CORE_STANDARD_STREAMS_HPP
