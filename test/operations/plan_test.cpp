// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/operations/plan.hpp>

#include <elasticjob/allocation/average.hpp>
#include <elasticjob/allocation/label.hpp>
#include <elasticjob/allocation/sticky.hpp>
#include <elasticjob/allocation/weighted.hpp>

#include <support/cluster.hpp>

#include <doctest/doctest.h>

#include <stdexcept>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

using moves = std::vector<planned_move>;

instance_id id(std::string const& text) { return text.empty() ? instance_id{} : instance_id::parse(text).value(); }

std::vector<std::string> everything(cluster const& c) {
    std::vector<std::string> lines;
    c.server.tree().for_each([&](std::string const& p, node const& n) {
        lines.push_back(p + " " + n.data + " v" + std::to_string(n.stat.version));
    });
    return lines;
}

/// Two instances, the first of which (member 1) has the items 0 and 1.
struct world : cluster {
    world() {
        for (int i = 0; i != 2; ++i) REQUIRE(add().schedule(make_job("settle", never, 4)));
        run_for(1s);
        REQUIRE(owners("settle", 4) == std::vector<std::string>{who(1), who(1), who(0), who(0)});
    }
    std::string who(std::size_t number) const { return members[number]->id("settle"); }

    /// Asks as an outside client, which leaves no trace.
    template <class Strategy>
    result<job_plan> ask(job_change change) {
        auto const before = everything(*this);
        auto answer = plan<Strategy>(by_hand, "settle", std::move(change));
        CHECK(everything(*this) == before);
        return answer;
    }
};

struct Throws {
    static constexpr std::string_view name = "com.example.Throws";
    closed_form operator()(sharding_request const&) const { throw std::runtime_error{"no idea"}; }
};

} // namespace

TEST_CASE("operations.plan: the planned moves are the moves that follow") {
    world w;
    auto const joined = w.ask<AverageAllocation>({.joining = {{.instance = "10.0.0.3"}}}).value();
    CHECK_FALSE(joined.changes_strategy);
    CHECK(joined.strategy_now == AverageAllocation::name);
    auto const owners = w.owners("settle", 4);
    auto& third = w.add();
    REQUIRE(third.schedule(make_job("settle", never, 4)));
    w.run_for(1s);
    std::vector<std::string> expected = owners;
    for (auto const& m : joined.moves)
        for (auto i = m.begin; i != m.end; ++i)
            expected[i] = m.to.server() == "10.0.0.3" ? third.id("settle") : m.to.str();
    CHECK(w.owners("settle", 4) == expected);
    CHECK(joined.moved == 2);

    auto const left = w.ask<AverageAllocation>({.leaving = {third.id("settle")}}).value();
    CHECK(left.moved == 2);
    REQUIRE(third.shutdown("settle"));
    w.run_for(1s);
    CHECK(w.owners("settle", 4) == owners);
}

TEST_CASE("operations.plan: another count, another strategy, no instances left") {
    world w;
    auto const more = w.ask<AverageAllocation>({.item_count = 6}).value();
    CHECK(more.moves == moves{{2, 3, id(w.who(0)), id(w.who(1))}, {4, 6, id(""), id(w.who(0))}});
    CHECK(more.kept == 3);

    auto const sticky = w.ask<StickyAllocation>({.item_count = 6}).value();
    CHECK(sticky.changes_strategy);
    CHECK(sticky.moves == moves{{4, 5, id(""), id(w.who(1))}, {5, 6, id(""), id(w.who(0))}});

    auto const all_gone = w.ask<AverageAllocation>({.leaving = {w.who(0), w.who(1)}}).value();
    CHECK(all_gone.left == 4);
    CHECK(to_text(all_gone) == "4 items move, 0 stay, 4 have no owner, 0 no longer exist\n"
                             "items 0 to 1: from " +
                                 w.who(1) +
                                 " to nobody\n"
                                 "items 2 to 3: from " +
                                 w.who(0) + " to nobody\n" + w.who(1) + ": 2 -> 0\n" + w.who(0) + ": 2 -> 0\n");
}

TEST_CASE("operations.plan: a server that is disabled gets nothing, as with the leader") {
    world w;
    REQUIRE(w.members[1]->disable("settle"));
    w.run_for(1s);
    auto const p = w.ask<AverageAllocation>({}).value();
    CHECK(p.moved == 0);
    CHECK(p.shares == std::vector<planned_share>{{id(w.who(0)), 4, 4}});
}

TEST_CASE("operations.plan: weights and labels of present and planned instances") {
    world w;
    w.create("/settle/ext/instances");
    w.create("/settle/ext/instances/" + w.who(0), "weight 3\nlabels \n");
    CHECK(w.ask<WeightedAllocation>({}).value().shares ==
          std::vector<planned_share>{{id(w.who(1)), 2, 1}, {id(w.who(0)), 2, 3}});
    auto const three = w.ask<WeightedAllocation>({.joining = {{.instance = "10.0.0.9@-@1", .weight = 12}}}).value();
    CHECK(three.shares.front() == planned_share{id("10.0.0.9@-@1"), 0, 3});

    CHECK(w.ask<LabelAllocation>({.item_labels = "0-2=gpu"}).value().left == 3);
    auto const gpu =
        w.ask<LabelAllocation>({.joining = {{.instance = "10.0.0.9", .labels = "gpu"}}, .item_labels = "0-2=gpu"});
    CHECK(gpu->left == 0);
    CHECK(gpu->shares.front().then == 3);
    w.create("/settle/ext/labels", "0=gpu");
    CHECK(w.ask<LabelAllocation>({}).value().left == 1);
    CHECK(w.ask<LabelAllocation>({.item_labels = ""}).value().left == 0);
    w.set("/settle/ext/labels", "gpu");
    CHECK(w.ask<LabelAllocation>({}).error() == errc::invalid_config);
    CHECK(w.ask<AverageAllocation>({})); // this strategy ignores it
}

TEST_CASE("operations.plan: where a Java member has sharded, the items' nodes count") {
    world w;
    for (int i = 0; i != 4; ++i) w.set("/settle/sharding/" + std::to_string(i) + "/instance", w.who(0));
    auto const p = w.ask<AverageAllocation>({}).value();
    CHECK(p.shares == std::vector<planned_share>{{id(w.who(1)), 0, 2}, {id(w.who(0)), 4, 2}});
}

TEST_CASE("operations.plan: names the reason if it cannot plan") {
    world w;
    CHECK(w.ask<AverageAllocation>({.leaving = {"10.0.0.9@-@1"}}).error() == errc::invalid_argument);
    CHECK(w.ask<AverageAllocation>({.joining = {{.instance = w.who(0)}}}).error() == errc::invalid_argument);
    CHECK(w.ask<AverageAllocation>({.joining = {{.instance = "a/b"}}}).error() == errc::malformed_data);
    CHECK(w.ask<AverageAllocation>({.item_count = 0}).error() == errc::invalid_argument);
    CHECK(w.ask<Throws>({}).error() == errc::job_threw);
    CHECK(plan<AverageAllocation>(w.by_hand, "other").error() == errc::no_node);
    CHECK(plan<AverageAllocation>(w.by_hand, "a/b").error() == errc::invalid_argument);
}
