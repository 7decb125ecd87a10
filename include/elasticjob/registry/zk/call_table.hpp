// SPDX-License-Identifier: Apache-2.0
/// \file \brief All calls of a session that have not ended.
#ifndef ELASTICJOB_REGISTRY_ZK_CALL_TABLE_HPP
#define ELASTICJOB_REGISTRY_ZK_CALL_TABLE_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/registry/zk/call.hpp>
#include <elasticjob/registry/zk/handle.hpp>

#include <cstddef>
#include <string>
#include <utility>

namespace elasticjob::zk {

/// A call ends for its waiter exactly once: by its reply, or when the connection, the session or the registry ends. It
/// ends for libzookeeper by the reply or by the closing of the handle, which forgets replies. The table owns it for as
/// long as either needs it.
/// No call needs a deadline of its own: libzookeeper gives a connection up that has been silent for two thirds of the
/// session time-out while something is outstanding, and then ends all of its calls.
/// Threads: the loop's.
class call_table {
public:
    /// More would fill libzookeeper's wake-up pipe, and cost the connection. The rest waits here, in order.
    static constexpr std::size_t in_flight_max = 2000;

    /// So that a job that leaves with thousands of watches does not hold up the others' requests.
    static constexpr std::size_t removals_max = 64;

    call_table(event_loop& l, handle& h, watch_table& w) noexcept;
    call_table(call_table const&) = delete;
    call_table& operator=(call_table const&) = delete;
    ~call_table() { forget_unanswered(); }

    /// Submits the request at once if there is room, in the order of the calls of `ask`.
    template <class Request>
    reply<Request> ask(node_path path, Request r, node_watch<event_loop>* w = nullptr) {
        auto at = handle_.on_server(path);
        auto c = std::make_unique<call_of<Request>>(*this, std::move(path), std::move(at), std::move(r));
        if constexpr (requires { Request::watches; })
            if (w) c->watches = Request::watches;
        return reply<Request>{loop_, *this, std::move(c), w};
    }

    /// The same with a path that has the name space before it already.
    template <class Request>
    reply<Request> ask_on_server(node_path path, Request r) {
        auto at = path.str();
        auto c = std::make_unique<call_of<Request>>(*this, std::move(path), std::move(at), std::move(r));
        return reply<Request>{loop_, *this, std::move(c), nullptr};
    }

    /// A new call, whose waiter is set.
    void start(owned_call c);

    /// The connection broke. What has been submitted is ended by libzookeeper; the rest was never sent.
    void fail_queued();

    /// The session is over. Late replies will find nobody.
    void fail_all(errc why_queued, errc why_in_flight, char const* what);

    bool is_drained() const noexcept { return in_flight_count_ == 0; }

    /// Notified when nothing is in flight any more.
    event_count<event_loop>& drained() noexcept { return drained_; }

    /// The handle is closed: what it has not answered, it never will.
    void forget_unanswered();

    /// A reply has come.
    void take(call& answered);

    /// Removes watches that nobody wants from the server, some at a time.
    void remove_unwanted();

    event_loop& loop() const noexcept { return loop_; }

private:
    void submit_queued();

    /// False if there will be room for its watch when removals have ended, or if the connection is down and the loop has
    /// yet to hear of it. Then `fail_queued` or `fail_all` ends the call. Not earlier, or somebody who waits for a
    /// connected session before he tries again would not wait, for ever.
    bool submit_front();

    /// Reserves what the call needs.
    bool find_room(call& c);

    /// A call that libzookeeper does not have.
    void finish(owned_call c, errc why, std::string what);

    void release_watch(call& c, waiter* w);

    static watch_target target_of(call const& c) { return {c.on_server, *c.watches}; }

    event_loop& loop_;
    handle& handle_;
    watch_table& watches_;
    intrusive_list<call> queue_;
    intrusive_list<call> in_flight_;
    std::size_t in_flight_count_ = 0;
    event_count<event_loop> drained_;
};

} // namespace elasticjob::zk

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/registry/zk/call.ipp>
#include <elasticjob/impl/registry/zk/call_table.ipp>
#endif
#endif // ELASTICJOB_REGISTRY_ZK_CALL_TABLE_HPP
