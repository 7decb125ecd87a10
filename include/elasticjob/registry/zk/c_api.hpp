// SPDX-License-Identifier: Apache-2.0
/// \file \brief The only include of libzookeeper's header, and the meaning of its codes.
#ifndef ELASTICJOB_REGISTRY_ZK_C_API_HPP
#define ELASTICJOB_REGISTRY_ZK_C_API_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/error.hpp>
#include <elasticjob/core/path.hpp>
#include <elasticjob/registry/node.hpp>

// ConanCenter's package has the header without a folder. It comes first: if Debian's package is also installed, the
// user has chosen ConanCenter's.
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

/// Translates the code of a reply. A request with an unknown code may have taken effect.
error failure(int code, node_path const& path);

/// Whether the server, or libzookeeper, turned the request away although the connection is up: it is overloaded, for
/// example. Callers repeat such a request at once, as after a lost connection.
bool is_turned_away(int code);

/// Whether the server has refused the request because of the state of the nodes.
constexpr bool is_refusal(int code) noexcept {
    return code == ZNONODE || code == ZNODEEXISTS || code == ZBADVERSION || code == ZNOTEMPTY ||
           code == ZNOCHILDRENFOREPHEMERALS;
}

node_stat stat_of(Stat const& s) noexcept;

/// Never a container or a TTL node: they make libzookeeper abort inside a transaction.
int flags_of(create_mode mode) noexcept;

} // namespace elasticjob::zk

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/registry/zk/c_api.ipp>
#endif
#endif // ELASTICJOB_REGISTRY_ZK_C_API_HPP
