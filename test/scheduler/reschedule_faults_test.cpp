// SPDX-License-Identifier: Apache-2.0
// `reschedule` while replies and sessions are lost, and while others write. Calls that wait for the registry.
#include <elasticjob/scheduler/job_scheduler.hpp>

#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/core/virtual_loop.hpp>
#include <elasticjob/execution/simple_executor.hpp>

#include <support/any_policies.hpp>
#include <support/job_world.hpp> // losing

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <utility>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace std::chrono_literals;

namespace {

constexpr char const* before = "0 0 0 1 1 ? 2098";
constexpr char const* after = "0 0 0 1 1 ? 2099";

struct loop_pool {
    virtual_loop* loop;
    bool try_submit(work& w) {
        loop->post(w);
        return true;
    }
};

struct one_job {
    virtual_loop loop{wall_time{1'767'225'600s}};
    basic_memory_server<virtual_loop> server{loop};
    virtual_registry registry{server}, by_hand{server};
    virtual_scheduler<SimpleExecutor> scheduler{registry, {}, loop_pool{&loop}, NoEvents{}, UtcZone{}};
    node_path const config = node_path::parse("/settle/config").value();
    virtual_scheduler<SimpleExecutor>::handle job =
        scheduler.schedule({.name = "settle", .cron = before, .sharding_total_count = 2}, [] {}).value();

    node const& stored() const { return *server.tree().find(config); }
    job_config read() const { return **from_json(stored().data); }

    /// An operator's program, which overwrites only nodes that it has read.
    task<void> edit_parameter() {
        for (bool is_written = false; !is_written;) {
            auto const was = co_await by_hand.get(config);
            auto changed = **from_json(was->data);
            changed.job_parameter = "theirs";
            is_written = (co_await by_hand.set(config, to_json(changed), was->stat.version)).has_value();
        }
    }
    task_scope operator_tasks;
};

/// The fate of the n-th request of the session from now, and whether the session expires right after it.
struct fault {
    std::uint64_t request;
    request_fate fate;
    bool expires;

    /// Calls `f`. Returns whether the request was made.
    bool during(one_job& w, std::function<void()> const& f, std::function<void()> const& meanwhile = {}) const {
        bool has_come = false;
        auto const session = w.registry.session().id;
        losing const network{w.server, [&, seen = std::uint64_t{0}](std::int64_t s, operation::kind const*) mutable {
                                 if (has_come || s != session || seen++ != request) return request_fate::served;
                                 has_come = true;
                                 // Between the turn of the server and the turn of the caller.
                                 if (meanwhile) post(w.loop, meanwhile);
                                 if (expires) post(w.loop, [&w] { w.registry.expire(); });
                                 return fate;
                             }};
        f();
        return has_come;
    }
};

/// `f` with each fault that the requests of one call can meet.
void for_each_fault(std::function<bool(fault const&)> const& f) {
    for (bool const expires : {false, true})
        for (auto const fate : {request_fate::served, request_fate::request_lost, request_fate::reply_lost}) {
            std::uint64_t request = 0;
            for (bool has_come = true; has_come; ++request) {
                INFO("request " << request << ", lost: " << (fate != request_fate::served) << ", it has happened: "
                                << (fate == request_fate::reply_lost) << ", the session ends: " << expires);
                has_come = f({request, fate, expires});
            }
            CHECK(request > 3); // it reads two nodes, and writes
        }
}

} // namespace

TEST_CASE(
    "scheduler.handle: reschedule is done when it returns, whichever of its requests, replies and sessions is lost") {
    for_each_fault([](fault const& what) {
        one_job w;
        auto const version = w.stored().stat.version;
        auto const unchanged = w.read();
        result<void> answer = success();
        bool const has_come = what.during(w, [&] { answer = w.job.reschedule(after); });
        CHECK(answer);
        auto expected = unchanged;
        expected.cron = after;
        CHECK(w.read() == expected);
        CHECK(w.stored().stat.version == version + 1); // not twice, though the reply to the first write was lost
        w.loop.run_for(10s);
        CHECK(w.job.status()->next_due == wall_time{4'070'908'800s});
        // Once more, it changes nothing.
        CHECK(w.job.reschedule(after));
        CHECK(w.read() == expected);
        return has_come;
    });
}

TEST_CASE("scheduler.handle: reschedule does not undo the writes of others while its reply is lost") {
    for_each_fault([](fault const& what) {
        one_job w;
        result<void> answer = success();
        auto const edit = [&w] { w.operator_tasks.spawn(w.edit_parameter()); };
        bool const has_come = what.during(
            w, [&] { answer = w.job.reschedule(after); }, edit);
        CHECK(answer);
        w.loop.run_for(10s); // until the operator is done, too
        CHECK(w.read().cron == after);
        CHECK(w.read().job_parameter == (has_come ? "theirs" : ""));
        return has_come;
    });
}

TEST_CASE("scheduler.handle: a call that waits for the registry ends after start_timeout, and writes nothing later") {
    one_job w;
    post(w.loop, [&w] { w.registry.disconnect(); });
    w.loop.run_ready();
    auto const version = w.stored().stat.version;
    for (auto const& call : {std::function<result<void>()>{[&w] { return w.job.pause(); }},
                             std::function<result<void>()>{[&w] { return w.job.resume(); }},
                             std::function<result<void>()>{[&w] { return w.job.reschedule(after); }}}) {
        auto const begin = w.loop.now();
        auto const outcome = call();
        REQUIRE_FALSE(outcome);
        CHECK(outcome.error() == errc::timed_out);
        CHECK(w.loop.now() - begin == scheduler_options{}.start_timeout);
    }
    post(w.loop, [&w] { w.registry.reconnect(); });
    w.loop.run_for(1min);
    CHECK(w.stored().stat.version == version);
    CHECK_FALSE(w.server.tree().find(node_path::parse("/settle/ext/orders/pause").value()));
}
