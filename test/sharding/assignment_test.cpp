// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/sharding/assignment.hpp>

#include <elasticjob/allocation/average.hpp>
#include <elasticjob/allocation/stored_runs.hpp>
#include <elasticjob/allocation/odevity.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;

namespace {

std::vector<instance_id> ids(int n) {
    std::vector<instance_id> all;
    for (int i = n; i > 0; --i) all.push_back(instance_id::parse("10.0.0." + std::to_string(i) + "@-@7").value());
    return all;
}

/// Follows no pattern, so that it has to be stored as runs.
struct irregular {
    std::uint32_t instances() const { return 3; }
    std::uint32_t items() const { return 7; }
    slot_index owner(item_index i) const { return i < 3 ? 2 : i == 3 ? 0 : 1; }
    std::vector<item_index> items_of(slot_index s) const {
        std::vector<item_index> all;
        for (item_index i = 0; i < 7; ++i)
            if (owner(i) == s) all.push_back(i);
        return all;
    }
};

} // namespace

TEST_CASE("sharding.assignment: its text is as long for ten million items as for ten") {
    auto const three = ids(3);
    assignment const small{4, "s", three, AverageAllocation{}(sharding_request{"j", three, 10})};
    assignment const large{4, "s", three, AverageAllocation{}(sharding_request{"j", three, 10'000'000})};
    CHECK(small.to_text() == "elasticjob assignment 1\nepoch 4\nstrategy s\npublished yes\ninstance 10.0.0.3@-@7\n"
                             "instance 10.0.0.2@-@7\ninstance 10.0.0.1@-@7\naverage 10 straight 0\n");
    CHECK(large.to_text().size() == small.to_text().size() + 6);
}

TEST_CASE("sharding.assignment: read back it is the same") {
    auto const three = ids(3);
    auto same = [](assignment const& a) {
        auto const read = assignment::parse(a.to_text());
        REQUIRE(read);
        CHECK(*read == a);
    };
    same({1, "s", three, AverageAllocation{}(sharding_request{"j", three, 8})});
    same({2, "s", three, OdevitySortByName{}(sharding_request{"k", three, 8})});
    assignment odd{18'446'744'073'709'551'615U, "s", three, irregular{}};
    odd.set_published(false);
    odd.release(three[1]);
    same(odd);
    CHECK_FALSE(assignment::parse(odd.to_text())->is_published());
}

TEST_CASE("sharding.assignment: the owner of each item") {
    auto const three = ids(3);
    assignment a{1, "s", three, AverageAllocation{}(sharding_request{"j", three, 8})};
    CHECK(a.items() == 8);
    CHECK(a.items_of(three[0]) == std::vector<item_index>{0, 1, 6});
    CHECK(a.owner_id(7) == three[1]);
    a.release(three[0]);
    CHECK(a.items_of(three[0]).empty());
    CHECK(a.owner_id(0).str().empty());
    CHECK(a.items_of(instance_id{}).empty()); // an empty id owns nothing
    assignment const r{1, "s", three, irregular{}};
    CHECK(r.items_of(three[2]) == std::vector<item_index>{0, 1, 2});
    CHECK(r.items_of(three[0]) == std::vector<item_index>{3});
}

TEST_CASE("sharding.assignment: malformed texts are refused") {
    std::string const head = "elasticjob assignment 1\n";
    std::string const two = "instance a@-@1\ninstance b@-@2\n";
    for (auto const& text :
         {std::string{}, std::string{"elasticjob assignment 2\n"}, head, head + "epoch -1\n", head + "epoch 1x\n",
          head + "published maybe\n", head + "instance a\n", head + "something else\n", head + "nospace\n",
          head + two + "average 3 sideways 0\n", head + two + "average x straight 0\n", head + two + "average 3 straight\n",
          head + two + "runs 3:2\n",     // no such slot
          head + two + "runs 3:0,3:1\n", // an empty run
          head + two + "runs 3:0,4:0\n", // two runs that are one
          head + two + "runs 3:4294967295\n", head + two + "runs 3:-,4:-\n", head + two + "runs 3:--\n",
          head + "traits x\n", head + "traits -1\n",
          head + two + "runs 3\n", head + two + "average 3 straight 0\nepoch 1\n"}) {
        INFO(text);
        auto const a = assignment::parse(text);
        REQUIRE_FALSE(a);
        CHECK(a.error() == errc::malformed_data);
    }
    CHECK(assignment::parse(head + two + "average 3 straight 0\n"));
}

TEST_CASE("sharding.assignment: items may have no owner, and the basis of the computation is kept") {
    auto const two = ids(2);
    assignment a{7, "s", two, partial_runs{2, {{1, no_slot}, {3, 0}, {5, no_slot}, {6, 1}}}};
    a.set_traits_print(12345);
    CHECK(a.count_left() == 3);
    CHECK(a.allocates(6));
    CHECK_FALSE(a.allocates(5));
    CHECK(a.owner(0) == no_slot);
    CHECK(a.owner_id(0).str().empty());
    CHECK(a.owner_id(5) == two[1]);
    CHECK(a.items_of(two[0]) == std::vector<item_index>{1, 2});
    CHECK(a.to_text().find("traits 12345\n") != std::string::npos);
    CHECK(a.to_text().find("runs 1:-,3:0,5:-,6:1\n") != std::string::npos);
    CHECK(assignment::parse(a.to_text()).value() == a);
    // In the slots of other instances, which are not all the same.
    std::vector<run> const expected{{5, no_slot}, {6, 0}};
    CHECK(a.runs_among({two[1]}) == expected);
    CHECK(assignment{1, "s", two, closed_form{2, 3}}.runs_among({two[1]}) ==
          std::vector<run>{{1, no_slot}, {2, 0}, {3, no_slot}});
}
