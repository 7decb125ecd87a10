// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/sharding/item_claim.hpp>

#include <elasticjob/execution/run_book.hpp>

#include <support/sharded_world.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

using items = std::vector<item_index>;

result<start_report> start(sharded_world& w, int n, item_claim claim) {
    auto& r = n == 1 ? w.one : w.two;
    if (!w.has(w.at.run_records())) w.create(w.at.run_records());
    joint_commits<session_type> commits{r};
    auto const self = id_of(n);
    run_book<session_type> book{r, commits, w.at, self};
    std::vector<run_start> starts;
    for (auto& s : claim.shares) starts.push_back({std::move(s), "run"});
    return w.wait_for(book.start(r.session().generation, std::move(claim.common), std::move(starts)));
}

/// A hundred times, the assignment changes before each read.
struct restless_registry : session_type {
    using session_type::session_type;
    node_path assignment;
    int reads = 0;

    task<result<node>> get(node_path path, node_watch<virtual_loop>* w = nullptr) {
        auto const n = ++reads;
        co_await sleep_until(loop(), loop().now() + n * 1ms); // not all reads at once
        if (n <= 100) (void)co_await set(assignment, "change " + std::to_string(n));
        co_return co_await session_type::get(std::move(path), w);
    }
};

} // namespace

TEST_CASE("sharding.item_claim: while an assignment of ours is in force nothing is read") {
    sharded_world w;
    REQUIRE(w.shard(4));
    w.server.counts() = {};
    auto const one = w.claim(1, 4);
    auto const two = w.claim(2, 4);
    CHECK(w.server.counts().all() == 0);
    REQUIRE(one);
    REQUIRE(two);
    CHECK(w.items(*one) == items{2, 3});
    CHECK(w.items(*two) == items{0, 1});
}

TEST_CASE("sharding.item_claim: before the first sharding it waits, to the deadline and no longer (D-12)") {
    sharded_world w;
    auto const begin = w.loop.now();
    auto const claim = w.claim(2, 4, 3s);
    CHECK(claim.error() == errc::timed_out);
    CHECK(claim.error().what.find(id_of(1).str()) != std::string::npos); // the leader that kept it waiting
    CHECK(w.loop.now() - begin == 3s);

    std::optional<result<item_claim>> later;
    w.start(claim_items(w.two, *w.second, w.at, id_of(2), 4, w.loop.now() + 1h), later);
    CHECK_FALSE(later);
    REQUIRE(w.shard(4));
    REQUIRE(later);
    CHECK(w.items(**later) == items{0, 1});
}

TEST_CASE("sharding.item_claim: a Java leader's sharding is followed, step by step") {
    sharded_world w;
    REQUIRE(w.shard(4));
    auto const before = w.claim(2, 4);
    REQUIRE(w.items(*before) == items{0, 1});

    w.java_begins();
    w.java_clears(0);
    w.loop.run_for(1s);
    CHECK(w.claim(2, 4, 1s).error() == errc::timed_out); // half of it is no assignment
    {
        // The earlier claim does not start: item 0's node is gone.
        auto const report = start(w, 2, *before);
        REQUIRE(report);
        CHECK(report->started.empty());
    }
    for (item_index i = 1; i < 4; ++i) w.java_clears(i);
    w.java_commits({id_of(1).str(), id_of(2).str(), id_of(1).str(), "10.0.0.9@-@4711"});
    w.loop.run_for(1s);
    CHECK(w.items(*w.claim(1, 4)) == items{0, 2});
    auto const now = w.claim(2, 4);
    CHECK(w.items(*now) == items{1});

    // It does not start items that the Java leader has given away either, though the version of the node is the same
    // again.
    auto const report = start(w, 2, *before);
    REQUIRE(report);
    CHECK(report->started.empty());
    auto const started = start(w, 2, *now)->started;
    REQUIRE(started.size() == 1);
    CHECK(started[0].item == 1);
}

TEST_CASE("sharding.item_claim: the claim after one Java sharding does not start anything after the next") {
    sharded_world w;
    w.java_shards({id_of(2).str(), id_of(2).str()});
    w.loop.run_for(1s);
    auto const claim = w.claim(2, 2);
    REQUIRE(w.items(*claim) == items{0, 1});
    w.java_begins();
    w.java_clears(0);
    w.java_clears(1);
    CHECK(start(w, 2, *claim)->started.empty());
}

TEST_CASE("sharding.item_claim: when we lead again our assignment counts again") {
    sharded_world w;
    REQUIRE(w.shard(4));
    w.java_shards({id_of(1).str(), id_of(1).str(), id_of(1).str(), id_of(1).str()});
    w.loop.run_for(1s);
    CHECK(w.items(*w.claim(1, 4)).size() == 4);
    REQUIRE(w.shard(4));
    CHECK(w.items(*w.claim(1, 4)) == items{2, 3});
    CHECK(w.items(*w.claim(2, 4)) == items{0, 1});
}

TEST_CASE("sharding.item_claim: a view that is behind is not taken for a Java leader") {
    sharded_world w;
    REQUIRE(w.shard(4));
    auto overruled = [&] { return w.wait_for(is_overruled(w.two, w.at)).value(); };
    CHECK_FALSE(overruled());
    w.java_shards({id_of(1).str(), id_of(1).str(), id_of(1).str(), id_of(1).str()});
    CHECK(overruled());
}

TEST_CASE("sharding.item_claim: an assignment that changes during each look is looked at ten times") {
    sharded_world w;
    REQUIRE(w.shard(4));
    restless_registry r{w.server};
    r.assignment = w.at.assignment();
    CHECK(w.wait_for(is_overruled(r, w.at)).error() == errc::version_conflict);
    CHECK(r.reads == 30);
}

TEST_CASE("sharding.item_claim: a leaver's writing is not taken for a Java leader's, though the view shows half of it") {
    bool has_been_seen = false;
    for (std::uint64_t lost = 0; lost < 6; ++lost) {
        sharded_world w;
        REQUIRE(w.shard(100));
        auto const before = w.second->first_item()->modified;
        losing const late{w.server, losing::nth(w.two.session().id, lost, request_fate::request_lost)};
        transaction t{w.by_hand.session().generation};
        t.set(w.at.item_instance(0), "");
        t.create(w.at.sharding_necessary(), {});
        REQUIRE(*w.wait_for(w.by_hand.commit(std::move(t))));
        w.loop.run_ready();
        if (w.second->first_item()->modified == before || w.second->sharding_is_necessary()) continue;
        has_been_seen = true;
        w.server.counts() = {};
        CHECK(w.claim(2, 100, 100ms).error() == errc::timed_out);
        CHECK(w.server.counts().all() < 10); // and the items' nodes were not read
    }
    CHECK(has_been_seen);
}
