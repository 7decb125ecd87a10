// SPDX-License-Identifier: Apache-2.0
/// \file \brief Makes a read show the session's own writes, even those whose replies were lost.
#ifndef ELASTICJOB_REGISTRY_CATCH_UP_HPP
#define ELASTICJOB_REGISTRY_CATCH_UP_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/path.hpp>
#include <elasticjob/registry/node.hpp>
#include <elasticjob/registry/transaction.hpp>

namespace elasticjob {

/// A write that changes nothing. Commit it before a read that finds out whether an earlier write took effect. The reply
/// to that write may be lost, and the server that answers the read may be behind. Before a server answers a write, even
/// with a refusal, it applies all earlier writes. Any path will do; the node may be absent.
transaction catch_up_write(session_generation g, node_path path);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/registry/catch_up.ipp>
#endif
#endif // ELASTICJOB_REGISTRY_CATCH_UP_HPP
