// SPDX-License-Identifier: Apache-2.0
/// \file \brief The only door to libzookeeper: its header, and its codes in our words.
#ifndef ELASTICJOB_REGISTRY_ZK_C_API_HPP
#define ELASTICJOB_REGISTRY_ZK_C_API_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/error.hpp>
#include <elasticjob/core/path.hpp>
#include <elasticjob/registry/node.hpp>

// ConanCenter's package has the header without a folder. It comes first: who has it beside Debian's has asked for it.
#if __has_include(<zookeeper.h>)
#include <zookeeper.h>
#else
#if !__has_include(<zookeeper/zookeeper.h>)
#error "There is no zookeeper.h: install libzookeeper-mt-dev (Debian), zookeeper (vcpkg), zookeeper-client-c (Conan)"
#error "A program without ZooKeeper links elasticjob::core, and does not define THREADED"
#endif
#include <zookeeper/zookeeper.h> // where it is missing, this ends the list of errors
#endif

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
