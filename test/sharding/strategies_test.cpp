// SPDX-License-Identifier: Apache-2.0
// The information that a leader gives its strategy, and its use of the answer: with strategies that ask for more than
// the classic ones, and some that are wrong.
#include <elasticjob/sharding/resharder.hpp>

#include <elasticjob/allocation/label.hpp>
#include <elasticjob/allocation/owner_table.hpp>
#include <elasticjob/allocation/sticky.hpp>
#include <elasticjob/allocation/weighted.hpp>
#include <elasticjob/sharding/traits_view.hpp>

#include <support/sharded_world.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <new>
#include <stdexcept>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

using names = std::vector<std::string>;

/// The world's leader with another strategy.
template <class Strategy>
struct led_by : sharded_world {
    using sharded_world::sharded_world;
    resharder<session_type> strategist{one, at, detail::strategy_ref::of<Strategy>()};

    result<sharding_report> reshard(sharding_basis b) {
        auto done = wait_for(strategist.shard(*view, std::move(b)));
        loop.run_for(1s);
        return done;
    }
    result<sharding_report> reshard(std::uint32_t count) { return reshard(basis(count)); }
    void leave(int n) {
        remove(at.instance(id_of(n)));
        loop.run_for(1s);
    }
    void enter(int n) {
        join(n, by_hand);
        loop.run_for(1s);
    }
};

assignment written(sharded_world const& w) { return assignment::parse(w.data(w.at.assignment())).value(); }

bool nodes_agree(sharded_world const& w) {
    auto const a = written(w);
    for (item_index i = 0; i < a.items(); ++i)
        if (owner_in(w.data(w.at.item_instance(i))) != a.owner_id(i).str()) return false;
    return true;
}

std::ptrdiff_t count_of(names const& owners, int n) { return std::ranges::count(owners, id_of(n).str()); }

} // namespace

TEST_CASE("sharding.resharder: a sticky strategy knows the former owners, so only the items that must move do") {
    led_by<StickyAllocation> w{2};
    REQUIRE(w.reshard(9)->moved == 9);
    auto const two = w.owners(9);
    w.enter(3);
    auto const grown = w.reshard(9);
    REQUIRE(grown);
    CHECK(grown->moved == 3);
    auto const three = w.owners(9);
    for (int n = 1; n <= 3; ++n) CHECK(count_of(three, n) == 3);
    for (std::size_t i = 0; i != 9; ++i)
        if (three[i] != id_of(3).str()) CHECK(three[i] == two[i]);

    w.leave(2);
    auto const shrunk = w.reshard(9);
    REQUIRE(shrunk);
    CHECK(shrunk->moved == 3);
    for (std::size_t i = 0; i != 9; ++i)
        if (three[i] != id_of(2).str()) CHECK(w.owners(9)[i] == three[i]);

    CHECK(w.reshard(12)->moved == 3); // more items: only the new ones have no owner yet
    CHECK(w.reshard(8)->moved == 0);
    CHECK(nodes_agree(w));
}

TEST_CASE("sharding.resharder: released items have no owner for a sticky strategy") {
    led_by<StickyAllocation> w{3};
    REQUIRE(w.reshard(9));
    auto const before = w.owners(9);
    auto released = written(w);
    released.release(id_of(2));
    transaction t{w.by_hand.session().generation};
    t.set(w.at.assignment(), released.to_text()).set(w.at.item_instance(0), released.owner_id(0).str());
    for (item_index i = 1; i != 9; ++i) t.set(w.at.item_instance(i), released.owner_id(i).str());
    t.remove(w.at.instance(id_of(2)));
    REQUIRE(w.wait_for(w.by_hand.commit(std::move(t))).value());
    w.loop.run_for(1s);
    REQUIRE(w.reshard(9)->moved == 3);
    for (std::size_t i = 0; i != 9; ++i)
        if (before[i] != id_of(2).str()) CHECK(w.owners(9)[i] == before[i]);
}

TEST_CASE("sharding.resharder: after a Java leader has sharded, its owners count as the former owners") {
    led_by<StickyAllocation> w{2};
    REQUIRE(w.reshard(4));
    w.java_shards({id_of(1).str(), id_of(2).str(), id_of(1).str(), "10.0.0.9@-@9"});
    w.loop.run_for(1s);
    REQUIRE_FALSE(w.view->assignment_in_force());
    REQUIRE(w.reshard(4)->moved == 1);
    CHECK(w.owners(4) == names{id_of(1).str(), id_of(2).str(), id_of(1).str(), id_of(2).str()});
}

TEST_CASE(
    "sharding.resharder: weights are read, checked when the assignment is written, and noticed when they change") {
    led_by<WeightedAllocation> w{2};
    w.create(w.at.traits_of(id_of(2)), "weight 3\nlabels \n");
    std::unique_ptr<traits_view<session_type>> traits;
    post(w.loop, [&] { traits = std::make_unique<traits_view<session_type>>(w.one, w.at, w.news); });
    w.loop.run_for(1s);
    REQUIRE(traits->is_loaded());
    auto const basis = [&] {
        auto b = w.basis(8);
        b.traits = traits->traits_of(b.instances, 8).value();
        return b;
    };
    REQUIRE(w.reshard(basis()));
    CHECK(count_of(w.owners(8), 2) == 6);
    CHECK_FALSE(w.strategist.is_outdated(*w.view, basis()));
    CHECK(written(w).traits_print() == basis().traits.print());

    auto const decided = basis();
    w.set(w.at.traits_of(id_of(2)), "weight 1\nlabels \n");
    auto const stale = w.wait_for(w.strategist.shard(*w.view, decided));
    REQUIRE_FALSE(stale);
    CHECK(is_conflict(stale.error().code));
    w.loop.run_for(1s);
    CHECK(w.strategist.is_outdated(*w.view, basis()));
    REQUIRE(w.reshard(basis()));
    CHECK(count_of(w.owners(8), 2) == 4);
    CHECK(basis().traits.print() == 0); // all as by default
    post(w.loop, [&] { traits.reset(); });
    w.loop.run_for(1s);
}

TEST_CASE("sharding.resharder: items that no instance can own name nobody, in one transaction and in several") {
    for (std::size_t const operations : {std::size_t{1000}, std::size_t{16}}) {
        memory_server_options o;
        o.limits.operations_max = operations;
        led_by<LabelAllocation> w{2, o};
        auto b = w.basis(20);
        node const needs{"0-4=gpu,10=gpu", {}};
        REQUIRE(b.traits.read_needs(w.at.config(), &needs, 20));
        for (std::size_t i = 0; i != b.instances.size(); ++i) b.traits.add_instance(w.at.config(), nullptr);
        auto const done = w.reshard(b);
        REQUIRE(done);
        CHECK(done->left == 6);
        CHECK(nodes_agree(w));
        CHECK(w.owners(20)[0] == "");
        CHECK(w.owners(20)[10] == "");
        CHECK(count_of(w.owners(20), 1) == 7);
        CHECK_FALSE(w.strategist.is_outdated(*w.view, b));
        for (auto const i : written(w).items_of(id_of(1))) CHECK(w.owners(20)[i] == id_of(1).str());
    }
}

namespace {

/// Wrong in one way each.
struct GivesToNobodyElse {
    static constexpr std::string_view name = "com.example.GivesToNobodyElse";
    auto operator()(sharding_request const& r) const {
        return basic_stored_runs<true>{r.instance_count() + 5, {{r.item_count, r.instance_count() + 1}}};
    }
};
struct LeavesUnannounced {
    static constexpr std::string_view name = "com.example.LeavesUnannounced";
    struct answer : basic_stored_runs<true> {
        using basic_stored_runs<true>::basic_stored_runs;
        static constexpr bool may_leave_items = false;
    };
    auto operator()(sharding_request const& r) const {
        return answer{r.instance_count(), {{r.item_count - 1, 0}, {r.item_count, no_slot}}};
    }
};
struct ForgetsHalf {
    static constexpr std::string_view name = "com.example.ForgetsHalf";
    closed_form operator()(sharding_request const& r) const { return {r.instance_count(), r.item_count / 2}; }
};
struct CountsOneMore {
    static constexpr std::string_view name = "com.example.CountsOneMore";
    closed_form operator()(sharding_request const& r) const { return {r.instance_count() + 1, r.item_count}; }
};
struct RunsOutOfMemory {
    static constexpr std::string_view name = "com.example.RunsOutOfMemory";
    closed_form operator()(sharding_request const&) const { throw std::bad_alloc{}; }
};

} // namespace

TEST_CASE_TEMPLATE("sharding.resharder: a wrong strategy changes nothing, and is named", Strategy, GivesToNobodyElse,
                   LeavesUnannounced, ForgetsHalf, CountsOneMore, RunsOutOfMemory) {
    led_by<Strategy> w{2};
    REQUIRE(w.shard(4)); // by another
    auto const before = w.owners(4);
    auto const done = w.reshard(4);
    REQUIRE_FALSE(done);
    CHECK((done.error() == errc::job_failed || done.error() == errc::job_threw));
    CHECK(done.error().what.find("stays as it is") != std::string::npos);
    CHECK(w.owners(4) == before);
}

namespace {

struct LeavesHalf {
    static constexpr std::string_view name = "com.example.LeavesHalf";
    auto operator()(sharding_request const& r) const {
        return basic_stored_runs<true>{r.instance_count(), {{r.item_count / 2, 0}, {r.item_count, no_slot}}};
    }
};

} // namespace

TEST_CASE("sharding.resharder: items that a strategy leaves lose their owners, in several transactions, too (SH-5)") {
    for (std::size_t const operations : {200U, 16U}) {
        memory_server_options o;
        o.limits.operations_max = operations;
        led_by<LeavesHalf> w{2, o};
        REQUIRE(w.shard(60)); // by another
        REQUIRE(w.reshard(60));
        CHECK(w.second->assignment_in_force());
        CHECK(nodes_agree(w));
        // The console of 2.1.5 cuts each owner at "@-@" and needs both parts.
        for (item_index i = 30; i < 60; ++i) CHECK(w.data(w.at.item_instance(i)) == "-@-@-");
        REQUIRE(w.shard(60));
        CHECK(nodes_agree(w));
    }
}
