// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_REGISTRY_ZK_CALL_TABLE_IPP
#define ELASTICJOB_IMPL_REGISTRY_ZK_CALL_TABLE_IPP

#include <elasticjob/registry/zk/call_table.hpp>
#include <elasticjob/registry/retry_pauses.hpp>
#include <elasticjob/registry/zk/c_api.hpp>
#include <elasticjob/registry/zk/requests.hpp> // remove_watch_request

namespace elasticjob::zk {

ELASTICJOB_DECL call_table::call_table(event_loop& l, handle& h, watch_table& w) noexcept
    : loop_{l},
      handle_{h},
      watches_{w},
      drained_{l} {}

ELASTICJOB_DECL void call_table::start(owned_call c) {
    queue_.push_back(*c.release());
    submit_queued();
}

ELASTICJOB_DECL void call_table::fail_queued() {
    while (!queue_.empty()) finish(owned_call{&queue_.pop_front()}, errc::not_sent, "the connection is down");
}

ELASTICJOB_DECL void call_table::fail_all(errc why_queued, errc why_in_flight, char const* what) {
    while (!queue_.empty()) finish(owned_call{&queue_.pop_front()}, why_queued, what);
    in_flight_.for_each([&](call& c) {
        if (auto* const w = std::exchange(c.awaited_by, nullptr)) w->finish(error{why_in_flight, what, c.path.str()});
    });
}

ELASTICJOB_DECL void call_table::forget_unanswered() {
    loop_.disarm(respite_);
    while (!in_flight_.empty()) owned_call{&in_flight_.pop_front()};
    in_flight_count_ = 0;
}

ELASTICJOB_DECL void call_table::take(call& answered) {
    answered.unlink();
    if (--in_flight_count_ == 0) drained_.notify();
    rest_if_turned_away(answered.code);
    owned_call c{&answered};
    auto* const w = std::exchange(c->awaited_by, nullptr);
    release_watch(*c, w);
    if (w) w->finish(std::move(c));
    submit_queued();
}

ELASTICJOB_DECL void call_table::rest_if_turned_away(int code) {
    if (respite_.is_armed() || !is_turned_away(code)) return;
    loop_.arm(respite_, loop_.now() + detail::retry_pause);
}

ELASTICJOB_DECL void call_table::submit_queued() {
    if (respite_.is_armed()) return;
    while (!queue_.empty() && in_flight_count_ < in_flight_max) {
        if (!queue_.front().awaited_by) { // no caller waits for it, and it has not been sent yet
            owned_call c{&queue_.pop_front()};
            release_watch(*c, nullptr);
        } else if (!submit_front()) {
            break;
        }
    }
    remove_unwanted();
}

ELASTICJOB_DECL bool call_table::find_room(call& c) {
    if (!c.watches || c.has_room) return true;
    c.has_room = watches_.reserve(target_of(c));
    return c.has_room;
}

ELASTICJOB_DECL bool call_table::submit_front() {
    owned_call c;
    if (!find_room(queue_.front())) {
        remove_unwanted();
        if (watches_.removals() > 0 || watches_.has_unwanted()) return false;
        c.reset(&queue_.pop_front());
        finish(std::move(c), errc::too_large,
               "the paths of this session's watches are larger than one packet may be: watch fewer nodes");
        return true;
    }
    int code = ZOK;
    {
        reconnect_gate::pass const pass;
        if (!handle_.is_connected()) return false;
        c.reset(&queue_.pop_front());
        in_flight_.push_back(*c); // before a reply can arrive
        code = c->its_kind.submit(*c, handle_);
    }
    if (code == ZOK) {
        ++in_flight_count_;
        c.release(); // libzookeeper owns it now
    } else {
        c->unlink();
        rest_if_turned_away(code);
        auto why = failure(code, c->path);
        finish(std::move(c), why.code, std::move(why.what));
    }
    return true;
}

ELASTICJOB_DECL void call_table::remove_unwanted() {
    if (respite_.is_armed()) return;
    while (watches_.has_unwanted() && watches_.removals() < removals_max && in_flight_count_ < in_flight_max) {
        reconnect_gate::pass const pass;
        if (!handle_.is_connected()) return; // the next connection tries again
        auto const* const target = watches_.begin_removal();
        if (!target) return;
        auto c = std::make_unique<call_of<remove_watch_request>>(*this, node_path{}, target->path,
                                                                 remove_watch_request{target->kind});
        c->watches = target->kind;
        c->removes_watch = true;
        in_flight_.push_back(*c);
        if (c->request.submit(handle_, *c) == ZOK) {
            ++in_flight_count_;
            (void)c.release(); // libzookeeper owns it now
        } else {
            c->unlink();
            watches_.end_removal(target_of(*c), false);
        }
    }
}

ELASTICJOB_DECL void call_table::finish(owned_call c, errc why, std::string what) {
    auto* const w = std::exchange(c->awaited_by, nullptr);
    release_watch(*c, w);
    if (w) w->finish(error{why, std::move(what), c->path.str()});
}

ELASTICJOB_DECL void call_table::release_watch(call& c, waiter* w) {
    if (c.removes_watch) {
        if (c.code == ZUNIMPLEMENTED) watches_.give_up_removals(); // the server is older than 3.5
        watches_.end_removal(target_of(c), c.code == ZOK || c.code == ZNOWATCHER);
    } else if (c.has_room) {
        watches_.settle(target_of(c), c.has_set_watch, w ? w->watch : nullptr);
    }
}

} // namespace elasticjob::zk
#endif // ELASTICJOB_IMPL_REGISTRY_ZK_CALL_TABLE_IPP
