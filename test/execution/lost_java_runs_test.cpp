// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/execution/lost_java_runs.hpp>

#include <support/job_world.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;
using namespace elasticjob::test;
using detail::deserted_item;
using detail::interrupted_among;

namespace {

instance_id const a = instance_id::parse("10.0.0.1@-@11").value();
instance_id const b = instance_id::parse("10.0.0.1@-@12").value();

std::vector<item_index> among(std::vector<deserted_item> const& deserted, revision departed) {
    std::vector<item_index> found;
    for (auto const& d : interrupted_among(deserted, departed)) found.push_back(d.item);
    return found;
}

using items = std::vector<item_index>;

/// A Java member owns items 0 to 3 and runs 1 and 2.
struct deserted_world : job_world {
    session_type java{server};
    wall_time const noticed{std::chrono::seconds{1'767'225'700}};

    deserted_world() {
        create(at.election());
        create(at.ext());
        create_as(java, at.instance(a), {}, create_mode::ephemeral);
        for (item_index i = 0; i < 4; ++i) create(at.item_instance(i), a.str());
        for (item_index const i : {1U, 2U, 3U}) create_as(java, at.item_running(i), {}, create_mode::ephemeral);
        wait_for(java.remove(at.item_running(3))).value();
    }
    void die() {
        post(loop, [this] { java.expire(); });
        loop.run_ready();
    }
    std::vector<deserted_item> all() const { return {{0, a}, {1, a}, {2, a}, {3, a}}; }
    bool make_up(bool has_java_members = true) {
        auto steps = wait_for(detail::make_up_for_lost_runs(one, at, all(), has_java_members, noticed)).value();
        transaction t{one.session().generation};
        for (auto& group : steps)
            for (auto& o : group) t.add(std::move(o));
        if (t.empty()) return false;
        REQUIRE(wait_for(one.commit(std::move(t))).value());
        return true;
    }
    std::optional<run_record> record(item_index i) const {
        if (!has(at.run_record(i))) return std::nullopt;
        return run_record::parse(data(at.run_record(i))).value();
    }
};

} // namespace

TEST_CASE("execution.lost_java_runs: a run is lost if its mark went with its instance") {
    // Items 0 and 2 changed when the instance departed; 1 had ended before, 3 has not run since it was given.
    CHECK(among({{0, a, 5, 20}, {1, a, 5, 17}, {2, a, 5, 20}, {3, a, 5, 5}}, 20) == items{0, 2});
    CHECK(among({{0, a, 5, 17}, {1, a, 5, 18}}, 20).empty());
}

TEST_CASE("execution.lost_java_runs: two runs that went in one revision are recognized behind a later departure") {
    CHECK(among({{0, a, 5, 20}, {1, a, 5, 20}, {2, b, 5, 21}, {3, a, 5, 19}}, 21) == items{0, 1, 2});
    CHECK(among({{0, a, 5, 20}, {2, b, 5, 20}}, 21).empty());   // not of one owner, so not of one session
    CHECK(among({{0, a, 20, 20}, {1, a, 20, 20}}, 21).empty()); // that was the sharding which gave them
}

TEST_CASE("execution.lost_java_runs: records and flags are written for the items that ran, and for nothing else") {
    deserted_world w;
    w.die();
    REQUIRE(w.make_up());
    for (item_index const i : {0U, 3U}) {
        CHECK_FALSE(w.record(i));
        CHECK_FALSE(w.has(w.at.failover_item(i)));
    }
    for (item_index const i : {1U, 2U}) {
        REQUIRE(w.record(i));
        REQUIRE(w.record(i)->running);
        CHECK(*w.record(i)->running == run_begin{w.noticed, run_source::schedule, 1, a.str(), w.noticed});
        CHECK(w.has(w.at.failover_item(i)));
    }
    CHECK_FALSE(w.make_up()); // once
}

TEST_CASE("execution.lost_java_runs: the record of our own member goes on, and items that run or are taken up are left "
          "alone") {
    deserted_world w;
    run_record before;
    before.obeyed = 7;
    before.checkpoint = "half";
    w.create(w.at.run_record(1), before.to_text());
    w.die();
    w.create(w.at.item_failover(2), b.str()); // a Java member has been faster
    REQUIRE(w.make_up(false));
    CHECK(w.record(1)->running);
    CHECK(w.record(1)->obeyed == 7);
    CHECK(w.record(1)->checkpoint == "half");
    CHECK_FALSE(w.record(2));
    CHECK_FALSE(w.has(w.at.failover_items())); // no Java member is left
}

TEST_CASE("execution.lost_java_runs: a run whose flag a Java member took before it died is recorded once more") {
    auto const recorded =
        detail::record_of_lost_run(std::nullopt, a, wall_time{} + std::chrono::seconds{1}, false, true);
    node there;
    there.data = recorded.value();
    auto const later = wall_time{} + std::chrono::seconds{60};
    CHECK_FALSE(detail::record_of_lost_run(there, b, later, true, true)); // nobody has taken it
    auto const again = detail::record_of_lost_run(there, b, later, false, true);
    REQUIRE(again);
    CHECK(run_record::parse(*again).value().running->instance == b.str());
    run_record live; // without a flag
    live.running = run_begin{later, run_source::schedule, 1, a.str(), later};
    there.data = live.to_text();
    CHECK_FALSE(detail::record_of_lost_run(there, b, later, false, true));
}

TEST_CASE("execution.lost_java_runs: a lost run has an instant that has not been handled, whatever the owner's clock") {
    wall_time const noticed{std::chrono::hours{1'000}};
    auto const due_after = [&](wall_time through) {
        run_record before;
        before.through = through;
        node there;
        there.data = before.to_text();
        auto const lost = detail::record_of_lost_run(there, a, noticed, false, true);
        return run_record::parse(lost.value()).value().running->due;
    };
    using std::chrono::milliseconds;
    CHECK(due_after(noticed - std::chrono::seconds{2}) == noticed);
    CHECK(due_after(noticed) == noticed + milliseconds{1});
    CHECK(due_after(noticed + std::chrono::seconds{2}) == noticed + milliseconds{2'001});
    CHECK(due_after(noticed + std::chrono::hours{2}) == noticed); // a wrong clock has written it
}

TEST_CASE("execution.lost_java_runs: an instance that leaves in order has lost nothing") {
    deserted_world w;
    w.wait_for(w.java.remove(w.at.instance(a))).value();
    CHECK_FALSE(w.make_up()); // its session lives, and its marks are there
    for (item_index const i : {1U, 2U}) w.wait_for(w.java.remove(w.at.item_running(i))).value();
    w.die();
    CHECK_FALSE(w.make_up());
}
