// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/registry/zk/ephemeral_table.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace elasticjob;
using zk::ephemeral_table;

namespace {

node_path at(std::string const& name) { return node_path{} / name; }
constexpr std::size_t counted = 100; ///< the bytes of each node below
node_path node_of(int n) {
    auto const digits = std::to_string(n);
    return at(std::string(counted - 4 - 1 - 5 - digits.size(), 'n') + digits); // the length, a slash, the prefix
}

/// Creates this many nodes. Returns the number of admitted ones.
int fill(ephemeral_table& t, int count) {
    int admitted = 0;
    for (int n = 0; n < count; ++n) {
        auto const c = t.reserve_create(node_of(n), create_mode::ephemeral);
        if (!c) break;
        t.settle(*c, true, true);
        ++admitted;
    }
    return admitted;
}

} // namespace

TEST_CASE("zk.ephemeral_table: refuses nodes that would not fit into the transaction that ends the session") {
    ephemeral_table t{5};
    constexpr int most = ephemeral_table::bytes_max / counted;
    CHECK(fill(t, most + 1) == most);
    auto const refused = t.reserve_create(node_of(most), create_mode::ephemeral);
    REQUIRE(!refused);
    CHECK(refused.error() == errc::too_large);
    CHECK(refused.error().what.find("another ZkRegistry") != std::string::npos);
    CHECK(t.reserve_create(node_of(0), create_mode::ephemeral)); // it counts from now on
    CHECK(t.reserve_create(node_of(most), create_mode::persistent));

    t.settle(t.reserve_remove(node_of(7)), true, true);
    auto const next = t.reserve_create(node_of(most), create_mode::ephemeral);
    REQUIRE(next);
    CHECK(!t.reserve_create(node_of(most + 1), create_mode::ephemeral)); // pending creations count
    t.settle(*next, false, false);
    CHECK(t.reserve_create(node_of(most + 1), create_mode::ephemeral));
    t.clear();
    CHECK(t.bytes() == 0);
    t.settle(*next, true, true); // belongs to the former session
    CHECK(t.bytes() == 0);
}

TEST_CASE("zk.ephemeral_table: a transaction counts as a whole, and an unknown outcome counts as a success") {
    ephemeral_table t{5};
    transaction start{session_generation::current()};
    start.check_absent(at("disabled")).create(node_of(1), {}, create_mode::ephemeral).create(at("record"), {});
    auto const c = t.reserve(start.operations());
    REQUIRE(c);
    CHECK(t.bytes() == counted);
    t.settle(*c, false, true);
    CHECK(t.bytes() == counted);

    transaction replace{session_generation::current()};
    replace.remove(node_of(1)).create(node_of(1), {}, create_mode::ephemeral);
    auto const again = t.reserve(replace.operations());
    REQUIRE(again);
    t.settle(*again, true, true);
    CHECK(t.bytes() == counted);

    auto const gone = t.reserve_remove(node_of(1));
    t.settle(gone, false, true); // it may still exist
    CHECK(t.bytes() == counted);
    t.settle(gone, true, true);
    CHECK(t.bytes() == 0);
}
