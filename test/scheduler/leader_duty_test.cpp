// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/scheduler/leader_duty.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;
using namespace elasticjob::detail;

namespace {

node owned_by(std::int64_t session) {
    node n;
    n.stat.owner = session;
    return n;
}

} // namespace

TEST_CASE("scheduler.leader_duty: a member that is not registered, or leaves, does nothing") {
    leadership now;
    now.is_standing = now.leads = now.is_enabled = true;
    CHECK(duty_of(now) == leader_duty::none);
}

TEST_CASE("scheduler.leader_duty: a candidate that an election left behind is handled before anything else") {
    leadership now;
    now.is_member = now.is_standing = now.leads = now.is_enabled = true;
    CHECK(duty_of(now) == leader_duty::withdraw);
}

TEST_CASE("scheduler.leader_duty: a leader resigns only if its server is known to be disabled (EL-6)") {
    leadership now;
    now.is_member = now.leads = true;
    CHECK(duty_of(now) == leader_duty::keep_sharded); // the server's node has not been read
    now.is_enabled = true;
    CHECK(duty_of(now) == leader_duty::keep_sharded);
    now.is_enabled = false;
    now.is_disabled = true;
    CHECK(duty_of(now) == leader_duty::resign);
}

TEST_CASE("scheduler.leader_duty: only an enabled member stands, and only if the job has no leader (EL-4, EL-5)") {
    auto const live = owned_by(7), persistent = owned_by(0);
    leadership now;
    now.is_member = true;
    for (bool const is_enabled : {false, true}) {
        now.is_enabled = is_enabled;
        now.leader = nullptr;
        CHECK(duty_of(now) == (is_enabled ? leader_duty::stand : leader_duty::none));
        now.leader = &persistent; // EL-8
        CHECK(duty_of(now) == (is_enabled ? leader_duty::remove_stand_in : leader_duty::none));
        now.leader = &live;
        CHECK(duty_of(now) == leader_duty::none);
    }
}

TEST_CASE("scheduler.leader_duty: a failure of elections is reported the second time, once for each kind") {
    failed_elections failed;
    error const full{errc::too_large, "no room", "/settle"}, gone{errc::no_node, "no node", "/settle"};
    CHECK_FALSE(failed.note(full));
    CHECK_FALSE(failed.note(gone));
    auto const report = failed.note(full);
    REQUIRE(report);
    CHECK(report->code == errc::too_large);
    CHECK(report->what.find("no room") != std::string::npos);
    CHECK_FALSE(failed.note(full));
    CHECK(failed.note(gone));
    failed.note_success();
    CHECK_FALSE(failed.note(full));
    CHECK(failed.note(full));
}
