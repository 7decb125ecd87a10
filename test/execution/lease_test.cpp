// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/execution/lease.hpp>

#include <elasticjob/core/block_on.hpp>
#include <elasticjob/core/event_loop.hpp>
#include <elasticjob/core/virtual_loop.hpp>
#include <elasticjob/registry/memory_registry.hpp>

#include <support/full_run.hpp>

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

using namespace elasticjob;
using namespace std::chrono_literals;

namespace {

using memory = basic_memory_registry<virtual_loop>;

struct guard_calls {
    std::vector<mono_time> deadlines;
    int disarmed = 0;
};

/// Takes notes.
struct NotingGuard {
    guard_calls* notes;
    void until(mono_time d) const { notes->deadlines.push_back(d); }
    void disarm() const { ++notes->disarmed; }
};

struct without_until : NotingGuard {
    void until(mono_time) const = delete;
};
struct without_disarm : NotingGuard {
    void disarm() const = delete;
};
struct until_may_fail {
    result<void> until(mono_time) const { return success(); }
    void disarm() const {}
};
static_assert(lease_guard<NotingGuard>);
static_assert(!lease_guard<without_until>);
static_assert(!lease_guard<without_disarm>);
static_assert(!lease_guard<until_may_fail>);

/// A session of ten seconds: a heartbeat each second, a proof after 2.6.
struct house {
    virtual_loop loop;
    basic_memory_server<virtual_loop> server{loop, {.session_timeout = 10s}};
    memory registry{server};
    guard_calls guard;
    using lease_type = session_lease<memory, NotingGuard>;
    lease_type lease{registry, NotingGuard{&guard}};
    node_path me = node_path::parse("/me").value();
    node_path us = node_path::parse("/us").value();
    mono_time begin = loop.now();
    request_fate fate = request_fate::served;

    house() {
        enter(me);
        enter(us);
        server.set_filter(
            {[](void* self, std::int64_t, operation::kind const*) { return static_cast<house*>(self)->fate; }, this});
        server.counts() = {};
        lapses_before = lease.lapsed().edition();
    }
    void enter(node_path const& p) { REQUIRE(block_on(loop, registry.create(p, {}, create_mode::ephemeral))); }
    void leave(node_path const& p) { REQUIRE(block_on(loop, registry.remove(p))); }

    auto keep() { return lease.keep(registry.session().generation, me, lease.now()); }
    auto lapses() { return lease.lapsed().edition() - lapses_before; }
    std::uint64_t lapses_before = 0;
};

} // namespace

TEST_CASE("execution.lease: nothing is sent without a holder, and heartbeats with a holder are a tenth of the time-out "
          "apart") {
    house h;
    h.loop.run_for(1h);
    CHECK(h.server.counts().all() == 0);
    CHECK(!h.lease.is_valid());
    {
        auto const hold = h.keep();
        h.loop.run_for(1s - 1ns);
        CHECK(h.server.counts().all() == 0);
        h.loop.run_for(1ns);
        CHECK(h.server.counts().all() == 1);
        h.loop.run_for(1s);
        CHECK(h.server.counts().all() == 2);
        h.loop.run_for(600ms); // the two that make the first proof
        CHECK(h.server.counts().all() == 4);
        h.loop.run_for(100s);
        CHECK(h.server.counts().all() == 104);
        CHECK(h.server.counts().reads == 0);
        CHECK(h.lease.heartbeats() == 104);
        auto const another = h.keep();
        h.loop.run_for(100s);
        CHECK(h.server.counts().all() == 204);
    }
    h.loop.run_for(1h);
    CHECK(h.server.counts().all() == 204);
    CHECK(h.lapses() == 0);
    CHECK(!h.loop.step());
}

TEST_CASE("execution.lease: runs that are shorter than a period cost nothing, and others' starts serve as heartbeats") {
    house h;
    for (int n = 0; n < 100; ++n) {
        auto const hold = h.keep();
        CHECK(hold.is_valid());
        h.loop.run_for(900ms);
    }
    CHECK(h.lease.heartbeats() == 0);
    auto const all_along = h.keep();
    for (int n = 0; n < 1000; ++n) {
        auto const hold = h.keep();
        h.loop.run_for(50ms);
        CHECK(h.lease.is_proven());
    }
    CHECK(h.lease.heartbeats() == 0);
    CHECK(h.lapses() == 0);
}

TEST_CASE("execution.lease: the deadline") {
    house h;
    CHECK(h.lease.deadline() == mono_time::min());
    auto const start = h.loop.now();
    h.loop.run_for(100ms); // the start of the run took a while
    auto const hold = h.lease.keep(h.registry.session().generation, h.me, start);
    CHECK(h.lease.deadline() == start + 3750ms);
    CHECK(h.lease.is_valid());
    CHECK(!h.lease.is_proven());
    h.loop.run_until(start + 2699ms);
    CHECK(h.lease.deadline() == start + 3750ms);
    h.loop.run_until(start + 2700ms); // 2600 after the answer to the start
    CHECK(h.lease.deadline() == start + 9s);
    CHECK(h.lease.is_proven());
    // With regular heartbeats: six tenths behind the last but one.
    h.loop.run_until(start + 15'700ms);
    CHECK(h.lease.deadline() == start + 14'700ms + 6s);
    h.loop.run_until(start + 16'699ms);
    CHECK(h.lease.deadline() == start + 14'700ms + 6s);
    h.loop.run_until(start + 16'700ms);
    CHECK(h.lease.deadline() == start + 15'700ms + 6s);
}

TEST_CASE("execution.lease: a proven lease stays proven for the next run") {
    house h;
    {
        auto const hold = h.keep();
        h.loop.run_for(20s);
    }
    auto const deadline = h.lease.deadline();
    auto const sent = h.lease.heartbeats();
    h.loop.run_for(2s);
    CHECK(h.lease.is_proven());
    CHECK(h.lease.deadline() == deadline);
    auto const hold = h.keep();
    CHECK(h.lease.is_proven());
    CHECK(h.lease.deadline() == h.loop.now() + 3750ms);
    CHECK(h.lease.heartbeats() == sent);
    for (int n = 0; n < 100; ++n) {
        h.loop.run_for(100ms);
        CHECK(h.lease.is_valid());
    }
    CHECK(h.lapses() == 0);
}

TEST_CASE("execution.lease: a start that took too long begins nothing, and heartbeats repair that") {
    house h;
    h.loop.run_for(10s);
    auto const hold = h.lease.keep(h.registry.session().generation, h.me, h.loop.now() - 3750ms);
    CHECK(!hold.is_valid());
    CHECK(!h.lease.is_valid());
    h.loop.run_for(2600ms);
    CHECK(h.lease.is_proven());
    CHECK(!hold.is_valid());
    CHECK(h.keep().is_valid());
    CHECK(h.lapses() == 0);
}

TEST_CASE("execution.lease: lost replies and lost requests end it at its deadline, once") {
    for (auto const fate : {request_fate::reply_lost, request_fate::request_lost}) {
        house h;
        auto const hold = h.keep();
        h.loop.run_for(20s);
        auto const deadline = h.lease.deadline();
        auto const sent = h.lease.heartbeats();
        h.fate = fate;
        h.loop.run_until(deadline - 1ns);
        CHECK(hold.is_valid());
        CHECK(h.lease.is_proven());
        CHECK(h.lapses() == 0);
        h.loop.run_until(deadline);
        CHECK(!hold.is_valid());
        CHECK(!h.lease.is_valid());
        CHECK(h.lapses() == 1);
        h.loop.run_for(1h);
        CHECK(h.lapses() == 1);
        CHECK(h.lease.heartbeats() - sent <= 3600 + 6);
        auto const late = h.keep(); // the start of another run got through; that alone proves nothing
        CHECK(!late.is_valid());
        h.fate = request_fate::served;
        h.loop.run_for(4s);
        CHECK(h.lease.is_proven());
        CHECK(!hold.is_valid()); // it has been told to stop
        CHECK(!late.is_valid());
        CHECK(h.keep().is_valid());
        CHECK(h.lapses() == 1);
        h.fate = fate;
        h.loop.run_for(1min);
        CHECK(h.lapses() == 2);
    }
}

TEST_CASE("execution.lease: a single lost reply does not matter") {
    house h;
    auto const hold = h.keep();
    h.loop.run_for(20s);
    for (int n = 0; n < 20; ++n) {
        h.fate = request_fate::reply_lost;
        h.loop.run_for(1s);
        h.fate = request_fate::served;
        h.loop.run_for(9s);
    }
    CHECK(hold.is_valid());
    CHECK(h.lapses() == 0);
}

TEST_CASE("execution.lease: a connection that is down sends nothing; the same session can prove itself again") {
    house h;
    auto const hold = h.keep();
    h.loop.run_for(20s);
    auto const sent = h.lease.heartbeats();
    h.registry.disconnect();
    CHECK(hold.is_valid());
    h.loop.run_for(7s);
    CHECK(!hold.is_valid());
    CHECK(h.lapses() == 1);
    CHECK(h.lease.heartbeats() == sent);
    h.registry.reconnect();
    h.loop.run_ready();
    CHECK(h.lease.heartbeats() == sent + 1);
    CHECK(!h.lease.is_valid());
    h.loop.run_for(2600ms);
    CHECK(h.lease.is_proven());
    CHECK(!hold.is_valid());
    CHECK(h.lapses() == 1);
}

TEST_CASE("execution.lease: an interruption that ends before the deadline goes unnoticed") {
    for (auto const length : {10ms, 2000ms, 4000ms, 4500ms}) {
        CAPTURE(length.count());
        house h;
        auto const hold = h.keep();
        h.loop.run_for(20s);
        h.registry.disconnect();
        h.loop.run_for(length);
        h.registry.reconnect();
        h.loop.run_for(20s);
        CHECK(hold.is_valid());
        CHECK(h.lapses() == 0);
    }
}

TEST_CASE(
    "execution.lease: with the session every hold is over at once, and the next session starts from the beginning") {
    house h;
    auto const old = h.keep();
    h.loop.run_for(20s);
    auto const former = h.registry.session().generation;
    h.registry.expire();
    CHECK(!old.is_valid()); // before any holder could have been notified
    CHECK(!h.lease.is_valid());
    CHECK(h.lease.deadline() == mono_time::min());
    h.loop.run_ready();
    CHECK(h.lapses() == 1);
    CHECK(h.guard.deadlines.back() == h.loop.now());
    auto const sent = h.lease.heartbeats();
    h.loop.run_for(1min);
    CHECK(h.lease.heartbeats() == sent); // the old hold keeps nothing alive
    CHECK(!h.lease.keep(former, h.me, h.loop.now()).is_valid());

    h.enter(h.me);
    auto const hold = h.keep();
    CHECK(hold.is_valid());
    CHECK(!h.lease.is_proven());
    h.loop.run_for(2600ms);
    CHECK(h.lease.is_proven());
    CHECK(!old.is_valid());
    CHECK(h.lapses() == 1);
}

namespace {

/// The next server grants the session another time-out.
struct renegotiating : memory {
    using memory::memory;
    session_view session() const {
        auto s = memory::session();
        s.timeout = timeout;
        return s;
    }
    std::chrono::milliseconds timeout = 10s;
};

} // namespace

TEST_CASE("execution.lease: under another time-out everything has to be proved again") {
    virtual_loop loop;
    basic_memory_server<virtual_loop> server{loop};
    renegotiating registry{server};
    auto const me = node_path::parse("/me").value();
    REQUIRE(block_on(loop, registry.create(me, {}, create_mode::ephemeral)));
    session_lease<renegotiating> lease{registry};
    auto const hold = lease.keep(registry.session().generation, me, loop.now());
    loop.run_for(20s);
    CHECK(lease.is_proven());
    registry.timeout = 4s;
    registry.disconnect();
    registry.reconnect();
    loop.run_ready();
    CHECK(!lease.is_valid());
    CHECK(!hold.is_valid());
    auto const next = lease.keep(registry.session().generation, me, loop.now());
    CHECK(lease.deadline() == loop.now() + 1500ms);
    loop.run_for(1040ms);
    CHECK(lease.is_proven());
    CHECK(next.is_valid());
}

TEST_CASE("execution.lease: the holds of a witness that has gone are over, and the others are not") {
    house h;
    auto const mine = h.keep();
    auto const ours = h.lease.keep(h.registry.session().generation, h.us, h.loop.now());
    h.loop.run_for(20s);
    h.leave(h.me);
    h.loop.run_for(2s);
    CHECK(!mine.is_valid());
    CHECK(ours.is_valid());
    CHECK(h.lapses() == 1);
    h.loop.run_for(20s);
    CHECK(ours.is_valid());
    CHECK(h.lapses() == 1);
    h.leave(h.us);
    h.loop.run_for(1s);
    CHECK(!ours.is_valid());
    CHECK(h.lapses() == 2);
    auto const sent = h.lease.heartbeats();
    h.loop.run_for(1min);
    CHECK(h.lease.heartbeats() == sent);
}

TEST_CASE("execution.lease: the guard learns each deadline while the lease has a holder, and learns when it has none "
          "any more") {
    house h;
    h.loop.run_for(1min);
    CHECK(h.guard.deadlines.empty());
    {
        auto const hold = h.keep();
        CHECK(h.guard.deadlines == std::vector{h.lease.deadline()});
        for (int n = 0; n < 20; ++n) {
            h.loop.run_for(1s);
            CHECK(h.guard.deadlines.back() == h.lease.deadline());
        }
        h.guard.disarmed = 0;
    }
    CHECK(h.guard.disarmed == 1);
    auto const told = h.guard.deadlines.size();
    h.loop.run_for(1min);
    CHECK(h.guard.deadlines.size() == told);
}

TEST_CASE("execution.lease: a hold may be moved") {
    house h;
    auto first = h.keep();
    {
        auto second = std::move(first);
        CHECK(second.is_valid());
        CHECK(!first.is_valid());
        first = std::move(second);
    }
    h.loop.run_for(20s);
    CHECK(first.is_valid());
    first = h.keep();
    CHECK(first.is_valid());
    h.loop.run_for(20s);
    CHECK(first.is_valid());
    auto const sent = h.lease.heartbeats();
    { auto const last = std::move(first); }
    h.loop.run_for(20s);
    CHECK(h.lease.heartbeats() == sent);
}

TEST_CASE("execution.lease: the lease may be destroyed while a heartbeat is under way") {
    virtual_loop loop;
    basic_memory_server<virtual_loop> server{loop};
    memory registry{server};
    auto const me = node_path::parse("/me").value();
    REQUIRE(block_on(loop, registry.create(me, {}, create_mode::ephemeral)));
    auto lease = std::make_unique<session_lease<memory>>(registry);
    {
        auto const hold = lease->keep(registry.session().generation, me, loop.now());
        while (server.counts().writes < 2) REQUIRE(loop.step());
    }
    lease.reset(); // the reply has not come yet
    loop.run_for(1min);
    CHECK(server.counts().writes == 2);
}

TEST_CASE("execution.lease: the time in which the machine is suspended counts") {
    house h;
    auto const hold = h.keep();
    h.loop.run_for(20s);
    h.loop.suspend(3s);
    CHECK(hold.is_valid());
    h.loop.run_for(20s);
    CHECK(hold.is_valid()); // the requests sent since then prove it
    CHECK(h.guard.deadlines.back() - h.loop.now() == h.lease.deadline() - h.lease.now()); // by the loop's clock
    h.loop.suspend(7s);
    CHECK_FALSE(hold.is_valid());
    CHECK_FALSE(h.lease.is_valid());
    CHECK(h.lapses() == 0);
    h.loop.run_for(1s); // the next heartbeat
    CHECK(h.lapses() == 1);
    h.loop.run_for(20s);
    CHECK(h.lease.is_proven());
    CHECK_FALSE(hold.is_valid());
}

TEST_CASE("execution.lease: a lease that ends in a suspension is noticed a tenth of the time-out later, though nothing "
          "can be sent") {
    house h;
    auto const hold = h.keep();
    h.loop.run_for(20s);
    h.registry.disconnect();
    h.loop.run_for(100ms);
    h.loop.suspend(1h);
    CHECK(h.lapses() == 0);
    h.loop.run_for(1s);
    CHECK(h.lapses() == 1);
    CHECK_FALSE(hold.is_valid());
}

TEST_CASE("execution.lease: a start whose answer waited for a suspended machine begins nothing") {
    house h;
    auto const sent = h.lease.now();
    h.loop.suspend(10s);
    auto const hold = h.lease.keep(h.registry.session().generation, h.me, sent);
    CHECK_FALSE(hold.is_valid());
}

TEST_CASE("execution.lease: it works on a real loop too") {
    event_loop loop;
    basic_memory_server<event_loop> server{loop, {.session_timeout = 200ms}};
    MemoryRegistry registry{server};
    auto scenario = [](MemoryRegistry& r) -> task<result<bool>> {
        auto const me = node_path::parse("/me").value();
        ELASTICJOB_CO_CHECK(co_await r.create(me, {}, create_mode::ephemeral));
        session_lease<MemoryRegistry> lease{r};
        auto const hold = lease.keep(r.session().generation, me, lease.now());
        auto const seen = lease.lapsed().edition();
        r.disconnect();
        co_return co_await lease.lapsed().newer_than(seen, r.loop().now() + 10s);
    };
    CHECK(block_on(loop, scenario(registry)).value());
}

namespace {

constexpr auto T = std::chrono::nanoseconds{10s};

/// Messages arrive in their order, after a while. A wire that stands still keeps them.
class fifo {
public:
    fifo(virtual_loop& l, std::mt19937_64& random) : loop_{l}, random_{random}, stir_{l} { pump_.spawn(carry()); }

    void send(std::function<void()> arrive) {
        queue_.push_back(std::move(arrive));
        stir_.notify();
    }
    void stall(std::chrono::nanoseconds span) { open_at_ = std::max(open_at_, loop_.now() + span); }
    void set_delay(std::chrono::nanoseconds most) { delay_max_ = most; }
    void drop() { queue_.clear(); }

private:
    task<> carry() {
        for (;;) {
            auto const seen = stir_.edition();
            if (queue_.empty()) {
                co_await stir_.newer_than(seen);
                continue;
            }
            auto const delay = std::chrono::nanoseconds{random_() % static_cast<std::uint64_t>(delay_max_.count())};
            co_await sleep_until(loop_, loop_.now() + delay);
            while (loop_.now() < open_at_) co_await sleep_until(loop_, open_at_);
            if (queue_.empty()) continue;
            auto const arrive = std::move(queue_.front());
            queue_.pop_front();
            arrive();
        }
    }

    virtual_loop& loop_;
    std::mt19937_64& random_;
    event_count<virtual_loop> stir_;
    std::deque<std::function<void()>> queue_;
    mono_time open_at_{};
    std::chrono::nanoseconds delay_max_ = 10ms;
    task_scope pump_;
};

/// Models one session: a client, two followers and their leader. The leader learns of activity from the followers'
/// answers and from reconnections, and ends the session as soon as it may. Otherwise it is the in-memory registry.
class ensemble : public memory {
public:
    ensemble(basic_memory_server<virtual_loop>& server, std::mt19937_64& random)
        : memory{server}, random_{random}, expiry_{*this} {
        // Half a tick, and a clock that is right, or wrong by two in a hundred.
        constexpr std::array clocks{0.98, 1.0, 1.02};
        rate_ = clocks[random_() % 3];
        constexpr std::array ticks{0.25, 0.25, 0.12, 0.03};
        half_tick_ = scaled(rate_ * ticks[random_() % 4]);
        open_session();
        life_.spawn(ask_followers());
        life_.spawn(ping());
    }
    ~ensemble() { loop().disarm(expiry_); }

    task<result<commit_reply>> commit(transaction t) {
        if (session().state != session_state::connected) co_return error{errc::not_sent, "down"};
        if (t.generation() != session().generation) co_return error{errc::session_lost, "over"};
        auto const c = std::make_shared<call>(loop());
        calls_.push_back(c);
        auto const g = session().generation;
        auto& f = followers_[at_];
        to_follower_.send([this, c, g, &f] {
            f.heard_of = g;
            f.has_heard = true;
            f.to_leader.send([this, c, g, &f] {
                if (g != generation_ || !is_alive_) return; // the client will hear of it, some time
                quorum_.send(
                    [this, c, &f] { f.to_follower.send([this, c] { to_client_.send([c] { c->end(true); }); }); });
            });
        });
        last_sent_ = loop().now();
        if (!c->success) co_await c->ended.newer_than(1);
        std::erase(calls_, c);
        if (!*c->success) co_return error{errc::unknown_outcome, "no reply"};
        co_return commit_reply{};
    }

    bool is_alive() const { return is_alive_ && session().generation == generation_; }
    std::function<void()> on_expiry = [] {};
    bool pings = true;

    // Faults.
    fifo& some_wire() {
        auto& f = followers_[at_];
        std::array<fifo*, 5> const all{&to_follower_, &to_client_, &f.to_leader, &f.to_follower, &quorum_};
        return *all[random_() % all.size()];
    }
    void cut_off(std::chrono::nanoseconds span) {
        followers_[at_].to_leader.stall(span);
        followers_[at_].to_follower.stall(span);
    }
    void break_connection() {
        disconnect();
        to_follower_.drop();
        to_client_.drop();
        for (auto const& c : std::vector{calls_}) c->end(false);
        ++attempt_;
    }
    /// To any of the followers. Nothing may come of it; then try again.
    void connect_again() {
        if (session().state == session_state::connected) return;
        to_follower_.drop();
        to_client_.drop();
        at_ = random_() % 2;
        auto const attempt = ++attempt_;
        auto& f = followers_[at_];
        to_follower_.send([this, attempt, &f] {
            f.to_leader.send([this, attempt, &f] {
                if (session().generation == generation_ && is_alive_) touch();
                f.to_follower.send([this, attempt] { to_client_.send([this, attempt] { welcome(attempt); }); });
            });
        });
    }
    /// Requests on their way between the servers are lost; the new leader gives every session its whole time.
    void change_leader() {
        break_connection();
        for (auto& f : followers_) {
            f.to_leader.drop();
            f.to_follower.drop();
        }
        quorum_.drop();
        if (is_alive_) touch();
    }

private:
    struct call {
        explicit call(virtual_loop& l) : ended{l} {}
        void end(bool s) {
            if (success) return;
            success = s;
            ended.notify();
        }
        std::optional<bool> success;
        event_count<virtual_loop> ended;
    };
    struct follower {
        fifo to_leader, to_follower;
        session_generation heard_of{};
        bool has_heard = false;
    };
    struct expiry : timer {
        explicit expiry(ensemble& e) noexcept : timer{&ring}, self{e} {}
        static void ring(timer& t) {
            auto& e = static_cast<expiry&>(t).self;
            e.is_alive_ = false;
            e.on_expiry();
        }
        ensemble& self;
    };

    std::chrono::nanoseconds scaled(double share) const {
        return std::chrono::nanoseconds{static_cast<std::int64_t>(share * static_cast<double>(T.count()))};
    }
    void open_session() {
        generation_ = session().generation;
        is_alive_ = true;
        touch();
    }
    void touch() {
        loop().disarm(expiry_);
        loop().arm(expiry_, loop().now() + scaled(rate_));
    }
    void welcome(std::uint64_t attempt) {
        if (attempt != attempt_ || session().state == session_state::connected) return;
        if (session().generation == generation_ && !is_alive_)
            expire();
        else
            reconnect();
        if (session().generation != generation_) open_session();
    }
    task<> ask_followers() {
        co_await sleep_until(loop(), loop().now() + half_tick_ * (random_() % 100) / 100);
        for (;;) {
            for (auto& f : followers_) {
                f.to_follower.send([this, &f] {
                    auto const g = f.heard_of;
                    bool const has_heard = std::exchange(f.has_heard, false);
                    f.to_leader.send([this, g, has_heard] {
                        if (has_heard && g == generation_ && is_alive_) touch();
                    });
                });
            }
            co_await sleep_until(loop(), loop().now() + half_tick_);
        }
    }
    task<> ping() {
        for (;;) {
            co_await sleep_until(loop(), std::max(last_sent_ + T / 3, loop().now() + 1ms));
            if (loop().now() < last_sent_ + T / 3) continue;
            last_sent_ = loop().now();
            if (!pings || session().state != session_state::connected) continue;
            to_follower_.send([&f = followers_[at_], g = session().generation] {
                f.heard_of = g;
                f.has_heard = true;
            });
        }
    }

    std::mt19937_64& random_;
    double rate_ = 1;
    std::chrono::nanoseconds half_tick_{};
    fifo to_follower_{loop(), random_}, to_client_{loop(), random_}, quorum_{loop(), random_};
    std::array<follower, 2> followers_{follower{{loop(), random_}, {loop(), random_}},
                                       follower{{loop(), random_}, {loop(), random_}}};
    std::size_t at_ = 0;
    std::uint64_t attempt_ = 0;
    std::vector<std::shared_ptr<call>> calls_;
    mono_time last_sent_{};
    session_generation generation_{};
    bool is_alive_ = false;
    expiry expiry_;
    task_scope life_; ///< first to go
};
static_assert(registry<ensemble>);

/// Totals over all schedules: a test of faults that meets none proves nothing.
struct sightings {
    int proofs = 0;
    int starts = 0;
    int lapses = 0;
    int expiries_while_held = 0;
    std::chrono::nanoseconds closest = T;
};

struct schedule;

struct CheckingGuard {
    schedule* s;
    void until(mono_time) const;
    void disarm() const {}
};

/// Runs come and go, and the weather is bad: all along, or from each start on.
struct schedule {
    std::mt19937_64 random;
    bool good_before_start;
    sightings& seen;
    virtual_loop loop{};
    basic_memory_server<virtual_loop> server{
        loop, {.session_timeout = std::chrono::duration_cast<std::chrono::milliseconds>(T)}};
    ensemble registry{server, random};
    session_lease<ensemble, CheckingGuard> lease{registry, CheckingGuard{this}};
    bool is_held = false;
    bool is_calm = false;
    task_scope scope{};

    schedule(std::uint64_t seed, sightings& s) : random{seed}, good_before_start{seed % 2 == 0}, seen{s} {
        registry.on_expiry = [this] {
            if (!is_held) return;
            ++seen.expiries_while_held;
            if (lease.deadline() != mono_time::min()) {
                auto const gap = loop.now() - lease.deadline();
                if (claims()) seen.closest = std::min(seen.closest, gap);
            }
            check();
        };
        scope.spawn(weather());
        scope.spawn(runs());
        loop.run_for(40 * T);
        scope.cancel();
    }

    /// Whether the lease is responsible for its answers.
    bool claims() const { return good_before_start || lease.is_proven(); }
    void check() {
        if (lease.is_valid() && claims()) REQUIRE(registry.is_alive());
    }
    std::chrono::nanoseconds up_to(std::chrono::nanoseconds most) {
        return std::chrono::nanoseconds{random() % static_cast<std::uint64_t>(most.count())};
    }

    task<> weather() {
        for (;;) {
            auto const pause = up_to(T / 2);
            co_await sleep_until(loop, loop.now() + pause);
            if (is_calm) continue;
            switch (random() % 10) {
            case 0:
            case 1:
            case 2:
                registry.some_wire().stall(up_to(T * 3 / 4));
                break;
            case 3:
                registry.cut_off(up_to(3 * T));
                break;
            case 4:
                registry.break_connection();
                break;
            case 5:
                if (random() % 4 == 0) registry.change_leader();
                break;
            case 6:
                registry.some_wire().set_delay(T / 3);
                break;
            case 7:
                for (int i = 0; i < 5; ++i) registry.some_wire().set_delay(10ms);
                break;
            default:
                break;
            }
            registry.pings = random() % 2 == 0;
            if (random() % 2 == 0) registry.connect_again();
        }
    }

    task<> runs() {
        auto const witness = node_path::parse("/me").value();
        for (;;) {
            is_calm = good_before_start;
            registry.pings = registry.pings || good_before_start;
            if (is_calm) {
                // As usual: a connection, quick wires, and what had been delayed has arrived, for a whole time-out.
                for (int i = 0; i < 40; ++i) registry.some_wire().set_delay(10ms);
                co_await sleep_until(loop, loop.now() + 4 * T);
                if (registry.session().state != session_state::connected) registry.connect_again();
                co_await sleep_until(loop, loop.now() + T);
            } else {
                auto const pause = up_to(T);
                co_await sleep_until(loop, loop.now() + pause);
            }
            auto const g = registry.session().generation;
            auto const sent = loop.now();
            transaction t{g};
            t.check(witness);
            auto const started = co_await registry.commit(std::move(t));
            if (!started) continue;
            ++seen.starts;
            auto const hold = lease.keep(g, witness, sent);
            is_held = true;
            is_calm = false;
            auto const before = lease.lapsed().edition();
            auto const length = up_to(4 * T);
            co_await sleep_until(loop, loop.now() + length);
            seen.lapses += static_cast<int>(lease.lapsed().edition() - before);
            is_held = false;
        }
    }
};

void CheckingGuard::until(mono_time) const {
    s->seen.proofs += s->lease.is_proven();
    s->check();
}

} // namespace

TEST_CASE("execution.lease: never valid once the leader may have ended the session") {
    auto const schedules = test::amount_for_this_run({.full = 3000, .usual = 1000, .sanitized = 300});
    sightings seen;
    for (std::uint64_t seed = 1; seed <= schedules; ++seed) {
        CAPTURE(seed);
        schedule const s{seed, seen};
    }
    INFO("starts " << seen.starts << ", proofs " << seen.proofs << ", lapses " << seen.lapses
                   << ", expiries while held " << seen.expiries_while_held << ", closest "
                   << std::chrono::duration<double>{seen.closest}.count() << " s of "
                   << std::chrono::duration<double>{T}.count());
    auto const least = static_cast<int>(schedules);
    CHECK(seen.starts > least * 10 / 3);
    CHECK(seen.proofs > least * 10);
    CHECK(seen.lapses > least);
    CHECK(seen.expiries_while_held > least);
    CHECK(seen.closest < T / 4); // the schedules come near the limit
}
