// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/execution/running_marks.hpp>

#include <support/job_world.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

using items = std::vector<item_index>;

struct shop : job_world {
    instance_id self = instance_id::parse("10.0.0.1@-@1-a").value();
    instance_id other = instance_id::parse("10.0.0.2@-@2-b").value();
    running_marks<session_type> mine{one, at, self};
    running_marks<session_type> theirs{two, at, other};

    explicit shop(item_index count, memory_server_options o = {}) : job_world{o} {
        create_as(one, at.instance(self), {}, create_mode::ephemeral);
        create_as(two, at.instance(other), {}, create_mode::ephemeral);
        create(at.assignment(), "v0");
        for (item_index i = 0; i < count; ++i) create(at.item_instance(i), self.str());
    }

    item_claim claim(items const& which) const {
        item_claim c;
        for (auto const i : which) c.shares.push_back({i, {}});
        c.common.push_back({at.assignment(), find(at.assignment())->stat.version});
        return c;
    }
    /// As a member claims after a Java leader has sharded.
    item_claim claim_by_nodes(items const& which) const {
        item_claim c;
        for (auto const i : which)
            c.shares.push_back({i, {{at.item_instance(i), find(at.item_instance(i))->stat.version}}});
        return c;
    }
    result<start_report> start(item_claim c) { return wait_for(mine.start(one.session().generation, std::move(c))); }
    void finish(items which) {
        auto run = [](running_marks<session_type>& m, session_generation g, items i) -> task<result<void>> {
            co_await m.finish(g, std::move(i));
            co_return success();
        };
        wait_for(run(mine, one.session().generation, std::move(which))).value();
    }
    bool is_marked_by(session_type& r, item_index i) const {
        auto const* n = find(at.item_running(i));
        return n && n->stat.owner == r.session().id;
    }
    items marked(item_index count) const {
        items all;
        for (item_index i = 0; i < count; ++i)
            if (has(at.item_running(i))) all.push_back(i);
        return all;
    }
};

} // namespace

TEST_CASE("execution.running_marks: a hundred items start with one request and end with one") {
    shop s{100};
    items all;
    for (item_index i = 0; i < 100; ++i) all.push_back(i);
    s.server.counts() = {};
    auto const report = s.start(s.claim(all));
    REQUIRE(report);
    CHECK(report->started == all);
    CHECK(s.server.counts().writes == 1);
    CHECK(s.server.counts().reads == 0);
    CHECK(s.marked(100) == all);
    s.finish(all);
    CHECK(s.server.counts().writes == 2);
    CHECK(s.server.counts().reads == 0);
    CHECK(s.marked(100).empty());
}

TEST_CASE("execution.running_marks: disabled items, those that run elsewhere and those of others are told apart") {
    shop s{6};
    s.create(s.at.item_disabled(1));
    s.create_as(s.two, s.at.item_running(2), {}, create_mode::ephemeral);
    s.set(s.at.item_instance(3), s.other.str());
    s.remove(s.at.item_instance(4));
    auto const report = s.start(s.claim({0, 1, 2, 3, 4, 5, 9}));
    REQUIRE(report);
    CHECK(report->disabled == items{1});
    CHECK(report->running_elsewhere == items{2});
    CHECK(report->unclaimed == items{3, 4, 9});
    CHECK(report->started == items{0, 5});
    CHECK(s.marked(6) == items{0, 2, 5});
    CHECK_FALSE(s.has(s.at.item_disabled(0))); // the check for absence leaves nothing
}

TEST_CASE("execution.running_marks: nothing starts when the assignment is no longer the one that was claimed by (D-13)") {
    shop s{2};
    auto const claim = s.claim({0, 1});
    s.set(s.at.assignment(), "v1");
    auto const report = s.start(claim);
    REQUIRE(report);
    CHECK(report->unclaimed == items{0, 1});
    CHECK(s.marked(2).empty());
}

TEST_CASE("execution.running_marks: nothing starts on an instance whose node is gone") {
    shop s{1};
    s.remove(s.at.instance(s.self));
    auto const report = s.start(s.claim({0}));
    REQUIRE(report);
    CHECK(report->unclaimed == items{0});
    CHECK(s.marked(1).empty());
}

TEST_CASE("execution.running_marks: an item claimed by its own node starts only while that has not been written") {
    shop s{2};
    auto const claim = s.claim_by_nodes({0, 1});
    s.set(s.at.item_instance(1), s.self.str()); // by somebody, though with the same content
    auto const report = s.start(claim);
    REQUIRE(report);
    CHECK(report->started == items{0});
    CHECK(report->unclaimed == items{1});
}

TEST_CASE("execution.running_marks: whichever request or reply is lost, what is reported started is marked, and nothing else") {
    for (std::uint64_t n = 0; n < 6; ++n)
        for (auto const fate : {request_fate::request_lost, request_fate::reply_lost}) {
            INFO("request " << n);
            shop s{3};
            s.create(s.at.item_disabled(1));
            std::optional<result<start_report>> report;
            {
                losing const network{s.server, losing::nth(s.one.session().id, n, fate)};
                report = s.start(s.claim({0, 1, 2}));
            }
            if (*report)
                CHECK(s.marked(3) == (*report)->started);
            else
                CHECK(s.marked(3).empty());
        }
}

TEST_CASE("execution.running_marks: whichever request or reply is lost, the marks go at the end") {
    for (std::uint64_t n = 0; n < 6; ++n)
        for (auto const fate : {request_fate::request_lost, request_fate::reply_lost}) {
            INFO("request " << n);
            shop s{2};
            REQUIRE(s.start(s.claim({0, 1})));
            losing const network{s.server, losing::nth(s.one.session().id, n, fate)};
            s.finish({0, 1});
            CHECK(s.marked(2).empty());
        }
}

TEST_CASE("execution.running_marks: a mark is only taken away by the session that set it") {
    shop s{2};
    REQUIRE(s.start(s.claim({0, 1})));
    s.remove(s.at.item_running(0)); // an operator thought it was stale,
    s.create_as(s.two, s.at.item_running(0), {}, create_mode::ephemeral); // and another has started the item since
    s.remove(s.at.item_running(1));
    s.finish({1, 0});
    CHECK(s.is_marked_by(s.two, 0));
}

TEST_CASE("execution.running_marks: more items than fit into one request start in several") {
    memory_server_options o;
    o.limits.operations_max = 11; // two checks and three operations an item
    shop s{8, o};
    items const all{0, 1, 2, 3, 4, 5, 6, 7};
    s.server.counts() = {};
    auto const report = s.start(s.claim(all));
    REQUIRE(report);
    CHECK(report->started == all);
    CHECK(s.server.counts().writes == 3);
    s.finish(all);
    CHECK(s.marked(8).empty());
}

TEST_CASE("execution.running_marks: marked again under a new session, unless somebody else has started the item") {
    shop s{3};
    REQUIRE(s.start(s.claim({0, 1})));
    post(s.loop, [&] { s.one.expire(); });
    s.loop.run_ready();
    CHECK(s.marked(3).empty());
    s.create_as(s.two, s.at.item_running(1), {}, create_mode::ephemeral);
    auto again = [](running_marks<session_type>& m, session_generation g, item_index i) -> task<result<bool>> {
        co_return co_await m.mark_again(g, i);
    };
    auto const g = s.one.session().generation;
    CHECK(s.wait_for(again(s.mine, g, 0)).value());
    CHECK_FALSE(s.wait_for(again(s.mine, g, 1)).value());
    CHECK(s.is_marked_by(s.one, 0));
    CHECK(s.is_marked_by(s.two, 1));
    for (std::uint64_t n = 0; n < 3; ++n)
        for (auto const fate : {request_fate::request_lost, request_fate::reply_lost}) {
            losing const network{s.server, losing::nth(s.one.session().id, n, fate)};
            CHECK(s.wait_for(again(s.mine, g, 2)).value());
            CHECK(s.is_marked_by(s.one, 2));
            s.finish({2});
        }
}

TEST_CASE("execution.running_marks: with the registry away for good, starting and finishing end with the session") {
    shop s{2};
    REQUIRE(s.start(s.claim({0})));
    post(s.loop, [&] { s.one.disconnect(); });
    s.finish({0});
    CHECK_FALSE(s.start(s.claim({1})));
    CHECK(s.loop.now().time_since_epoch() <= 11s);
}

TEST_CASE("execution.running_marks: when a later request of a start fails, what has been started is not forgotten") {
    memory_server_options o;
    o.limits.operations_max = 11;
    for (std::uint64_t n = 0; n < 12; ++n)
        for (auto const fate : {request_fate::request_lost, request_fate::reply_lost}) {
            INFO("request " << n);
            shop s{8, o};
            s.create(s.at.item_disabled(4));
            std::optional<result<start_report>> report;
            {
                losing const network{s.server, losing::nth(s.one.session().id, n, fate)};
                report = s.start(s.claim({0, 1, 2, 3, 4, 5, 6, 7}));
            }
            if (*report)
                CHECK(s.marked(8) == (*report)->started);
            else
                CHECK(s.marked(8).empty());
        }
}
