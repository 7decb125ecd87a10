// SPDX-License-Identifier: Apache-2.0
/// \file \brief The watches of a session on the server, and their waiters.
#ifndef ELASTICJOB_REGISTRY_ZK_WATCH_TABLE_HPP
#define ELASTICJOB_REGISTRY_ZK_WATCH_TABLE_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/event_loop.hpp>
#include <elasticjob/registry/watch.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>

namespace elasticjob::zk {

/// The subject of one watch of libzookeeper.
struct watch_target {
    std::string path; ///< on the server
    watch_kind kind;
    friend auto operator<=>(watch_target const&, watch_target const&) = default;
};

/// There is one watch of libzookeeper for each target, for any number of `node_watch`es. A read requests it
/// (`reserve`), the read's reply says whether it was set (`settle`), and its event fires the waiters (`fire`). When
/// libzookeeper reconnects, it sends all watches in one packet. A server closes the connection if it finds the packet
/// too large, and would do so after every reconnection. So the paths have a budget.
///
/// A watch without waiters and without reads in flight is unwanted. It is removed from the server (`begin_removal`,
/// then `end_removal`), and counts until then. Replies come in the order of the requests, so a read that is sent during
/// a removal sets the watch again. If a removal fails, the watch stays: libzookeeper sets it again when it reconnects,
/// it counts as before, and `look_again` finds it. Threads: the loop's.
class watch_table {
public:
    static constexpr std::size_t bytes_max = 900'000;

    /// Posts `tidy_up` when a watch has become unwanted, and unlinks it when all watches have fired.
    watch_table(event_loop& l, work& tidy_up) noexcept : loop_{l}, tidy_up_{tidy_up} {}
    watch_table(watch_table const&) = delete;
    watch_table& operator=(watch_table const&) = delete;

    /// Reserves room for a watch; returns false if there is none left. Follow each success by one `settle`.
    bool reserve(watch_target const& target);

    /// Keeps room for a watch of that node, which is to be set later; returns false if there is none left. Follow each
    /// success by one `release_room`. It outlasts `fire_everything`.
    bool keep_room(std::string const& path);
    void release_room(std::string const& path) noexcept;

    /// Call it when the read has ended. `is_set`: the read has set the watch. `w` waits for the watch, unless its owner
    /// is gone.
    void settle(watch_target const& target, bool is_set, node_watch<event_loop>* w);

    /// The event has come, and the server has removed the watch.
    void fire(watch_target const& target);

    /// The session is over, and so are all its watches.
    void fire_everything();

    /// An unwanted watch to remove now, or null. Follow each result by one `end_removal`.
    watch_target const* begin_removal();

    /// Call it when the removal has ended. `is_removed`: the server certainly has no such watch any more.
    void end_removal(watch_target const& target, bool is_removed);

    /// There is a new connection: removals that failed on the last one may succeed now.
    void look_again();

    /// The server does not support removals, and has closed the connection. From now on no watch is removed.
    void give_up_removals() noexcept { can_remove_ = false; }

    bool has_unwanted() const noexcept { return can_remove_ && !unwanted_.empty(); }
    std::size_t removals() const noexcept { return removals_; } ///< that are in progress

    /// The bytes that count against `bytes_max`.
    std::size_t bytes() const noexcept { return bytes_ + kept_; }

private:
    struct spot : watch_holder {
        explicit spot(watch_table& t) noexcept : watch_holder{&on_gone}, table{t} {}
        ~spot() {
            waiting.for_each([](node_watch<event_loop>& w) { w.hold(nullptr); });
        }
        static void on_gone(watch_holder& self) noexcept;

        bool is_unwanted() const noexcept { return is_set && !is_leaving && asking == 0 && waiting.empty(); }

        watch_table& table;
        watch_target const* target = nullptr;
        intrusive_list<node_watch<event_loop>> waiting;
        std::uint32_t asking = 0; ///< reads in flight that will set it, or not
        bool is_set = false;      ///< on the server, as far as known
        bool is_leaving = false;  ///< its removal is in progress
        bool is_noted = false;    ///< among `unwanted_`
    };
    using spots = std::map<watch_target, spot>;

    static std::size_t bytes_of(std::string const& path) noexcept { return path.size() + 4; }

    static void fire_all(spot& here);

    void drop_if_unused(typename spots::iterator at);

    void look_at(spot& here) noexcept;

    event_loop& loop_;
    work& tidy_up_;
    std::deque<watch_target> unwanted_; ///< some may be wanted again, gone, or listed twice
    spots spots_;
    std::size_t bytes_ = 0; ///< of the watches
    std::size_t kept_ = 0;  ///< for watches that are to be set later
    std::size_t removals_ = 0;
    bool can_remove_ = true;
};

} // namespace elasticjob::zk

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/registry/zk/watch_table.ipp>
#endif
#endif // ELASTICJOB_REGISTRY_ZK_WATCH_TABLE_HPP
