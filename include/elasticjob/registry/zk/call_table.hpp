// SPDX-License-Identifier: Apache-2.0
/// \file \brief All calls of a session that have not ended.
#ifndef ELASTICJOB_REGISTRY_ZK_CALL_TABLE_HPP
#define ELASTICJOB_REGISTRY_ZK_CALL_TABLE_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/core/timer_queue.hpp>
#include <elasticjob/registry/zk/call.hpp>
#include <elasticjob/registry/zk/handle.hpp>

#include <cstddef>
#include <string>
#include <utility>

namespace elasticjob::zk {

/// A call ends for its waiter exactly once: with its reply, or when the connection, the session or the registry ends.
/// It ends for libzookeeper with its reply, or when the handle is closed, which discards replies. The table owns the
/// call until both have ended. No call needs its own deadline: if a connection has been silent for two thirds of the
/// session time-out while a request is outstanding, libzookeeper closes it and ends all of its calls. After the server
/// has turned a request away, the table sends nothing for a moment, because callers repeat such requests at once.
/// Threads: the loop's.
class call_table {
public:
    /// The maximum number of submitted calls; further calls wait in the table, in order. More calls would fill
    /// libzookeeper's wake-up pipe and break the connection.
    static constexpr std::size_t in_flight_max = 2000;

    /// Limits removals, so that a job that leaves with thousands of watches does not delay the requests of other jobs.
    static constexpr std::size_t removals_max = 64;

    call_table(event_loop& l, handle& h, watch_table& w) noexcept;
    call_table(call_table const&) = delete;
    call_table& operator=(call_table const&) = delete;
    ~call_table() { forget_unanswered(); }

    /// Submits the request, at once if there is room. Requests are submitted in the order in which `ask` was called.
    template <class Request>
    reply<Request> ask(node_path path, Request r, node_watch<event_loop>* w = nullptr) {
        auto at = handle_.on_server(path);
        auto c = std::make_unique<call_of<Request>>(*this, std::move(path), std::move(at), std::move(r));
        if constexpr (requires { Request::watches; })
            if (w) c->watches = Request::watches;
        return reply<Request>{loop_, *this, std::move(c), w};
    }

    /// The same for a path that already includes the name space.
    template <class Request>
    reply<Request> ask_on_server(node_path path, Request r) {
        auto at = path.str();
        auto c = std::make_unique<call_of<Request>>(*this, std::move(path), std::move(at), std::move(r));
        return reply<Request>{loop_, *this, std::move(c), nullptr};
    }

    /// Adds a new call with its waiter.
    void start(owned_call c);

    /// The connection broke. libzookeeper ends the submitted calls; this ends the others, which were never sent.
    void fail_queued();

    /// The session is over. Ends all calls; later replies have no waiter any more.
    void fail_all(errc why_queued, errc why_in_flight, char const* what);

    bool is_drained() const noexcept { return in_flight_count_ == 0; }

    /// Notified when no call is in flight any more.
    event_count<event_loop>& drained() noexcept { return drained_; }

    /// The handle is closed: it will send no more replies.
    void forget_unanswered();

    /// Handles a reply.
    void take(call& answered);

    /// Removes unwanted watches from the server, some at a time.
    void remove_unwanted();

    event_loop& loop() const noexcept { return loop_; }

private:
    /// Fires when requests may be sent again after one that was turned away.
    struct respite : timer {
        explicit respite(call_table& t) noexcept : timer{&ring}, self{t} {}
        static void ring(timer& t) { static_cast<respite&>(t).self.submit_queued(); }
        call_table& self;
    };

    void rest_if_turned_away(int code);

    void submit_queued();

    /// Returns false if the front call must wait. Either removals must end before there is room for its watch, or the
    /// connection is down and the loop does not know it yet. In the second case `fail_queued` or `fail_all` ends the
    /// call later. If the call ended now, a caller that waits for a connected session before each attempt would retry
    /// without a pause.
    bool submit_front();

    /// Reserves the room that the call needs.
    bool find_room(call& c);

    /// Ends a call that libzookeeper does not hold.
    void finish(owned_call c, errc why, std::string what);

    void release_watch(call& c, waiter* w);

    static watch_target target_of(call const& c) { return {c.on_server, *c.watches}; }

    event_loop& loop_;
    handle& handle_;
    watch_table& watches_;
    intrusive_list<call> queue_;
    intrusive_list<call> in_flight_;
    std::size_t in_flight_count_ = 0;
    respite respite_{*this};
    event_count<event_loop> drained_;
};

} // namespace elasticjob::zk

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/registry/zk/call.ipp>
#include <elasticjob/impl/registry/zk/call_table.ipp>
#endif
#endif // ELASTICJOB_REGISTRY_ZK_CALL_TABLE_HPP
