// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/cron/tzif_zone.hpp>

#include <cron/support.hpp>
#include <cron/tz_variable.hpp>

#include <doctest/doctest.h>

#include <cstdio>
#include <string>

using namespace elasticjob;
using namespace std::chrono;
using cron_test::instant;

namespace {

std::string bytes_of(char const* zone) {
    std::FILE* const file = std::fopen((std::string{"/usr/share/zoneinfo/"} + zone).c_str(), "rb");
    REQUIRE_MESSAGE(file, zone);
    std::string bytes(1 << 18, '\0');
    bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file));
    std::fclose(file);
    return bytes;
}

} // namespace

TEST_CASE("cron.tzif_zone: offsets are those of the C library") {
    cron_test::dice d{cron_test::seed()};
    INFO("ELASTICJOB_TEST_SEED=" << cron_test::seed());
    for (char const* name :
         {"America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "America/Sao_Paulo", "Africa/Casablanca",
          "Europe/Dublin", "Asia/Kathmandu", "Pacific/Apia", "Asia/Tehran", "Etc/GMT+12", "UTC", "America/Nuuk"}) {
        CAPTURE(name);
        auto const zone = TzifZone::load(name);
        REQUIRE(zone.has_value());
        cron_test::tz_variable const tz{name};
        for (int i = 0; i < 2000; ++i) {
            // A random second from 1900 to 2200, often one next to a clock change.
            sys_seconds t{seconds{-2'208'988'800} + hours{d.from_to(0, 2'629'000)} + seconds{d.from_to(0, 3599)}};
            auto const segment = zone->at(t);
            REQUIRE((segment.begin <= t && t < segment.end));
            if (d.one_in(2) && segment.end != sys_seconds::max()) t = segment.end - seconds{d.from_to(0, 1)};
            CAPTURE(cron_test::text_of(t));
            REQUIRE(zone->at(t).offset.count() == tz.offset(t));
        }
    }
}

TEST_CASE("cron.tzif_zone: adjacent segments meet and differ") {
    auto const zone = TzifZone::load("America/New_York").value();
    auto segment = zone.at(sys_seconds::min());
    CHECK(segment.begin == sys_seconds::min());
    int count = 1;
    for (; segment.end != sys_seconds::max(); ++count) {
        auto const next = zone.at(segment.end);
        REQUIRE(next.begin == segment.end);
        REQUIRE(next.offset != segment.offset);
        REQUIRE(zone.at(next.begin - seconds{1}) == segment);
        segment = next;
    }
    CHECK(count > 100);
    CHECK(zone.at(sys_seconds::max() - seconds{1}) == segment);
}

TEST_CASE("cron.tzif_zone: a POSIX rule applies for ever") {
    auto const rule = TzifZone::parse_rule("EST5EDT,M3.2.0,M11.1.0").value();
    auto const file = TzifZone::load("America/New_York").value();
    for (auto t = instant("2007-06-01"); t < instant("2225-12-01"); t += days{7}) REQUIRE(rule.at(t) == file.at(t));
    CHECK(TzifZone::parse_rule("<+08>-8").value().at(sys_seconds{}).offset == hours{8});
    CHECK(TzifZone::parse_rule("Berlin").error() == errc::invalid_argument);

    // Summer time that ends when the next one begins.
    auto const always = TzifZone::parse_rule("XXX3EDT4,0/0,J365/23").value();
    auto const segment = always.at(instant("2024-06-01"));
    CHECK(segment.offset == hours{-4});
    CHECK(segment.begin < instant("1971-01-01"));
    CHECK(segment.end > instant("2225-01-01"));
}

TEST_CASE("cron.tzif_zone: names that are not in the database are refused") {
    for (char const* name :
         {"", "Nowhere/City", "Europe", "/etc/localtime", "../zoneinfo/UTC", "UTC\n", "Europe/../UTC", "zone.tab"}) {
        CAPTURE(name);
        auto const zone = TzifZone::load(name);
        REQUIRE(!zone);
        CHECK((zone.error() == errc::invalid_argument || zone.error() == errc::malformed_data));
        CHECK(!zone.error().where.empty() == !std::string_view{name}.empty());
    }
}

TEST_CASE("cron.tzif_zone: a damaged file is refused or read, never trusted") {
    auto const whole = bytes_of("America/New_York");
    CHECK(TzifZone::parse(whole).has_value());
    for (std::size_t size = 0; size + 40 < whole.size(); ++size)
        REQUIRE(TzifZone::parse(whole.substr(0, size)).error() == errc::malformed_data);
    cron_test::dice d{cron_test::seed()};
    INFO("ELASTICJOB_TEST_SEED=" << cron_test::seed());
    for (int i = 0; i < 2000; ++i) {
        auto bytes = whole;
        for (auto left = d.from_to(1, 8); left > 0; --left)
            bytes[d.from_to(0, static_cast<unsigned>(d.one_in(2) ? 99 : bytes.size() - 1))] =
                static_cast<char>(d.from_to(0, 255));
        if (auto const zone = TzifZone::parse(bytes)) {
            auto const t = instant("2024-06-01");
            REQUIRE((zone->at(t).begin <= t && t < zone->at(t).end));
        } else {
            REQUIRE(zone.error() == errc::malformed_data);
        }
    }
}

TEST_CASE("cron.tzif_zone: reads the old format with 32-bit times") {
    auto bytes = bytes_of("Europe/Berlin");
    detail::tzif_header const header{bytes};
    bytes.resize(detail::tzif_header::size + header.block_size(4));
    bytes[4] = '\0';
    if (header.turns == 0) return; // a database in the slim form has no data there
    CHECK(TzifZone::parse(bytes).value().at(instant("2024-07-01")).offset == hours{2});
}
