// SPDX-License-Identifier: Apache-2.0
/// \file \brief The shared part of the in-memory registry: one tree for many sessions, on one loop.
#ifndef ELASTICJOB_REGISTRY_MEMORY_MEMORY_SERVER_HPP
#define ELASTICJOB_REGISTRY_MEMORY_MEMORY_SERVER_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/event_loop.hpp>
#include <elasticjob/registry/memory/node_tree.hpp>
#include <elasticjob/registry/watch.hpp>

#include <cstdint>
#include <map>
#include <utility>

namespace elasticjob {

/// The fate of a request, which a test decides.
enum class request_fate : std::uint8_t {
    served,
    request_lost, ///< no effect; the sender does not know
    reply_lost,   ///< full effect; the sender does not know
};

/// A function with its context, called for each request. So a simulation can lose any request.
struct request_filter {
    request_fate (*decide)(void* context, std::int64_t session, operation::kind const* write) = nullptr;
    void* context = nullptr;
};

/// Counts the requests that would go over a network. A request with a watch counts once, and so does a transaction.
struct request_counts {
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
    std::uint64_t all() const noexcept { return reads + writes; }
};

struct memory_server_options {
    registry_limits limits{.request_bytes_max = 1'048'575, .operations_max = 100'000}; ///< as ZooKeeper's defaults
    std::chrono::milliseconds session_timeout{10'000};
};

/// The watches that one session has armed.
template <loop Loop>
class session_watches : public list_hook {
public:
    void arm(node_watch<Loop>& w, std::string const& path, watch_kind kind);

    void tell(tree_event const& e);

    /// The connection is down: keeps notifications back.
    void hold() noexcept { held_ = true; }
    void release();

    /// The session is over: fires all watches, so that all waiters read again.
    void fire_everything();

    /// The number of armed watches, including those whose notification is kept back.
    std::uint64_t count();

private:
    static void fire_all(intrusive_list<node_watch<Loop>>& watches);

    std::map<std::pair<std::string, watch_kind>, intrusive_list<node_watch<Loop>>> armed_;
    intrusive_list<node_watch<Loop>> told_, on_hold_;
    bool held_ = false;
};

/// Stands for a whole ensemble inside one process. It has no thread, clock or random source of its own: the loop
/// determines time and order, and the owner determines failures. Threads: made on any, used on the loop's; must outlive
/// its sessions.
template <loop Loop>
class basic_memory_server {
public:
    using applied = node_tree::applied;

    explicit basic_memory_server(Loop& l, memory_server_options options = {}) : loop_{l}, options_{options} {}
    basic_memory_server(basic_memory_server const&) = delete;
    basic_memory_server& operator=(basic_memory_server const&) = delete;

    Loop& loop() noexcept { return loop_; }
    memory_server_options const& options() const noexcept { return options_; }
    node_tree const& tree() const noexcept { return tree_; }
    request_counts& counts() noexcept { return counts_; }

    /// The number of armed watches of all sessions.
    std::uint64_t watches();

    void set_filter(request_filter f) noexcept { filter_ = f; }

    // See node_tree: for tests with an access list or a quota.
    void set_read_only(node_path const& above, bool is_read_only) { tree_.set_read_only(above, is_read_only); }
    void set_unreadable(node_path const& top, bool is_unreadable) { tree_.set_unreadable(top, is_unreadable); }

    std::int64_t open_session() noexcept { return ++last_session_; }

    /// Ends a session and removes its ephemeral nodes at once.
    void end_session(std::int64_t session) { publish(tree_.end_session(session, now_ms())); }

    /// Counts a request of a session and returns its fate. `write` is null for a read.
    request_fate fate_of(std::int64_t session, operation::kind const* write);

    applied apply(std::vector<operation> const& operations, std::int64_t session);

    /// Notifies the table of every change, until the table is unlinked.
    void subscribe(session_watches<Loop>& table) { tables_.push_back(table); }

private:
    void publish(std::vector<tree_event> const& events);

    std::int64_t now_ms() const;

    Loop& loop_;
    memory_server_options options_;
    node_tree tree_;
    intrusive_list<session_watches<Loop>> tables_;
    request_filter filter_;
    request_counts counts_;
    std::int64_t last_session_ = 0;
};

using memory_server = basic_memory_server<event_loop>;

template <loop Loop>
void session_watches<Loop>::arm(node_watch<Loop>& w, std::string const& path, watch_kind kind) {
    w.unlink();
    armed_[{path, kind}].push_back(w);
}

template <loop Loop>
void session_watches<Loop>::tell(tree_event const& e) {
    auto const at = armed_.find({e.path, e.kind});
    if (at == armed_.end()) return;
    auto& here = held_ ? on_hold_ : told_;
    here.splice_back(at->second);
    armed_.erase(at);
    fire_all(told_);
}

template <loop Loop>
void session_watches<Loop>::release() {
    held_ = false;
    fire_all(on_hold_);
}

template <loop Loop>
void session_watches<Loop>::fire_everything() {
    for (auto& [what, watches] : armed_) fire_all(watches);
    armed_.clear();
    release();
}

template <loop Loop>
std::uint64_t session_watches<Loop>::count() {
    std::uint64_t n = 0;
    auto const add = [&](node_watch<Loop>&) { ++n; };
    for (auto& [what, watches] : armed_) watches.for_each(add);
    on_hold_.for_each(add);
    return n;
}

template <loop Loop>
void session_watches<Loop>::fire_all(intrusive_list<node_watch<Loop>>& watches) {
    watches.for_each([](node_watch<Loop>& w) { w.fire(); });
}

template <loop Loop>
std::uint64_t basic_memory_server<Loop>::watches() {
    std::uint64_t n = 0;
    tables_.for_each([&](session_watches<Loop>& table) { n += table.count(); });
    return n;
}

template <loop Loop>
request_fate basic_memory_server<Loop>::fate_of(std::int64_t session, operation::kind const* write) {
    ++(write ? counts_.writes : counts_.reads);
    return filter_.decide ? filter_.decide(filter_.context, session, write) : request_fate::served;
}

template <loop Loop>
auto basic_memory_server<Loop>::apply(std::vector<operation> const& operations, std::int64_t session) -> applied {
    auto answer = tree_.apply(operations, session, now_ms());
    publish(answer.events);
    return answer;
}

template <loop Loop>
void basic_memory_server<Loop>::publish(std::vector<tree_event> const& events) {
    tables_.for_each([&](session_watches<Loop>& table) {
        for (auto const& e : events) table.tell(e);
    });
}

template <loop Loop>
std::int64_t basic_memory_server<Loop>::now_ms() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(loop_.wall_now().time_since_epoch()).count();
}

} // namespace elasticjob
#endif // ELASTICJOB_REGISTRY_MEMORY_MEMORY_SERVER_HPP
