// SPDX-License-Identifier: Apache-2.0
/// \file \brief Which watches a session has on the server, and who waits for them.
#ifndef ELASTICJOB_REGISTRY_ZK_WATCH_TABLE_HPP
#define ELASTICJOB_REGISTRY_ZK_WATCH_TABLE_HPP

#include <elasticjob/core/loop.hpp>
#include <elasticjob/registry/watch.hpp>

#include <compare>
#include <cstddef>
#include <map>
#include <string>

namespace elasticjob::zk {

/// What one watch of libzookeeper looks at.
struct watch_target {
    std::string path; ///< on the server
    watch_kind kind;
    friend auto operator<=>(watch_target const&, watch_target const&) = default;
};

/// There is one watch of libzookeeper's for each target, however many `node_watch`es wait for it. A read asks for it
/// (`reserve`), the read's reply tells whether it was set (`settle`), its event fires those who wait (`fire`).
/// libzookeeper sends all watches in one packet when it reconnects, and the server cuts the connection when the packet
/// is too large, for ever. So their paths have a budget.
/// A watch whose waiters are gone stays on the server until it fires, and in the budget. Threads: the loop's.
template <loop Loop>
class watch_table {
public:
    static constexpr std::size_t bytes_max = 900'000;

    /// Makes room for a watch; false when there is none left. Each success is followed by one `settle`.
    bool reserve(watch_target const& target) {
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

    /// The read has ended, and has set the watch or not. `w` waits for it, unless whoever read is gone.
    void settle(watch_target const& target, bool is_set, node_watch<Loop>* w) {
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

    /// The event has come, and with it the watch is used up.
    void fire(watch_target const& target) {
        auto const at = spots_.find(target);
        if (at == spots_.end()) return;
        at->second.is_set = false;
        fire_all(at->second);
        drop_if_unused(at);
    }

    /// The session is over, and all its watches.
    void fire_everything() {
        for (auto& [target, here] : spots_) fire_all(here);
        spots_.clear();
        bytes_ = 0;
    }

private:
    struct spot {
        intrusive_list<node_watch<Loop>> waiting;
        std::size_t asking = 0; ///< reads under way that will set it
        bool is_set = false;
    };
    using spots = std::map<watch_target, spot>;

    static std::size_t bytes_of(watch_target const& target) noexcept { return target.path.size() + 4; }

    static void fire_all(spot& here) {
        here.waiting.for_each([](node_watch<Loop>& w) { w.fire(); });
    }

    void drop_if_unused(typename spots::iterator at) {
        if (at->second.is_set || at->second.asking > 0) return;
        bytes_ -= bytes_of(at->first);
        spots_.erase(at);
    }

    spots spots_;
    std::size_t bytes_ = 0;
};

} // namespace elasticjob::zk
#endif // ELASTICJOB_REGISTRY_ZK_WATCH_TABLE_HPP
