// SPDX-License-Identifier: Apache-2.0
/// \file \brief All calls of a session that have not ended.
#ifndef ELASTICJOB_REGISTRY_ZK_CALL_TABLE_HPP
#define ELASTICJOB_REGISTRY_ZK_CALL_TABLE_HPP

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
template <loop Loop>
class call_table {
public:
    /// More would fill libzookeeper's wake-up pipe, and cost the connection. The rest waits here, in order.
    static constexpr std::size_t in_flight_max = 2000;

    call_table(Loop& l, handle<Loop>& h, watch_table<Loop>& w) noexcept
        : loop_{l}, handle_{h}, watches_{w}, drained_{l} {}
    call_table(call_table const&) = delete;
    call_table& operator=(call_table const&) = delete;
    ~call_table() { forget_unanswered(); }

    /// Submits the request at once if there is room, in the order of the calls of `ask`.
    template <class Request>
    reply<Request> ask(node_path path, Request r, node_watch<Loop>* w = nullptr) {
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
    void start(owned_call<Loop> c) {
        if (c->watches && !watches_.reserve(target_of(*c))) {
            c->watches.reset();
            return finish(std::move(c), errc::too_large,
                          "the paths of this session's watches are larger than one packet may be: watch fewer nodes");
        }
        queue_.push_back(*c.release());
        submit_queued();
    }

    /// The connection broke. What has been submitted is ended by libzookeeper; the rest was never sent.
    void fail_queued() {
        while (!queue_.empty()) finish(owned_call<Loop>{&queue_.pop_front()}, errc::not_sent, "the connection is down");
    }

    /// The session is over. Late replies will find nobody.
    void fail_all(errc why_queued, errc why_in_flight, char const* what) {
        while (!queue_.empty()) finish(owned_call<Loop>{&queue_.pop_front()}, why_queued, what);
        in_flight_.for_each([&](call<Loop>& c) {
            if (auto* const w = std::exchange(c.awaited_by, nullptr))
                w->finish(error{why_in_flight, what, c.path.str()});
        });
    }

    bool is_drained() const noexcept { return in_flight_count_ == 0; }

    /// Notified when nothing is in flight any more.
    event_count<Loop>& drained() noexcept { return drained_; }

    /// The handle is closed: what it has not answered, it never will.
    void forget_unanswered() {
        while (!in_flight_.empty()) owned_call<Loop>{&in_flight_.pop_front()};
        in_flight_count_ = 0;
    }

    /// A reply has come.
    void take(call<Loop>& answered) {
        answered.unlink();
        if (--in_flight_count_ == 0) drained_.notify();
        owned_call<Loop> c{&answered};
        auto* const w = std::exchange(c->awaited_by, nullptr);
        release_watch(*c, w);
        if (w) w->finish(std::move(c));
        submit_queued();
    }

    Loop& loop() const noexcept { return loop_; }

private:
    void submit_queued() {
        while (!queue_.empty() && in_flight_count_ < in_flight_max) {
            if (!queue_.front().awaited_by) { // nobody wants it any more, and nothing has happened yet
                owned_call<Loop> c{&queue_.pop_front()};
                release_watch(*c, nullptr);
            } else if (!submit_front()) {
                return;
            }
        }
    }

    /// False if the connection is down and the loop has yet to hear of it. Then `fail_queued` or `fail_all` ends the
    /// call. Not earlier, or somebody who waits for a connected session before he tries again would not wait, for ever.
    bool submit_front() {
        owned_call<Loop> c;
        int code = ZOK;
        {
            reconnect_gate::pass const pass;
            if (!handle_.is_connected()) return false;
            c.reset(&queue_.pop_front());
            in_flight_.push_back(*c); // before the reply can come
            code = c->its_kind.submit(*c, handle_);
        }
        if (code == ZOK) {
            ++in_flight_count_;
            c.release(); // libzookeeper has it now
        } else {
            c->unlink();
            auto why = failure(code, c->path);
            finish(std::move(c), why.code, std::move(why.what));
        }
        return true;
    }

    /// A call that libzookeeper does not have.
    void finish(owned_call<Loop> c, errc why, std::string what) {
        auto* const w = std::exchange(c->awaited_by, nullptr);
        release_watch(*c, w);
        if (w) w->finish(error{why, std::move(what), c->path.str()});
    }

    void release_watch(call<Loop>& c, waiter<Loop>* w) {
        if (c.watches) watches_.settle(target_of(c), c.has_set_watch, w ? w->watch : nullptr);
    }

    static watch_target target_of(call<Loop> const& c) { return {c.on_server, *c.watches}; }

    Loop& loop_;
    handle<Loop>& handle_;
    watch_table<Loop>& watches_;
    intrusive_list<call<Loop>> queue_;
    intrusive_list<call<Loop>> in_flight_;
    std::size_t in_flight_count_ = 0;
    event_count<Loop> drained_;
};

} // namespace elasticjob::zk
#endif // ELASTICJOB_REGISTRY_ZK_CALL_TABLE_HPP
