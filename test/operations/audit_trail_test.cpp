// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/operations/audit_trail.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace elasticjob;

namespace {

audit_entry entry(std::string key, command_outcome outcome = command_outcome::done) {
    return {0,
            wall_time{std::chrono::seconds{1'767'225'600}},
            outcome,
            "ann",
            std::move(key),
            "disable",
            "item 2",
            "the item is disabled"};
}

} // namespace

TEST_CASE("operations.audit_trail: entries survive being written and read") {
    audit_trail trail;
    CHECK(audit_trail::parse(trail.to_text()).value() == trail);
    trail.add(entry("a"));
    trail.add(entry("b", command_outcome::refused));
    CHECK(trail.to_text() == "elasticjob audit 1\n"
                             "1\t1767225600000\tdone\tann\ta\tdisable\titem 2\tthe item is disabled\n"
                             "2\t1767225600000\trefused\tann\tb\tdisable\titem 2\tthe item is disabled\n");
    CHECK(audit_trail::parse(trail.to_text()).value() == trail);
}

TEST_CASE("operations.audit_trail: no text breaks a line, and long texts are cut") {
    audit_trail trail;
    auto e = entry("a");
    e.operator_name = "a\tb\nc";
    e.note = std::string(5'000, 'x') + "\n";
    trail.add(e);
    auto const read = audit_trail::parse(trail.to_text()).value();
    REQUIRE(read.entries().size() == 1);
    CHECK(read == trail);
    CHECK(read.entries()[0].operator_name == "a\\x09b\\x0ac");
    CHECK(read.entries()[0].note.size() == audit_trail::note_bytes_max);
}

TEST_CASE("operations.audit_trail: its size is bounded, and refusals displace no key") {
    audit_trail trail;
    trail.add(entry("first"));
    for (int i = 0; i < 1'000; ++i) trail.add(entry("refused", command_outcome::refused));
    CHECK(trail.entries().size() == 1 + audit_trail::refused_max);
    CHECK(trail.find("first"));
    CHECK_FALSE(trail.find("refused"));
    for (std::size_t i = 1; i < audit_trail::carried_out_max; ++i) trail.add(entry("more"));
    CHECK(trail.find("first"));
    trail.add(entry("last"));
    CHECK_FALSE(trail.find("first"));
    CHECK(trail.entries().size() == audit_trail::carried_out_max + audit_trail::refused_max);
    CHECK(trail.entries().back().number == 1'201);
    CHECK(audit_trail::parse(trail.to_text()).value() == trail);
    CHECK(trail.to_text().size() < 300'000);
}

TEST_CASE("operations.audit_trail: a damaged trail is named in the error") {
    std::string const head = "elasticjob audit 1\n";
    CHECK(audit_trail::parse("").error() == errc::malformed_data);
    for (auto const* line : {"1\t5\tdone\ta\tb\tc\td\te", "x\t5\tdone\ta\tb\tc\td\te\n", "1\t5\tlost\ta\tb\tc\td\te\n",
                             "1\t5\tdone\ta\tb\tc\td\n", "\n"}) {
        auto const read = audit_trail::parse(head + line);
        CHECK(read.error() == errc::malformed_data);
        CHECK(read.error().where == "line 2");
    }
    std::string many = head;
    for (int i = 0; i < 251; ++i) many += "1\t5\tdone\ta\tb\tc\td\te\n";
    CHECK(audit_trail::parse(many).error() == errc::malformed_data);
}
