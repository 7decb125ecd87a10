// SPDX-License-Identifier: Apache-2.0
/// \file \brief How to read what this session has written, though its reply was lost.
#ifndef ELASTICJOB_REGISTRY_CATCH_UP_HPP
#define ELASTICJOB_REGISTRY_CATCH_UP_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/path.hpp>
#include <elasticjob/registry/node.hpp>
#include <elasticjob/registry/transaction.hpp>

namespace elasticjob {

/// A write that changes nothing: commit it before a read that decides whether something was written. The reply to a write
/// may be lost, and the follower of the ensemble that is asked next may be behind. Before a follower answers to a write,
/// even with a refusal, it applies everything that came before. The node may be any, and may be absent.
transaction catch_up_write(session_generation g, node_path path);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/registry/catch_up.ipp>
#endif
#endif // ELASTICJOB_REGISTRY_CATCH_UP_HPP
