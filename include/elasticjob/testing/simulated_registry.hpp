// SPDX-License-Identifier: Apache-2.0
/// \file \brief The registry of one simulated process: a model of `registry` at the end of a wire.
#ifndef ELASTICJOB_TESTING_SIMULATED_REGISTRY_HPP
#define ELASTICJOB_TESTING_SIMULATED_REGISTRY_HPP

#include <elasticjob/registry/registry.hpp>
#include <elasticjob/testing/node_loop.hpp>
#include <elasticjob/testing/simulated_server.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob::testing {

/// Keeps a session as ZooKeeper's client does: hears nothing for two thirds of the time-out, and takes the connection for
/// broken; tries again; and gives the session up when its connection has been down for the whole time-out, by its own
/// clock, if the server does not tell it sooner. Requests are served in their order.
///
/// | what happened                                   | how an operation ends          |
/// |-------------------------------------------------|--------------------------------|
/// | the connection is down when it starts           | not_sent                       |
/// | the connection breaks, or a message is lost     | unknown_outcome                |
/// | its generation is over when it starts           | session_lost                   |
///
/// Threads: the loop's; construction and destruction between two steps of the world too. Destroying it ends the session
/// if the process lives; if it has been killed, the server finds out by itself.
class simulated_registry {
public:
    using loop_type = node_loop;
    using watch_type = node_watch<node_loop>;

    /// Connects. `wait_connected` or `connected_session` tells when it has.
    simulated_registry(node_loop& l, wire& w, std::uint64_t seed)
        : loop_{l}, wire_{w}, random_{seed}, changed_{l}, receive_{*this}, notice_{*this}, retry_{*this}, give_up_{
                                                                                                              *this} {
        session_.timeout = w.server().options().session_timeout;
        wire_.attach({&arrived, &silent, &audible, this});
        try_to_connect();
    }
    simulated_registry(simulated_registry const&) = delete;
    simulated_registry& operator=(simulated_registry const&) = delete;
    ~simulated_registry() {
        for (auto* t : {static_cast<timer*>(&notice_), static_cast<timer*>(&retry_), static_cast<timer*>(&give_up_)})
            loop_.disarm(*t);
        if (!loop_.is_killed()) wire_.close_session();
        wire_.detach(this);
    }
    /// The process has been killed: its end of the wire is closed for it.
    void die() { wire_.detach(this); }

    node_loop& loop() noexcept { return loop_; }
    session_view session() const noexcept { return session_; }
    event_count<node_loop>& session_changed() noexcept { return changed_; }
    registry_limits limits() const noexcept { return wire_.server().options().limits; }

    task<result<node>> get(node_path path, watch_type* w = nullptr) {
        wire_request r{wire_request::kind::get, path, w != nullptr};
        ELASTICJOB_CO_TRY(auto answer, co_await call(std::move(r), session_.generation, w));
        if (!answer.found) co_return error{errc::no_node, "no such node", path.str()};
        co_return *std::move(answer.found);
    }

    task<result<std::optional<node_stat>>> exists(node_path path, watch_type* w = nullptr) {
        wire_request r{wire_request::kind::exists, path, w != nullptr};
        ELASTICJOB_CO_TRY(auto const answer, co_await call(std::move(r), session_.generation, w));
        std::optional<node_stat> stat;
        if (answer.found) stat = answer.found->stat;
        co_return stat;
    }

    task<result<std::vector<std::string>>> children(node_path path, watch_type* w = nullptr) {
        wire_request r{wire_request::kind::children, path, w != nullptr};
        ELASTICJOB_CO_TRY(auto answer, co_await call(std::move(r), session_.generation, w));
        if (!answer.found) co_return error{errc::no_node, "no such node", path.str()};
        co_return std::move(answer.names);
    }

    task<result<node_path>> create(node_path path, std::string data, create_mode mode,
                                   session_generation g = session_generation::current()) {
        operation o{operation::kind::create, std::move(path), std::move(data), mode};
        ELASTICJOB_CO_TRY(auto const answer, co_await write(std::move(o), g));
        co_return node_path::parse(answer.applied.created.front());
    }

    task<result<node_stat>> set(node_path path, std::string data, node_version version = any_version,
                                session_generation g = session_generation::current()) {
        operation o{operation::kind::set, std::move(path), std::move(data), create_mode::persistent, version};
        ELASTICJOB_CO_TRY(auto const answer, co_await write(std::move(o), g));
        co_return *answer.after;
    }

    task<result<void>> remove(node_path path, node_version version = any_version,
                              session_generation g = session_generation::current()) {
        operation o{operation::kind::remove, std::move(path), {}, create_mode::persistent, version};
        ELASTICJOB_CO_CHECK(co_await write(std::move(o), g));
        co_return success();
    }

    task<result<commit_reply>> commit(transaction t) {
        if (!t.has_room(limits()))
            co_return error{errc::too_large, "the transaction is larger than one request may be: split it"};
        auto const g = t.generation() == session_generation::current() ? session_.generation : t.generation();
        bool wrote = false;
        for (auto const& o : t.operations()) wrote |= o.what == operation::kind::set;
        wire_request r{wire_request::kind::write, {}, false, t.operations()};
        ELASTICJOB_CO_TRY(auto const answer, co_await call(std::move(r), g, nullptr));
        co_return commit_reply{answer.applied.refused, wrote && !answer.applied.refused ? answer.applied.at : 0};
    }

    /// The connection breaks, as the client sees it.
    void disconnect() { suspend(); }

private:
    /// A request that has been sent. In the frame of its coroutine: destroying that forgets the reply.
    struct pending {
        pending(simulated_registry& r, std::uint64_t n, wire_request const& what, watch_type* w)
            : self{r}, number{n}, watch{w}, path{what.path.str()}, kind{what.what == wire_request::kind::children
                                                                            ? watch_kind::children
                                                                            : watch_kind::data},
              arms_if_absent{what.what == wire_request::kind::exists}, done{r.loop_} {
            self.pending_.emplace(n, this);
        }
        pending(pending const&) = delete;
        pending& operator=(pending const&) = delete;
        ~pending() { self.pending_.erase(number); }

        void finish(wire_answer a) {
            answer.emplace(std::move(a));
            done.notify();
        }

        simulated_registry& self;
        std::uint64_t number;
        watch_type* watch;
        std::string path;
        watch_kind kind;
        bool arms_if_absent;
        event_count<node_loop> done;
        std::optional<wire_answer> answer;
    };

    task<result<wire_answer>> call(wire_request r, session_generation g, watch_type* w) {
        if (g != session_.generation) co_return error{errc::session_lost, "the session that this belonged to is over"};
        if (session_.state != session_state::connected) co_return error{errc::not_sent, "the connection is down"};
        pending p{*this, ++last_request_, r, w};
        auto const seen = p.done.edition();
        wire_.request(p.number, events_seen_, std::move(r));
        co_await p.done.newer_than(seen);
        if (p.answer->was_lost) co_return error{errc::unknown_outcome, "no reply came"};
        co_return *std::move(p.answer);
    }

    /// One write that is not a transaction: a refusal is its error.
    task<result<wire_answer>> write(operation o, session_generation g) {
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

    // ---- What comes down the wire waits in the process's socket until it takes its turn.

    static void arrived(void* self, wire_message m) { static_cast<simulated_registry*>(self)->enqueue(std::move(m)); }
    static void silent(void* context, mono_time since) {
        auto& self = *static_cast<simulated_registry*>(context);
        self.loop_.disarm(self.notice_);
        if (self.session_.state != session_state::connected) return;
        self.loop_.arm(self.notice_, since + self.session_.timeout * 2 / 3);
    }
    static void audible(void* context) {
        auto& self = *static_cast<simulated_registry*>(context);
        // A process that was paused for longer finds that it has heard nothing for that long.
        if (self.notice_.is_armed() && self.notice_.due > self.loop_.now()) self.loop_.disarm(self.notice_);
    }

    void enqueue(wire_message m) {
        inbox_.push_back(std::move(m));
        if (!receive_.is_linked()) loop_.post(receive_);
    }
    void receive_one() {
        auto m = std::move(inbox_.front());
        inbox_.pop_front();
        if (m.connection == connection_) take(std::move(m));
        if (!inbox_.empty() && !receive_.is_linked()) loop_.post(receive_);
    }

    void take(wire_message m) {
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
            if (m.number <= events_seen_) break; // told again after a reconnect
            events_seen_ = m.number;
            fire({m.path, m.watched});
            break;
        case wire_message::kind::closed:
            suspend();
            break;
        }
    }

    void take_reply(std::uint64_t number, wire_answer a) {
        auto const at = pending_.find(number);
        if (at == pending_.end()) return; // nobody waits for it any more
        pending& p = *at->second;
        if (p.answer) return;
        if (p.watch && !a.was_lost && (a.found || p.arms_if_absent)) {
            p.watch->unlink();
            watches_[{p.path, p.kind}].push_back(*p.watch);
        }
        p.finish(std::move(a));
    }

    void fire(std::pair<std::string, watch_kind> const& what) {
        auto const at = watches_.find(what);
        if (at == watches_.end()) return;
        at->second.for_each([](watch_type& w) { w.fire(); });
        watches_.erase(at);
    }

    // ---- The connection.

    void suspend() {
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

    void try_to_connect() {
        loop_.disarm(retry_);
        loop_.disarm(notice_);
        connection_ = wire_.connect(session_.id, events_seen_);
        loop_.arm(retry_, loop_.now() + session_.timeout / 3);
    }

    void lose_session() {
        loop_.disarm(give_up_);
        session_ = {{session_.generation.value + 1}, 0, session_state::connecting, session_.timeout};
        events_seen_ = 0;
        for (auto& [what, armed] : watches_) armed.for_each([](watch_type& w) { w.fire(); });
        watches_.clear();
        changed_.notify();
    }

    void give_up() {
        lose_session();
        try_to_connect();
    }

    struct receiving : work {
        explicit receiving(simulated_registry& r) noexcept : work{&act_on}, self{r} {}
        static void act_on(work& w, work_action action) {
            if (action == work_action::run) static_cast<receiving&>(w).self.receive_one();
        }
        simulated_registry& self;
    };
    template <void (simulated_registry::*Act)()>
    struct alarm : timer {
        explicit alarm(simulated_registry& r) noexcept : timer{&ring}, self{r} {}
        static void ring(timer& t) { (static_cast<alarm&>(t).self.*Act)(); }
        simulated_registry& self;
    };

    node_loop& loop_;
    wire& wire_;
    random_source random_;
    event_count<node_loop> changed_;
    session_view session_{.generation = {1}};
    std::map<std::pair<std::string, watch_kind>, intrusive_list<watch_type>> watches_;
    std::map<std::uint64_t, pending*> pending_;
    std::deque<wire_message> inbox_;
    std::uint64_t last_request_ = 0;
    std::uint64_t events_seen_ = 0;
    std::uint64_t connection_ = 0;
    receiving receive_;
    alarm<&simulated_registry::suspend> notice_;       ///< nothing has been heard for too long
    alarm<&simulated_registry::try_to_connect> retry_; ///< the last attempt has come to nothing
    alarm<&simulated_registry::give_up> give_up_;
};

static_assert(registry<simulated_registry>);

} // namespace elasticjob::testing
#endif // ELASTICJOB_TESTING_SIMULATED_REGISTRY_HPP
