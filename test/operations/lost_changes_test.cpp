// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/core/block_on.hpp>
#include <elasticjob/execution/change_pauses.hpp>
#include <elasticjob/membership/change_schedule.hpp>
#include <elasticjob/operations/add_job.hpp>
#include <elasticjob/operations/trigger.hpp>

#include <support/cluster.hpp>
#include <support/enroll_alone.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

struct change {
    std::string name;
    std::function<result<void>(cluster&)> make;
};

result<void> without_value(auto const& done) {
    if (done) return success();
    return done.error();
}

auto const anything = [](valid_config const&) -> result<void> { return success(); };

std::vector<change> changes() {
    static auto const at = job_layout{job_name::parse("settle").value()};
    static auto const wait = [](cluster& c, auto asked) {
        return without_value(block_on(c.by_hand.loop(), std::move(asked)));
    };
    return {
        {"a command", [](cluster& c) { return without_value(trigger_job(c.by_hand, "settle", {"ann"})); }},
        {"a pause",
         [](cluster& c) {
             return wait(c, detail::change_pauses(c.by_hand, at, "", true, c.by_hand.loop().wall_now()));
         }},
        {"a schedule", [](cluster& c) { return wait(c, change_schedule(c.by_hand, at, "0 0 3 * * ?", {}, anything)); }},
        {"a configuration",
         [](cluster& c) {
             auto config = make_job("settle", "0 0 3 * * ?", 2);
             config.overwrite = true;
             return wait(c, publish_job(c.by_hand, validate(config).value()));
         }},
        {"an enrollment",
         [](cluster& c) {
             auto self = instance_id::parse("10.0.0.9@-@1").value();
             return wait(c, enroll_alone(c.by_hand, at, {.self = self, .how = arrival::first}, anything));
         }},
    };
}

struct world : cluster {
    world() {
        REQUIRE(add().schedule(make_job("settle", never, 2)));
        run_for(1s);
    }
};

} // namespace

TEST_CASE("operations.lost_changes: a change that may have been made is never reported as overtaken or not sent") {
    for (auto const& one : changes()) {
        INFO(one.name);
        for (auto const first : {request_fate::reply_lost, request_fate::request_lost}) {
            world w;
            losing const network{w.server, losing::cut_at_write(w.by_hand.session().id, first)};
            auto const done = one.make(w);
            REQUIRE_FALSE(done);
            CHECK_MESSAGE(done.error() == errc::unknown_outcome, to_string(done.error()));
            bool const names_key = done.error().what.find("; repeat the command with the key ") != std::string::npos;
            CHECK(names_key == (one.name == "a command"));
        }
    }
}

TEST_CASE("operations.lost_changes: a change whose reads are lost fails like them") {
    for (auto const& one : changes()) {
        INFO(one.name);
        world w;
        losing const network{w.server, [&](std::int64_t session, operation::kind const*) {
                                 bool const is_ours = session == w.by_hand.session().id;
                                 return is_ours ? request_fate::request_lost : request_fate::served;
                             }};
        auto const done = one.make(w);
        REQUIRE_FALSE(done);
        CHECK_MESSAGE(is_transient(done.error()), to_string(done.error()));
    }
}

TEST_CASE("operations.lost_changes: a later refusal does not hide that the change may have been made") {
    struct spoiled {
        std::string change, path;
        std::string data; ///< empty: the node is removed
        std::string reason;
    };
    spoiled const rows[]{
        {"a command", "/settle/ext/audit", "spoiled", "malformed_data: "},
        {"a pause", "/settle/ext/orders/pause", "spoiled", "malformed_data: "},
        {"a schedule", "/settle/config", "spoiled", "malformed_data: "},
        {"a schedule", "/settle/config", "", "no_node: "},
        {"a configuration", "/settle/ext/removed", "by hand", "removed: "},
        // Not an enrollment: after any error, the instance withdraws its registration.
    };
    for (auto const& row : rows) {
        INFO(row.change << ", then " << row.path << ": " << row.data);
        world w;
        basic_memory_registry<virtual_loop> other{w.server};
        task_scope tasks;
        auto const spoil = [&](node_path at, std::string text) -> task<void> {
            if (text.empty()) {
                (void)co_await other.remove(at);
                co_return;
            }
            auto const set = co_await other.set(at, text);
            if (!set) (void)co_await other.create(at, text, create_mode::persistent);
        };
        bool is_lost = false;
        losing const network{w.server, [&](std::int64_t session, operation::kind const* write) {
                                 if (is_lost || !write || session != w.by_hand.session().id)
                                     return request_fate::served;
                                 is_lost = true;
                                 auto at = node_path::parse(row.path).value();
                                 post(w.loop, [&, at] { tasks.spawn(spoil(at, row.data)); });
                                 return request_fate::reply_lost;
                             }};
        auto const all = changes();
        auto const one = std::find_if(all.begin(), all.end(), [&](change const& c) { return c.name == row.change; });
        REQUIRE(one != all.end());
        auto const done = one->make(w);
        REQUIRE_FALSE(done);
        CHECK_MESSAGE(done.error() == errc::unknown_outcome, to_string(done.error()));
        CHECK_MESSAGE(done.error().what.find(row.reason) != std::string::npos, to_string(done.error()));
        bool const names_key = done.error().what.find("; repeat the command with the key ") != std::string::npos;
        CHECK(names_key == (one->name == "a command"));
    }
}

TEST_CASE("operations.lost_changes: neither does a member that does not accept the schedule any more") {
    world w;
    int calls = 0;
    auto const accept_once = [&](valid_config const&) -> result<void> {
        if (calls++ == 0) return success();
        return error{errc::unknown_strategy, "it is gone"};
    };
    losing const network{w.server, losing::nth_write(w.by_hand.session().id, 0, request_fate::request_lost)};
    auto const at = job_layout{job_name::parse("settle").value()};
    auto const done = block_on(w.by_hand.loop(), change_schedule(w.by_hand, at, "0 0 3 * * ?", {}, accept_once));
    REQUIRE_FALSE(done);
    CHECK(done.error() == errc::unknown_outcome);
    CHECK(done.error().what.find("unknown_strategy: it is gone") != std::string::npos);
}
