// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/sharding/in_force.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;

namespace {

std::optional<node> written(std::string data, revision modified) {
    node n;
    n.data = std::move(data);
    n.stat.modified = modified;
    return n;
}

instance_id const a = instance_id::parse("10.0.0.1@-@11").value();
instance_id const b = instance_id::parse("10.0.0.2@-@22").value();
std::optional<node> const named = written(b.str(), 9);

assignment const both_to_a{1, "s", {a}, closed_form{1, 2}};

} // namespace

TEST_CASE("sharding.in_force: the assignment counts if it was written together with the first item's node") {
    auto const text = both_to_a.to_text();
    CHECK(assignment_in_force(written(text, 7), written(a.str(), 7)).value() == both_to_a);
    CHECK_FALSE(assignment_in_force(written(text, 7), written(b.str(), 8)).value()); // a Java leader has sharded since
    CHECK_FALSE(assignment_in_force(written(text, 7), std::nullopt).value());
    CHECK_FALSE(assignment_in_force(std::nullopt, written(a.str(), 7)).value());
    CHECK(assignment_in_force(written("nonsense", 7), written(a.str(), 7)).error() == errc::malformed_data);
    CHECK_FALSE(assignment_in_force(written("nonsense", 7), written(a.str(), 8)).value());
}

TEST_CASE("sharding.in_force: the owner comes from the assignment, or else from the item's node") {
    std::optional const in_force = both_to_a;
    CHECK(owner_of(in_force, named, 1) == a.str());
    CHECK(owner_of(in_force, named, 2).empty()); // the job has no such item any more, or not yet
    CHECK(owner_of(std::nullopt, named, 1) == b.str());
    CHECK(owner_of(std::nullopt, written("-@-@-", 9), 1).empty());
    CHECK(owner_of(std::nullopt, std::nullopt, 1).empty());
}
