// SPDX-License-Identifier: Apache-2.0
// The nodes that Java members expect of items of ours: no `misfire` marks, and the latches of their once listeners.
#include <support/cluster.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

/// Two members. One of them is a Java member with a once listener. Four items, due every minute.
struct once_listeners {
    cluster c;
    member& ours = c.add("10.0.0.5");
    basic_memory_registry<virtual_loop> java{c.server};
    std::string const java_id = "10.0.0.9@-@4711";

    once_listeners() {
        REQUIRE(ours.schedule(make_job("settle", "0 * * * * ?", 4)));
        c.run_for(1s);
    }
    void join_java() {
        c.wait_for(java.create(cluster::parsed("/settle/instances/" + java_id), {}, create_mode::ephemeral)).value();
        c.create("/settle/leader/sharding/necessary");
        c.run_for(1s);
        REQUIRE(share(java_id).size() == 2);
    }
    std::vector<item_index> share(std::string const& id) { return share_of(c, id, 4); }

    static std::string latch(std::string const& stage) { return "/settle/guarantee/" + stage; }

    /// The Java member begins or ends its items. Returns whether it has found all items registered.
    bool register_java(std::string const& stage) {
        if (!c.has("/settle/guarantee")) c.create("/settle/guarantee");
        if (!c.has(latch(stage))) c.create(latch(stage));
        for (auto const i : share(java_id)) c.create(latch(stage) + "/" + std::to_string(i));
        return registered(stage) == std::vector<item_index>{0, 1, 2, 3};
    }
    std::vector<item_index> registered(std::string const& stage) {
        std::vector<item_index> found;
        for (item_index i = 0; i < 4; ++i)
            if (c.has(latch(stage) + "/" + std::to_string(i))) found.push_back(i);
        return found;
    }
    /// As a Java member does after its hook.
    void remove_latch(std::string const& stage) {
        for (auto const i : registered(stage)) c.remove(latch(stage) + "/" + std::to_string(i));
        c.remove(latch(stage));
    }
    void next_minute() { c.run_for(60s); }
};

} // namespace

TEST_CASE("scheduler.java_marks: a misfire mark of an item is removed when the item becomes ours (JV-8)") {
    once_listeners w;
    w.join_java();
    auto const javas = w.share(w.java_id);
    auto const mark = [](item_index i) { return "/settle/sharding/" + std::to_string(i) + "/misfire"; };
    for (auto const i : javas) w.c.create(mark(i));
    w.c.run_for(5s);
    for (auto const i : javas) CHECK(w.c.has(mark(i))); // these are the Java member's own
    w.c.create("/settle/instances/10.0.0.8@-@12");      // another one joins, so only some of ours change hands
    w.c.remove("/settle/instances/10.0.0.8@-@12");
    w.c.wait_for(w.java.remove(cluster::parsed("/settle/instances/" + w.java_id))).value();
    w.c.wait_for(w.java.create(cluster::parsed("/settle/instances/10.0.0.9@-@4712"), {}, create_mode::ephemeral))
        .value();
    w.c.run_for(5s);
    auto const ours = w.share(w.ours.id("settle"));
    for (auto const i : javas) {
        bool const is_ours = std::find(ours.begin(), ours.end(), i) != ours.end();
        CHECK(w.c.has(mark(i)) == !is_ours);
    }
}

TEST_CASE("scheduler.java_marks: no once listener waits for an item of ours, and its hook is called from the second "
          "round on (GU-8)") {
    once_listeners w;
    w.join_java();
    w.next_minute();
    CHECK_FALSE(w.c.has("/settle/guarantee")); // no Java member has a once listener, as far as is known

    // The first round, in which the latches become known: the last member to register removes them.
    for (std::string const stage : {"started", "completed"}) {
        if (w.register_java(stage)) w.remove_latch(stage);
        w.c.run_for(1s);
    }
    CHECK(w.registered("started") == w.share(w.ours.id("settle"))); // for the next round
    CHECK(w.registered("completed").empty());

    for (int round = 0; round < 3; ++round) {
        w.next_minute();
        CHECK(w.registered("started") == w.share(w.ours.id("settle")));
        CHECK(w.register_java("started")); // so the Java member calls its hook
        w.remove_latch("started");
        w.c.run_for(1s);
        CHECK(w.registered("completed") == w.share(w.ours.id("settle"))); // our runs have ended
        CHECK(w.register_java("completed"));
        w.remove_latch("completed");
        w.c.run_for(1s);
        CHECK(w.registered("completed").empty());
    }
}

TEST_CASE("scheduler.java_marks: an item that runs is not registered as completed; the last one opens the latch") {
    once_listeners w;
    w.join_java();
    w.c.create("/settle/guarantee");
    w.ours.holds = true;
    w.next_minute();
    REQUIRE(w.ours.held() == 2);
    CHECK_FALSE(w.register_java("completed"));
    w.c.run_for(3s);
    CHECK(w.registered("completed") == w.share(w.java_id));
    w.ours.release(w.share(w.ours.id("settle")).front());
    w.c.run_for(3s);
    CHECK(w.registered("completed").size() == 3);
    w.ours.release_all();
    w.c.run_for(3s);
    CHECK_FALSE(w.c.has(w.latch("completed")));
}

TEST_CASE("scheduler.java_marks: a full latch that no member opens is opened after round_start_timeout") {
    once_listeners w;
    w.join_java();
    w.c.create("/settle/guarantee");
    w.next_minute();
    REQUIRE(w.registered("started").size() == 2);
    CHECK(w.register_java("started")); // but it dies before it has called its hook
    w.c.run_for(25s);
    CHECK(w.registered("started").size() == 4);
    w.c.run_for(10s);
    CHECK(w.registered("started") == w.share(w.ours.id("settle")));
}

TEST_CASE("scheduler.java_marks: our registrations go with the item, and nothing is registered without Java members") {
    once_listeners w;
    w.join_java();
    w.c.create("/settle/guarantee");
    w.c.run_for(2s);
    REQUIRE(w.registered("started") == w.share(w.ours.id("settle")));
    auto& second = w.c.add("10.0.0.4");
    REQUIRE(second.schedule(make_job("settle", "0 * * * * ?", 4)));
    w.c.run_for(5s);
    auto expected = w.share(w.ours.id("settle"));
    for (auto const i : w.share(second.id("settle"))) expected.push_back(i);
    std::sort(expected.begin(), expected.end());
    CHECK(w.registered("started") == expected);

    w.c.wait_for(w.java.remove(cluster::parsed("/settle/instances/" + w.java_id))).value();
    w.c.run_for(2s);
    for (auto const i : w.registered("started")) w.c.remove(w.latch("started") + "/" + std::to_string(i));
    w.c.run_for(120s);
    CHECK(w.registered("started").empty());
}

TEST_CASE("scheduler.java_marks: beside Java members without once listeners, an idle member reads nothing again") {
    once_listeners w;
    w.join_java();
    w.c.run_for(15s); // an audit follows the sharding
    auto const before = w.c.server.counts().reads;
    w.c.run_for(30s);
    CHECK(w.c.server.counts().reads == before);
    w.next_minute();
    CHECK(w.registered("started").empty());
    (void)w.register_java("started"); // now there is one
    w.c.run_for(1s);
    CHECK(w.registered("started") == std::vector<item_index>{0, 1, 2, 3});
}
