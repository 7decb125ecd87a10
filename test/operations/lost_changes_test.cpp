// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/core/block_on.hpp>
#include <elasticjob/execution/change_pauses.hpp>
#include <elasticjob/membership/change_schedule.hpp>
#include <elasticjob/membership/enroll.hpp>
#include <elasticjob/operations/add_job.hpp>
#include <elasticjob/operations/trigger.hpp>

#include <support/cluster.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
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
             return wait(c, enroll(c.by_hand, at, {.self = self, .how = arrival::first}, anything));
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
            bool const names_key = done.error().what.find(": repeat the command with the key ") != std::string::npos;
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
    std::map<std::string, std::pair<char const*, char const*>> const spoiled_by{
        {"a command", {"/settle/ext/audit", "spoiled"}},
        {"a pause", {"/settle/ext/orders/pause", "spoiled"}},
        {"a schedule", {"/settle/config", "spoiled"}},
        {"a configuration", {"/settle/ext/removed", "by hand"}},
    };
    for (auto const& one : changes()) {
        auto const found = spoiled_by.find(one.name);
        if (found == spoiled_by.end()) continue; // after a failed enrollment, the instance withdraws its registration
        INFO(one.name);
        auto const& [path, data] = found->second;
        world w;
        basic_memory_registry<virtual_loop> other{w.server};
        task_scope tasks;
        auto const spoil = [&](node_path at, std::string text) -> task<void> {
            auto const set = co_await other.set(at, text);
            if (!set) (void)co_await other.create(at, text, create_mode::persistent);
        };
        bool is_lost = false;
        losing const network{w.server, [&](std::int64_t session, operation::kind const* write) {
                                 if (is_lost || !write || session != w.by_hand.session().id)
                                     return request_fate::served;
                                 is_lost = true;
                                 post(w.loop, [&] { tasks.spawn(spoil(node_path::parse(path).value(), data)); });
                                 return request_fate::reply_lost;
                             }};
        auto const done = one.make(w);
        REQUIRE_FALSE(done);
        CHECK_MESSAGE(done.error() == errc::unknown_outcome, to_string(done.error()));
        bool const names_key = done.error().what.find(": repeat the command with the key ") != std::string::npos;
        CHECK(names_key == (one.name == "a command"));
    }
}
