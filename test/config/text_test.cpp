// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/config/text.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using namespace elasticjob::detail;
using namespace std::literals;

static_assert(trim(" \t a b\x01\n") == "a b");
static_assert(trim("  ") == "");

TEST_CASE("config.text: split drops only the empty pieces at the end") {
    using pieces = std::vector<std::string_view>;
    CHECK(split("a,b", ",") == pieces{"a", "b"});
    CHECK(split(",a,,b,,", ",") == pieces{"", "a", "", "b"});
    CHECK(split(",", ",") == pieces{});
    CHECK(split("", ",") == pieces{""});
    CHECK(split("a@-@@-@b", "@-@") == pieces{"a", "", "b"});
}

TEST_CASE("config.text: a number must be the whole text") {
    CHECK(parse_number<int>("-12") == -12);
    CHECK(parse_number<unsigned>("4294967295") == 4294967295U);
    for (auto const bad : {"", "-", "+1", " 1", "1 ", "1.0", "4294967296", "0x1", "eins"}) {
        CAPTURE(bad);
        CHECK_FALSE(parse_number<unsigned>(bad));
    }
    CHECK_FALSE(parse_number<unsigned>("-1"));
}
