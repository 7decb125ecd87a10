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
///
/// When the last waiter of a watch goes and no read asks for it, the watch is unwanted: it is to be removed from the
/// server (`begin_removal`, then `end_removal`), and counts until then. Replies come in the order of the requests, so a
/// read that is sent during a removal sets the watch anew. A removal that fails leaves the watch as it was: libzookeeper
/// sets it again when it reconnects, it counts as before, and `look_again` finds it. Threads: the loop's.
class watch_table {
public:
    static constexpr std::size_t bytes_max = 900'000;

    /// Posts `tidy_up` when a watch has become unwanted, and takes it back when everything has fired.
    watch_table(event_loop& l, work& tidy_up) noexcept : loop_{l}, tidy_up_{tidy_up} {}
    watch_table(watch_table const&) = delete;
    watch_table& operator=(watch_table const&) = delete;

    /// Makes room for a watch; false when there is none left. Each success is followed by one `settle`.
    bool reserve(watch_target const& target);

    /// The read has ended, and has set the watch or not. `w` waits for it, unless whoever read is gone.
    void settle(watch_target const& target, bool is_set, node_watch<event_loop>* w);

    /// The event has come, and with it the watch is used up.
    void fire(watch_target const& target);

    /// The session is over, and all its watches.
    void fire_everything();

    /// An unwanted watch, which is to be removed now, or null. Each is followed by one `end_removal`.
    watch_target const* begin_removal();

    /// The removal has ended. Afterwards the server has no such watch, or that is not known.
    void end_removal(watch_target const& target, bool is_removed);

    /// A new connection: removals that have failed on the last one may succeed.
    void look_again();

    /// The server knows no removals. It has cut the connection too, so nothing is removed any more.
    void give_up_removals() noexcept { can_remove_ = false; }

    bool has_unwanted() const noexcept { return can_remove_ && !unwanted_.empty(); }
    std::size_t removals() const noexcept { return removals_; } ///< that have begun and not ended

    /// What counts against `bytes_max`.
    std::size_t bytes() const noexcept { return bytes_; }

private:
    struct spot : list_hook, watch_holder {
        explicit spot(watch_table& t) noexcept : watch_holder{&on_gone}, table{t} {}
        ~spot() {
            waiting.for_each([](node_watch<event_loop>& w) { w.hold(nullptr); });
        }
        static void on_gone(watch_holder& self) noexcept;

        bool is_unwanted() const noexcept { return is_set && !is_leaving && asking == 0 && waiting.empty(); }

        watch_table& table;
        watch_target const* target = nullptr;
        intrusive_list<node_watch<event_loop>> waiting;
        std::size_t asking = 0;  ///< reads under way that will set it
        bool is_set = false;     ///< on the server, as far as we know
        bool is_leaving = false; ///< its removal is under way
    };
    using spots = std::map<watch_target, spot>;

    static std::size_t bytes_of(watch_target const& target) noexcept { return target.path.size() + 4; }

    static void fire_all(spot& here);

    void drop_if_unused(typename spots::iterator at);

    void look_at(spot& here) noexcept;

    event_loop& loop_;
    work& tidy_up_;
    intrusive_list<spot> unwanted_; ///< or wanted again since
    spots spots_;
    std::size_t bytes_ = 0;
    std::size_t removals_ = 0;
    bool can_remove_ = true;
};

} // namespace elasticjob::zk

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/registry/zk/watch_table.ipp>
#endif
#endif // ELASTICJOB_REGISTRY_ZK_WATCH_TABLE_HPP
