// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_REGISTRY_ZK_C_API_IPP
#define ELASTICJOB_IMPL_REGISTRY_ZK_C_API_IPP

#include <elasticjob/registry/zk/c_api.hpp>

namespace elasticjob::zk {

/// The error of servers from 3.7 on that enforce quotas. Older versions of libzookeeper have no name for it.
inline constexpr int quota_exceeded = -125;

ELASTICJOB_DECL error failure(int code, node_path const& path) {
    auto const say = [&](errc why, char const* what) { return error{why, what, path.str()}; };
    switch (code) {
    case ZNONODE:
        return say(errc::no_node, "no such node");
    case ZNODEEXISTS:
        return say(errc::node_exists, "the node exists already");
    case ZBADVERSION:
        return say(errc::version_conflict, "the node has another version");
    case ZNOTEMPTY:
        return say(errc::not_empty, "the node has children");
    case ZNOCHILDRENFOREPHEMERALS:
        return say(errc::no_children_for_ephemerals, "an ephemeral node has no children");
    case ZNOAUTH:
        return say(errc::no_auth, "the node belongs to another user: connect with that user's digest, or have the "
                                  "node's access list changed");
    case quota_exceeded:
        return say(errc::too_large, "the quota of the node, or of one above it, is used up: raise it, or make room");
    case ZAUTHFAILED:
        return say(errc::no_auth, "the server does not accept the digest");
    case ZCONNECTIONLOSS:
    case ZOPERATIONTIMEOUT:
        return say(errc::unknown_outcome, "the connection broke before the reply came: read the present state");
    case ZSESSIONMOVED:
    case ZTHROTTLEDOP:
        return say(errc::not_sent, "the server did not process the request: it may be sent again");
    case ZMARSHALLINGERROR:
        return say(errc::not_sent, "libzookeeper could not take the request");
    case ZSESSIONEXPIRED:
    case ZINVALIDSTATE:
        return say(errc::session_lost, "the session of this request is over");
    case ZCLOSING:
        return say(errc::closed, "the registry is closed");
    case ZBADARGUMENTS:
        return say(errc::invalid_path, "the server does not accept this path for this request");
    default:
        return error{errc::unknown_outcome, std::string{"an unexpected reply: "} + zerror(code), path.str()};
    }
}

ELASTICJOB_DECL bool is_turned_away(int code) {
    if (code == ZOK || code == ZCONNECTIONLOSS || code == ZOPERATIONTIMEOUT) return false;
    return is_connection(failure(code, node_path{}).code);
}

ELASTICJOB_DECL node_stat stat_of(Stat const& s) noexcept {
    return {.created = s.czxid,
            .modified = s.mzxid,
            .version = s.version,
            .children = s.numChildren,
            .owner = s.ephemeralOwner,
            .modified_at_ms = s.mtime,
            .children_changed = s.pzxid};
}

ELASTICJOB_DECL int flags_of(create_mode mode) noexcept {
    return (is_ephemeral(mode) ? ZOO_EPHEMERAL : 0) | (is_sequential(mode) ? ZOO_SEQUENCE : 0);
}

} // namespace elasticjob::zk
#endif // ELASTICJOB_IMPL_REGISTRY_ZK_C_API_IPP
