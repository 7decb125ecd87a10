// SPDX-License-Identifier: Apache-2.0
/// \file \brief The only door to libzookeeper: its header, and its codes in our words.
#ifndef ELASTICJOB_REGISTRY_ZK_C_API_HPP
#define ELASTICJOB_REGISTRY_ZK_C_API_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/error.hpp>
#include <elasticjob/core/path.hpp>
#include <elasticjob/registry/node.hpp>

#include <zookeeper/zookeeper.h>

#include <string>

namespace elasticjob::zk {

/// What the code of a reply means. A code that is not known may have had an effect.
error failure(int code, node_path const& path);

/// Whether the server has looked at the request and decided against it because of what is there.
constexpr bool is_refusal(int code) noexcept {
    return code == ZNONODE || code == ZNODEEXISTS || code == ZBADVERSION || code == ZNOTEMPTY ||
           code == ZNOCHILDRENFOREPHEMERALS;
}

node_stat stat_of(Stat const& s) noexcept;

/// Never a container or a node with a time to live: inside a transaction they abort libzookeeper.
int flags_of(create_mode mode) noexcept;

} // namespace elasticjob::zk

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/registry/zk/c_api.ipp>
#endif
#endif // ELASTICJOB_REGISTRY_ZK_C_API_HPP
