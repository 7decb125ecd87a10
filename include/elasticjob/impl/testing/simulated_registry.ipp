// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_TESTING_SIMULATED_REGISTRY_IPP
#define ELASTICJOB_IMPL_TESTING_SIMULATED_REGISTRY_IPP

#include <elasticjob/testing/simulated_registry.hpp>

namespace elasticjob::testing {

ELASTICJOB_DECL simulated_registry::simulated_registry(node_loop& l, wire& w, std::uint64_t seed,
                                                       library_version const& v)
    : loop_{l},
      wire_{w},
      random_{seed},
      translation_{v},
      changed_{l},
      receive_{*this},
      notice_{*this},
      retry_{*this},
      give_up_{*this} {
    session_.timeout = w.server().options().session_timeout;
    wire_.attach({&arrived, &silent, &audible, this});
    try_to_connect();
}

ELASTICJOB_DECL simulated_registry::~simulated_registry() {
    abandoned_.cancel();
    for (auto* t : {static_cast<timer*>(&notice_), static_cast<timer*>(&retry_), static_cast<timer*>(&give_up_)})
        loop_.disarm(*t);
    if (!loop_.is_killed()) wire_.close_session();
    wire_.detach(this);
}

ELASTICJOB_DECL task<result<node>> simulated_registry::get(node_path path, watch_type* w) {
    wire_request r{wire_request::kind::get, path, w != nullptr};
    ELASTICJOB_CO_TRY(auto answer, co_await call(std::move(r), session_.generation, w));
    if (!answer.found) co_return error{errc::no_node, "no such node", path.str()};
    co_return *std::move(answer.found);
}

ELASTICJOB_DECL task<result<std::optional<node_stat>>> simulated_registry::exists(node_path path, watch_type* w) {
    wire_request r{wire_request::kind::exists, path, w != nullptr};
    ELASTICJOB_CO_TRY(auto const answer, co_await call(std::move(r), session_.generation, w));
    std::optional<node_stat> stat;
    if (answer.found) stat = answer.found->stat;
    co_return stat;
}

ELASTICJOB_DECL task<result<std::vector<std::string>>> simulated_registry::children(node_path path, watch_type* w) {
    wire_request r{wire_request::kind::children, path, w != nullptr};
    ELASTICJOB_CO_TRY(auto answer, co_await call(std::move(r), session_.generation, w));
    if (!answer.found) co_return error{errc::no_node, "no such node", path.str()};
    co_return std::move(answer.names);
}

ELASTICJOB_DECL task<result<node_path>> simulated_registry::create(node_path path, std::string data, create_mode mode,
                                                                   session_generation g) {
    operation o{operation::kind::create, std::move(path), std::move(data), mode};
    ELASTICJOB_CO_TRY(auto const answer, co_await write(std::move(o), g));
    co_return node_path::parse(answer.applied.created.front());
}

ELASTICJOB_DECL task<result<node_stat>> simulated_registry::set(node_path path, std::string data, node_version version,
                                                                session_generation g) {
    operation o{operation::kind::set, std::move(path), std::move(data), create_mode::persistent, version};
    ELASTICJOB_CO_TRY(auto const answer, co_await write(std::move(o), g));
    co_return *answer.after;
}

ELASTICJOB_DECL task<result<void>> simulated_registry::remove(node_path path, node_version version,
                                                              session_generation g) {
    operation o{operation::kind::remove, std::move(path), {}, create_mode::persistent, version};
    ELASTICJOB_CO_CHECK(co_await write(std::move(o), g));
    co_return success();
}

ELASTICJOB_DECL task<result<commit_reply>> simulated_registry::commit(transaction t) {
    if (!t.has_room(limits()))
        co_return error{errc::too_large, "the transaction is larger than one request may be: split it"};
    auto const g = t.generation() == session_generation::current() ? session_.generation : t.generation();
    bool wrote = false;
    for (auto const& o : t.operations()) wrote |= o.what == operation::kind::set;
    wire_request r{wire_request::kind::write, {}, false, t.operations()};
    ELASTICJOB_CO_TRY(auto const answer, co_await call(std::move(r), g, nullptr));
    if (answer.applied.refused && answer.applied.refused->why == errc::no_auth)
        co_return error{errc::no_auth, "the node is read-only",
                        t.operations()[answer.applied.refused->operation].path.str()};
    co_return commit_reply{answer.applied.refused, wrote && !answer.applied.refused ? answer.applied.at : 0};
}

ELASTICJOB_DECL simulated_registry::pending::pending(simulated_registry& r, std::uint64_t n, wire_request const& what,
                                                     watch_type* w)
    : self{r},
      number{n},
      watch{w},
      path{what.path.str()},
      kind{what.what == wire_request::kind::children ? watch_kind::children : watch_kind::data},
      arms_if_absent{what.what == wire_request::kind::exists},
      done{r.loop_} {
    self.pending_.emplace(n, this);
}

ELASTICJOB_DECL void simulated_registry::pending::finish(wire_answer a) {
    answer.emplace(std::move(a));
    done.notify();
}

ELASTICJOB_DECL task<result<wire_answer>> simulated_registry::call(wire_request r, session_generation g,
                                                                   watch_type* w) {
    if (g != session_.generation) co_return error{errc::session_lost, "the session of this request is over"};
    if (session_.state != session_state::connected) co_return error{errc::not_sent, "the connection is down"};
    pending p{*this, ++last_request_, r, w};
    auto const seen = p.done.edition();
    translation_.translate(r.operations);
    wire_.request(p.number, events_seen_, std::move(r));
    co_await p.done.newer_than(seen);
    if (p.answer->was_lost) co_return error{errc::unknown_outcome, "no reply came"};
    co_return *std::move(p.answer);
}

ELASTICJOB_DECL task<result<wire_answer>> simulated_registry::write(operation o, session_generation g) {
    auto const path = o.path;
    if (o.bytes() > limits().request_bytes_max)
        co_return error{errc::too_large, "the data is larger than one request may be", path.str()};
    if (g == session_generation::current()) g = session_.generation;
    wire_request r{wire_request::kind::write};
    r.operations.push_back(std::move(o));
    ELASTICJOB_CO_TRY(auto answer, co_await call(std::move(r), g, nullptr));
    auto const& refused = answer.applied.refused;
    if (refused) co_return error{refused->why, "the registry refused the request", path.str()};
    co_return std::move(answer);
}

ELASTICJOB_DECL void simulated_registry::silent(void* context, mono_time since) {
    auto& self = *static_cast<simulated_registry*>(context);
    self.loop_.disarm(self.notice_);
    if (self.session_.state != session_state::connected) return;
    self.loop_.arm(self.notice_, since + self.session_.timeout * 2 / 3);
}

ELASTICJOB_DECL void simulated_registry::audible(void* context) {
    auto& self = *static_cast<simulated_registry*>(context);
    // A process that was paused for longer finds out only now that it has received no message for that long.
    if (self.notice_.is_armed() && self.notice_.due > self.loop_.now()) self.loop_.disarm(self.notice_);
}

ELASTICJOB_DECL void simulated_registry::enqueue(wire_message m) {
    inbox_.push_back(std::move(m));
    if (!receive_.is_linked()) loop_.post(receive_);
}

ELASTICJOB_DECL void simulated_registry::receive_one() {
    auto m = std::move(inbox_.front());
    inbox_.pop_front();
    if (m.connection == connection_) take(std::move(m));
    if (!inbox_.empty() && !receive_.is_linked()) loop_.post(receive_);
}

ELASTICJOB_DECL void simulated_registry::take(wire_message m) {
    seen_ = std::max(seen_, m.shown);
    switch (m.what) {
    case wire_message::kind::welcome:
        loop_.disarm(retry_);
        loop_.disarm(give_up_);
        session_.id = m.session;
        session_.state = session_state::connected;
        changed_.notify();
        break;
    case wire_message::kind::expired:
        loop_.disarm(retry_);
        lose_session();
        try_to_connect();
        break;
    case wire_message::kind::reply:
        take_reply(m.number, std::move(m.answer));
        break;
    case wire_message::kind::event:
        if (m.number <= events_seen_) break; // repeated after a reconnect
        events_seen_ = m.number;
        fire({m.path, m.watched});
        break;
    case wire_message::kind::closed:
        suspend();
        break;
    }
}

ELASTICJOB_DECL void simulated_registry::take_reply(std::uint64_t number, wire_answer a) {
    auto const at = pending_.find(number);
    if (at == pending_.end()) return; // no caller waits for it any more
    pending& p = *at->second;
    if (p.answer) return;
    translation_.translate(p.path, a);
    if (p.watch && !a.was_lost && (a.found || p.arms_if_absent)) {
        p.watch->unlink();
        watches_[{p.path, p.kind}].push_back(*p.watch);
    }
    p.finish(std::move(a));
}

ELASTICJOB_DECL void simulated_registry::fire(std::pair<std::string, watch_kind> const& what) {
    auto const at = watches_.find(what);
    if (at == watches_.end()) return;
    at->second.for_each([](watch_type& w) { w.fire(); });
    watches_.erase(at);
}

ELASTICJOB_DECL void simulated_registry::suspend() {
    connection_ = 0;
    wire_.break_off();
    loop_.disarm(notice_);
    if (session_.state == session_state::connected) {
        session_.state = session_state::suspended;
        loop_.disarm(give_up_);
        loop_.arm(give_up_, loop_.now() + session_.timeout);
        changed_.notify();
    }
    wire_answer lost;
    lost.was_lost = true;
    for (auto& [number, p] : pending_)
        if (!p->answer) p->finish(lost);
    loop_.disarm(retry_);
    loop_.arm(retry_, loop_.now() + std::chrono::milliseconds{random_.next() % 1000});
}

ELASTICJOB_DECL void simulated_registry::try_to_connect() {
    loop_.disarm(retry_);
    loop_.disarm(notice_);
    connection_ = wire_.connect(session_.id, events_seen_, seen_);
    loop_.arm(retry_, loop_.now() + session_.timeout / 3);
}

ELASTICJOB_DECL void simulated_registry::lose_session() {
    loop_.disarm(give_up_);
    session_ = {{session_.generation.value + 1}, 0, session_state::connecting, session_.timeout};
    events_seen_ = 0;
    seen_ = 0;
    for (auto& [what, armed] : watches_) armed.for_each([](watch_type& w) { w.fire(); });
    watches_.clear();
    changed_.notify();
}

ELASTICJOB_DECL void simulated_registry::give_up() {
    lose_session();
    try_to_connect();
}

ELASTICJOB_DECL void simulated_registry::receiving::act_on(work& w, work_action action) {
    if (action == work_action::run) static_cast<receiving&>(w).self.receive_one();
}

} // namespace elasticjob::testing
#endif // ELASTICJOB_IMPL_TESTING_SIMULATED_REGISTRY_IPP
