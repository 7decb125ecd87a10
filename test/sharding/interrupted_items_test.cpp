// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/sharding/interrupted_items.hpp>

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace elasticjob;
using detail::unattended_items;

namespace {

instance_id id_of(char const* text) { return instance_id::parse(text).value(); }

instance_id const ours_1 = id_of("10.0.0.1@-@1-x");
instance_id const ours_2 = id_of("10.0.0.2@-@2-x");
instance_id const java = id_of("10.0.0.3@-@3");
instance_id const gone = id_of("10.0.0.4@-@4-x");

using items = std::vector<item_index>;

item_nodes nodes(std::vector<std::string> const& owners) {
    std::map<item_index, item_nodes::reading> read;
    for (item_index i = 0; i < owners.size(); ++i) read[i].instance = node{owners[i], {}};
    return item_nodes{std::move(read)};
}

} // namespace

TEST_CASE("sharding.interrupted_items: the items of Java members are divided among our available instances") {
    std::vector<instance_id> const all{java, ours_2, ours_1};
    auto const owners = nodes({java.str(), java.str(), ours_1.str(), java.str(), ours_2.str()});
    auto const two = unattended_items(owners, 5, all, all, ours_2, false);
    auto const one = unattended_items(owners, 5, all, all, ours_1, false);
    CHECK(two.items == items{0});
    CHECK(one.items == items{1, 3});
    CHECK_FALSE(one.has_orphans);
    // A disabled instance looks after nothing, and the others after its share.
    CHECK(unattended_items(owners, 5, all, {java, ours_1}, ours_2, false).items.empty());
    CHECK(unattended_items(owners, 5, all, {java, ours_1}, ours_1, false).items == items{0, 1, 3});
}

TEST_CASE("sharding.interrupted_items: items whose owner is gone wait for a leader of ours, and not for one of Java's") {
    std::vector<instance_id> const all{java, ours_1};
    auto const owners = nodes({gone.str(), "", java.str()});
    auto const under_ours = unattended_items(owners, 4, all, all, ours_1, false);
    CHECK(under_ours.items == items{2});
    CHECK(under_ours.has_orphans);
    auto const under_java = unattended_items(owners, 4, all, all, ours_1, true);
    CHECK(under_java.items == items{0, 1, 2, 3});
    CHECK(under_java.has_orphans);
}
