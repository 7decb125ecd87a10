// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/config/item_labels.hpp>

#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/config/validation.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace elasticjob;

namespace {

using rules = std::vector<item_labels::rule>;

rules parsed(std::string_view text) { return parse_item_labels(text).value().rules; }

} // namespace

TEST_CASE("config.item_labels: items, ranges, and the rest") {
    CHECK(parsed("").empty());
    CHECK(parse_item_labels(" ").value().empty());
    CHECK(parsed("0=gpu") == rules{{0, 1, "gpu"}});
    CHECK(parsed("0-9=gpu,12=ssd zone=a") == rules{{0, 10, "gpu"}, {12, 13, "ssd zone=a"}});
    CHECK(parsed(" 12 = ssd , 0 - 9 = gpu ") == rules{{0, 10, "gpu"}, {12, 13, "ssd"}});
    CHECK(parsed("3=") == rules{{3, 4, ""}});
    auto const all = parse_item_labels("2=gpu,*=linux").value();
    CHECK(all.rest == "linux");
    CHECK(all.rules == rules{{2, 3, "gpu"}});
    CHECK_FALSE(all.empty());
}

TEST_CASE("config.item_labels: other forms are refused, with the correct form") {
    for (auto const* const text :
         {"gpu", "=gpu", "a=gpu", "-1=gpu", "3-1=gpu", "1-=gpu", "-=gpu", "1-2-3=gpu", "0=g\tu", "0=\xff", "0=a,,1=b",
          "4294967295=gpu", "0-4294967295=gpu", "99999999999=gpu"}) {
        INFO(text);
        auto const refused = parse_item_labels(text);
        REQUIRE_FALSE(refused);
        CHECK(refused.error() == errc::invalid_config);
        CHECK(refused.error().where == "itemLabels");
        CHECK(refused.error().what.find("0-9=gpu") != std::string::npos);
    }
    CHECK(parse_item_labels("0-3=a,2=b").error().what == "must not name the labels of item 2 twice");
    CHECK(parse_item_labels("*=a,*=b").error().what == "must not name the labels of * twice");
}

TEST_CASE("config.item_labels: the needs of a number of items") {
    auto const labels = parse_item_labels("2-3=gpu,5=,8-20=ssd,*=linux").value();
    CHECK(labels.needs_of(10) ==
          rules{{0, 2, "linux"}, {2, 4, "gpu"}, {4, 5, "linux"}, {6, 8, "linux"}, {8, 10, "ssd"}});
    CHECK(labels.needs_of(3) == rules{{0, 2, "linux"}, {2, 3, "gpu"}});
    CHECK(labels.needs_of(0).empty());
    CHECK(parse_item_labels("2=gpu").value().needs_of(10) == rules{{2, 3, "gpu"}});
    CHECK(item_labels{}.needs_of(10).empty());
}

TEST_CASE("config.item_labels: they are checked with the configuration, but not stored in its node") {
    job_config c;
    c.name = "settle";
    c.cron = "0/5 * * * * ?";
    c.item_labels = "0=gpu";
    REQUIRE(validate(c));
    CHECK(to_json(c).find("gpu") == std::string::npos);
    CHECK(from_json(to_json(c)).value().value() == canonical(c));
    c.item_labels = "gpu";
    CHECK(validate(c).error() == errc::invalid_config);
    CHECK(validate(c).error().where == "itemLabels");
}

TEST_CASE("config.item_labels: more needs than a job can have are refused") {
    std::string many = "*=" + std::string(item_labels::labels_bytes_max, 'x');
    for (int i = 0; i < 9'999; ++i) many += "," + std::to_string(2 * i) + "=a";
    CHECK(parse_item_labels(many));
    auto const too_many = parse_item_labels(many + ",30000=a,30002=a");
    REQUIRE(!too_many);
    CHECK(too_many.error().what == "must have at most 10000 rules, but has 10002");
    auto const too_long = parse_item_labels("1=" + std::string(item_labels::labels_bytes_max + 1, 'x'));
    REQUIRE(!too_long);
    CHECK(too_long.error().what.size() < 400);
}
