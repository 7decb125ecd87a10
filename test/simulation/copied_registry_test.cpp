// SPDX-License-Identifier: Apache-2.0
// The znodes are copied to another ensemble, whose revisions start again.
#include <simulation/small_cluster.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace elasticjob::testing;

namespace {

/// Each run of an item has a greater token than all before it.
struct tokens_grow {
    static constexpr std::string_view name = "tokens grow";
    std::shared_ptr<std::map<item_index, std::int64_t>> last = std::make_shared<std::map<item_index, std::int64_t>>();

    std::string on(observation const& o, cluster_view const&) const {
        if (o.what != kind::started) return {};
        auto const before = std::exchange((*last)[o.item], o.token);
        if (before < o.token) return {};
        return "item " + std::to_string(o.item) + " has the token " + std::to_string(o.token) + " after " +
               std::to_string(before);
    }
};

/// All persistent nodes, parents first, as a tool for copying finds them.
std::map<std::string, std::string> persistent_nodes(small_cluster& c) {
    std::map<std::string, std::string> found;
    c.s.server().tree().for_each([&](std::string const& path, node const& n) {
        if (n.stat.owner == 0) found[path] = n.data;
    });
    return found;
}

} // namespace

TEST_CASE("simulation.copied_registry: tokens go on growing, old orders are not carried out, and new ones are") {
    tokens_grow const tokens;
    std::map<std::string, std::string> copy;
    {
        small_cluster c{every_five_seconds(2), 2};
        c.s.add_invariant(tokens);
        c.start();
        for (int n = 0; n < 40; ++n) {
            c.trigger(0);
            c.run_for(1s);
        }
        REQUIRE(c.wrong() == "");
        c.s.stop_all();
        copy = persistent_nodes(c);
    }
    auto const before = *tokens.last;
    REQUIRE(before.size() == 2);

    small_cluster c{hourly(2), 2}; // so that nothing but orders makes items run
    c.s.add_invariant(tokens);
    copy.erase(c.at.config().str());
    for (auto const& [text, data] : copy)
        if (auto const path = node_path::parse(text).value(); !c.find(path)) c.create(path, data);
    c.start();
    REQUIRE(c.find(c.at.run_record(0))->stat.modified < before.at(0)); // the revisions do start again
    CHECK(c.count(kind::started) == 0);
    c.trigger(0);
    c.run_for(1s);
    CHECK(c.wrong() == "");
    for (item_index const i : {0U, 1U}) {
        CHECK(c.starts(i).size() == 1);
        CHECK(c.record(i).copies == 1);
    }
    CHECK(c.count(kind::trouble) == 2); // one for each item

    c.trigger(0); // which the record no longer takes for a copy
    c.run_for(1s);
    CHECK(c.wrong() == "");
    CHECK(c.starts(0).size() == 2);
    CHECK(c.record(0).copies == 1);
}
