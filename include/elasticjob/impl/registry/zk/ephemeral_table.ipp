// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_REGISTRY_ZK_EPHEMERAL_TABLE_IPP
#define ELASTICJOB_IMPL_REGISTRY_ZK_EPHEMERAL_TABLE_IPP

#include <elasticjob/registry/zk/ephemeral_table.hpp>

#include <functional> // hash
#include <string>
#include <utility>

namespace elasticjob::zk {

ELASTICJOB_DECL void ephemeral_table::add(change& c, node_path const& path, create_mode mode) const {
    if (mode != create_mode::ephemeral) return;
    constexpr std::size_t length_bytes = 4;
    auto const hash = std::hash<std::string_view>{}(path.str());
    c.paths.push_back({hash, prefix_ + path.str().size() + length_bytes, false});
    if (!held_.contains(hash)) c.added += c.paths.back().bytes;
}

ELASTICJOB_DECL void ephemeral_table::remove(change& c, node_path const& path) const {
    c.paths.push_back({std::hash<std::string_view>{}(path.str()), 0, true});
}

ELASTICJOB_DECL auto ephemeral_table::admit(change c) -> result<change> {
    if (c.added > 0 && bytes() + c.added > bytes_max)
        return error{errc::too_large, "the paths of this session's ephemeral nodes have " + std::to_string(bytes()) +
                                          " bytes, and ZooKeeper could not end a session with more than " +
                                          std::to_string(bytes_max) + ": use another ZkRegistry for further jobs"};
    asked_bytes_ += c.added;
    return c;
}

ELASTICJOB_DECL auto ephemeral_table::reserve(std::vector<operation> const& operations) -> result<change> {
    change c{.session = session_};
    for (auto const& o : operations) {
        if (o.what == operation::kind::create) add(c, o.path, o.mode);
        if (o.what == operation::kind::remove) remove(c, o.path);
    }
    return admit(std::move(c));
}

ELASTICJOB_DECL auto ephemeral_table::reserve_create(node_path const& path, create_mode mode) -> result<change> {
    change c{.session = session_};
    add(c, path, mode);
    return admit(std::move(c));
}

ELASTICJOB_DECL auto ephemeral_table::reserve_remove(node_path const& path) const -> change {
    change c{.session = session_};
    remove(c, path);
    return c;
}

ELASTICJOB_DECL void ephemeral_table::settle(change const& c, bool has_happened, bool may_have_happened) {
    if (c.session != session_) return;
    asked_bytes_ -= c.added;
    for (auto const& p : c.paths) {
        if (p.is_removed && has_happened) {
            auto const at = held_.find(p.hash);
            if (at == held_.end()) continue;
            held_bytes_ -= at->second;
            held_.erase(at);
        } else if (!p.is_removed && (has_happened || may_have_happened)) {
            if (held_.try_emplace(p.hash, p.bytes).second) held_bytes_ += p.bytes;
        }
    }
}

ELASTICJOB_DECL void ephemeral_table::clear() noexcept {
    held_.clear();
    held_bytes_ = asked_bytes_ = 0;
    ++session_;
}

} // namespace elasticjob::zk
#endif // ELASTICJOB_IMPL_REGISTRY_ZK_EPHEMERAL_TABLE_IPP
