// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_REGISTRY_ZK_WATCH_TABLE_IPP
#define ELASTICJOB_IMPL_REGISTRY_ZK_WATCH_TABLE_IPP

#include <elasticjob/registry/zk/watch_table.hpp>

namespace elasticjob::zk {

ELASTICJOB_DECL bool watch_table::reserve(watch_target const& target) {
    auto const [at, is_new] = spots_.try_emplace(target);
    if (is_new) {
        if (bytes_ + bytes_of(target) > bytes_max) {
            spots_.erase(at);
            return false;
        }
        bytes_ += bytes_of(target);
    }
    ++at->second.asking;
    return true;
}

ELASTICJOB_DECL void watch_table::settle(watch_target const& target, bool is_set, node_watch<event_loop>* w) {
    auto const at = spots_.find(target);
    if (at == spots_.end()) return; // everything has fired meanwhile
    spot& here = at->second;
    --here.asking;
    here.is_set |= is_set;
    if (is_set && w) {
        w->unlink();
        here.waiting.push_back(*w);
    }
    drop_if_unused(at);
}

ELASTICJOB_DECL void watch_table::fire(watch_target const& target) {
    auto const at = spots_.find(target);
    if (at == spots_.end()) return;
    at->second.is_set = false;
    fire_all(at->second);
    drop_if_unused(at);
}

ELASTICJOB_DECL void watch_table::fire_everything() {
    for (auto& [target, here] : spots_) fire_all(here);
    spots_.clear();
    bytes_ = 0;
}

ELASTICJOB_DECL void watch_table::fire_all(spot& here) {
    here.waiting.for_each([](node_watch<event_loop>& w) { w.fire(); });
}

ELASTICJOB_DECL void watch_table::drop_if_unused(typename spots::iterator at) {
    if (at->second.is_set || at->second.asking > 0) return;
    bytes_ -= bytes_of(at->first);
    spots_.erase(at);
}

} // namespace elasticjob::zk
#endif // ELASTICJOB_IMPL_REGISTRY_ZK_WATCH_TABLE_IPP
