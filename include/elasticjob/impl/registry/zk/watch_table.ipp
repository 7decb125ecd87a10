// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_REGISTRY_ZK_WATCH_TABLE_IPP
#define ELASTICJOB_IMPL_REGISTRY_ZK_WATCH_TABLE_IPP

#include <elasticjob/registry/zk/watch_table.hpp>

#include <utility>

namespace elasticjob::zk {

ELASTICJOB_DECL bool watch_table::reserve(watch_target const& target) {
    auto const [at, is_new] = spots_.try_emplace(target, *this);
    if (is_new) {
        if (bytes() + bytes_of(target.path) > bytes_max) {
            spots_.erase(at);
            return false;
        }
        bytes_ += bytes_of(target.path);
        at->second.target = &at->first;
    }
    ++at->second.asking;
    return true;
}

ELASTICJOB_DECL bool watch_table::keep_room(std::string const& path) {
    if (bytes() + bytes_of(path) > bytes_max) return false;
    kept_ += bytes_of(path);
    return true;
}

ELASTICJOB_DECL void watch_table::release_room(std::string const& path) noexcept { kept_ -= bytes_of(path); }

ELASTICJOB_DECL void watch_table::settle(watch_target const& target, bool is_set, node_watch<event_loop>* w) {
    auto const at = spots_.find(target);
    if (at == spots_.end()) return; // all watches have fired meanwhile
    spot& here = at->second;
    if (is_set && w) {
        w->unlink();
        here.waiting.push_back(*w);
        w->hold(&here);
    }
    --here.asking;
    here.is_set |= is_set;
    look_at(here);
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
    unwanted_.clear();
    tidy_up_.unlink();
    bytes_ = 0;
    removals_ = 0;
}

ELASTICJOB_DECL watch_target const* watch_table::begin_removal() {
    while (!unwanted_.empty()) {
        auto const at = spots_.find(unwanted_.front());
        unwanted_.pop_front();
        if (at == spots_.end()) continue; // it has fired
        spot& here = at->second;
        here.is_noted = false;
        if (!here.is_unwanted()) continue; // it has been requested again
        here.is_leaving = true;
        ++removals_;
        return &at->first;
    }
    return nullptr;
}

ELASTICJOB_DECL void watch_table::end_removal(watch_target const& target, bool is_removed) {
    auto const at = spots_.find(target);
    if (at == spots_.end()) return; // all watches have fired meanwhile
    spot& here = at->second;
    here.is_leaving = false;
    --removals_;
    if (is_removed) here.is_set = false; // reads that request this watch have been sent since and have no replies yet
    drop_if_unused(at);
}

ELASTICJOB_DECL void watch_table::look_again() {
    for (auto& [target, here] : spots_) look_at(here);
}

ELASTICJOB_DECL void watch_table::fire_all(spot& here) {
    here.waiting.for_each([](node_watch<event_loop>& w) { w.fire(); });
}

ELASTICJOB_DECL void watch_table::drop_if_unused(typename spots::iterator at) {
    spot const& here = at->second;
    if (here.is_set || here.is_leaving || here.asking > 0) return;
    bytes_ -= bytes_of(at->first.path);
    spots_.erase(at);
}

ELASTICJOB_DECL void watch_table::look_at(spot& here) noexcept {
    if (!can_remove_ || !here.is_unwanted() || std::exchange(here.is_noted, true)) return;
    unwanted_.push_back(*here.target);
    if (!tidy_up_.is_linked()) loop_.post(tidy_up_);
}

ELASTICJOB_DECL void watch_table::spot::on_gone(watch_holder& self) noexcept {
    auto& here = static_cast<spot&>(self);
    here.table.look_at(here);
}

} // namespace elasticjob::zk
#endif // ELASTICJOB_IMPL_REGISTRY_ZK_WATCH_TABLE_IPP
