// SPDX-License-Identifier: Apache-2.0
/// \file \brief Which watches a session has on the server, and who waits for them.
#ifndef ELASTICJOB_REGISTRY_ZK_WATCH_TABLE_HPP
#define ELASTICJOB_REGISTRY_ZK_WATCH_TABLE_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/event_loop.hpp>
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
class watch_table {
public:
    static constexpr std::size_t bytes_max = 900'000;

    /// Makes room for a watch; false when there is none left. Each success is followed by one `settle`.
    bool reserve(watch_target const& target);

    /// The read has ended, and has set the watch or not. `w` waits for it, unless whoever read is gone.
    void settle(watch_target const& target, bool is_set, node_watch<event_loop>* w);

    /// The event has come, and with it the watch is used up.
    void fire(watch_target const& target);

    /// The session is over, and all its watches.
    void fire_everything();

private:
    struct spot {
        intrusive_list<node_watch<event_loop>> waiting;
        std::size_t asking = 0; ///< reads under way that will set it
        bool is_set = false;
    };
    using spots = std::map<watch_target, spot>;

    static std::size_t bytes_of(watch_target const& target) noexcept { return target.path.size() + 4; }

    static void fire_all(spot& here);

    void drop_if_unused(typename spots::iterator at);

    spots spots_;
    std::size_t bytes_ = 0;
};

} // namespace elasticjob::zk

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/registry/zk/watch_table.ipp>
#endif
#endif // ELASTICJOB_REGISTRY_ZK_WATCH_TABLE_HPP
