// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/config/item_parameters.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace elasticjob;

namespace {

std::string const bad_format_tail = " format error, should be int=xx,int=xx";

item_parameters read(std::string_view text) {
    CAPTURE(text);
    auto parameters = parse_item_parameters(text);
    REQUIRE(parameters);
    return *parameters;
}

error refusal(std::string_view text) {
    CAPTURE(text);
    auto const parameters = parse_item_parameters(text);
    REQUIRE_FALSE(parameters);
    CHECK(parameters.error() == errc::invalid_config);
    CHECK(parameters.error().where == "shardingItemParameters");
    return parameters.error();
}

} // namespace

TEST_CASE("config.item_parameters: each item finds its own, others find nothing") {
    auto const parameters = read("0=A,1=B,2=C");
    CHECK(parameters.size() == 3);
    CHECK(parameters.find(0) == "A");
    CHECK(parameters.find(1) == "B");
    CHECK(parameters.find(2) == "C");
    CHECK(parameters.find(3) == std::nullopt);
    CHECK(read("").empty());
    CHECK(read("").find(0) == std::nullopt);
}

TEST_CASE("config.item_parameters: is as lenient as Java") {
    CHECK(read(" 0 = A , 1=B ") == read("0=A,1=B"));
    CHECK(read("0=A,") == read("0=A"));
    CHECK(read("0=A,0=B") == read("0=B"));
    CHECK(read("0=A=") == read("0=A"));
    CHECK(read("+1=x") == read("1=x"));
    CHECK(read(",").empty());
    CHECK(read("0=\xe5\x8c\x97\xe4\xba\xac").find(0) == "\xe5\x8c\x97\xe4\xba\xac");
    CHECK(read("7 = =").find(7) == "");
}

TEST_CASE("config.item_parameters: keys that belong to no item are separate from those that do") {
    auto const parameters = read("-1=x,2147483647=y,-2147483648=z");
    CHECK(parameters.size() == 3);
    CHECK(parameters.find(2147483647) == "y");
    CHECK(parameters.find(static_cast<item_index>(-1)) == std::nullopt);
    CHECK(parameters.find(2147483648U) == std::nullopt);
}

TEST_CASE("config.item_parameters: a piece that is not key=value is refused") {
    for (std::string const text : {"xxx-xxx", "0", "0=", "0==a", "0=a=b", "=", " ", ",0=A", "0=A,,1=B", "0=A, ", "0= "})
        CHECK(refusal(text).what == "Sharding item parameters '" + text + "'" + bad_format_tail);
}

TEST_CASE("config.item_parameters: a key that is not a number is refused") {
    CHECK(refusal("xxx=xxx").what == "Sharding item parameters key 'xxx' is not an integer.");
    CHECK(refusal("0=A, x =B").what == "Sharding item parameters key 'x ' is not an integer.");
    CHECK(refusal("=a").what == "Sharding item parameters key '' is not an integer.");
    for (auto const text : {"2147483648=x", "1.0=x", "+=x", "-=x", "+-1=x", "-+1=x", "++1=x", "0x1=x", "1 2=x"})
        CHECK(refusal(text).what.starts_with("Sharding item parameters key '"));
}
