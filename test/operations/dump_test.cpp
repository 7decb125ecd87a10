// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/operations/dump.hpp>

#include <support/counting_registry.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

using namespace elasticjob;

namespace {

using lines = std::vector<std::string>;

lines masked(address_masking how, lines all) {
    address_mask mask{how};
    for (auto& line : all) line = mask(std::move(line));
    return all;
}

/// Removes nodes while they are read, and lists them in random order.
struct watched_registry : test::counting_registry {
    using base = test::counting_registry;
    using base::base;

    task<result<node>> get(node_path path, node_watch<virtual_loop>* w = nullptr) {
        if (path.str() == doomed_before) (void)co_await base::remove(path);
        auto answer = co_await base::get(path, w);
        if (path.str() == trigger)
            for (auto const& one : doomed) (void)co_await base::remove(node_path::parse(one).value());
        co_return answer;
    }
    task<result<std::vector<std::string>>> children(node_path path, node_watch<virtual_loop>* w = nullptr) {
        auto answer = co_await base::children(path, w);
        if (answer && !answer->empty())
            std::rotate(answer->begin(), std::next(answer->begin()), answer->end()); // in no order
        co_return answer;
    }

    std::string doomed_before{};       ///< goes when it is to be read
    std::string trigger{};             ///< once this has been read
    std::vector<std::string> doomed{}; ///< these go
};
static_assert(registry<watched_registry>);

struct world {
    virtual_loop loop;
    basic_memory_server<virtual_loop> server{loop};
    watched_registry registry{server};

    world() {
        for (char const* path :
             {"/settle", "/settle/config", "/settle/servers", "/settle/instances", "/settle/sharding",
              "/settle/sharding/0", "/settle/sharding/1", "/settle/sharding/10", "/settle/sharding/2"})
            create(path);
        set("/settle/config", R"({"jobName":"settle"})");
        create("/settle/servers/10.0.0.17");
        create("/settle/servers/10.0.0.18", "DISABLED");
        create("/settle/instances/10.0.0.17@-@4711");
        create("/settle/sharding/0/instance", "10.0.0.17@-@4711");
        create("/settlement");
        create("/settlement/config", "of another job");
    }
    void create(std::string const& path, std::string data = {}) {
        REQUIRE(block_on(loop, registry.create(at(path), std::move(data), create_mode::persistent)));
    }
    void set(std::string const& path, std::string data) {
        REQUIRE(block_on(loop, registry.set(at(path), std::move(data))));
    }
    static node_path at(std::string const& path) { return node_path::parse(path).value(); }
};

} // namespace

TEST_CASE("operations.dump: each node before its children, siblings in descending order, without the root") {
    world w;
    CHECK(dump(w.registry, "settle").value() == lines{
                                                    "/settle/sharding | ",
                                                    "/settle/sharding/2 | ",
                                                    "/settle/sharding/10 | ",
                                                    "/settle/sharding/1 | ",
                                                    "/settle/sharding/0 | ",
                                                    "/settle/sharding/0/instance | ip1@-@4711",
                                                    "/settle/servers | ",
                                                    "/settle/servers/ip2 | DISABLED",
                                                    "/settle/servers/ip1 | ",
                                                    "/settle/instances | ",
                                                    "/settle/instances/ip1@-@4711 | ",
                                                    "/settle/config | {\"jobName\":\"settle\"}",
                                                });
    CHECK(block_on(w.loop, dump_job(w.registry, job_name::parse("settle").value())).value() ==
          dump(w.registry, "settle").value());
    auto const open = dump(w.registry, "settle", {.addresses = address_masking::none}).value();
    CHECK(open[5] == "/settle/sharding/0/instance | 10.0.0.17@-@4711");
    auto const old = dump(w.registry, "settle", {.addresses = address_masking::as_2_1_5}).value();
    CHECK(old[5] == "/settle/sharding/0/instance | ip17@-@4711");
    CHECK(old[7] == "/settle/servers/ip18 | DISABLED");
}

TEST_CASE("operations.dump: a value is one line, whatever its content") {
    world w;
    w.create("/settle/ext", "a\nb\tc\x7f\\n \xc3\xa9\n");
    CHECK(dump(w.registry, "settle").value()[11] == "/settle/ext | a\\nb\\x09c\\x7f\\n \xc3\xa9\\n");
    w.set("/settle/ext", "\xc2\x9b\xe2\x80\xae\xff"); // a terminal would act upon these
    CHECK(dump(w.registry, "settle").value()[11] == "/settle/ext | \\u009b\\u202e\\xff");
    CHECK(dump_text({"a | ", "b | 1"}) == "a | \nb | 1\n");
}

TEST_CASE("operations.dump: a limited number of requests at once, and none for the children of leaf nodes") {
    world w;
    for (int i = 0; i != 200; ++i) w.create("/settle/sharding/" + std::to_string(1000 + i));
    auto const all = dump(w.registry, "settle", {.requests_max = 7}).value();
    CHECK(all.size() == 212);
    CHECK(w.registry.most_at_once == 7);
    CHECK(w.registry.reads == 213);
    CHECK(w.registry.lists == 5);
    CHECK(dump(w.registry, "settle", {.requests_max = 0}).value() == all);
    CHECK(dump(w.registry, "settle", {.requests_max = 1000}).value() == all);
}

TEST_CASE("operations.dump: a job that is too large is refused, not cut") {
    world w;
    CHECK(dump(w.registry, "settle", {.nodes_max = 13}).has_value()); // the root counts too
    auto const many = dump(w.registry, "settle", {.nodes_max = 12});
    REQUIRE_FALSE(many);
    CHECK(many.error() == errc::too_large);
    CHECK(many.error().where == "/settle");
    w.set("/settle/config", std::string(5'000, 'x'));
    CHECK(dump(w.registry, "settle", {.bytes_max = 6'000}).has_value());
    CHECK(dump(w.registry, "settle", {.bytes_max = 5'000}).error() == errc::too_large);
}

TEST_CASE("operations.dump: nodes that are removed meanwhile do no harm") {
    world w;
    std::size_t expected = 11;
    SUBCASE("before it is read") { w.registry.doomed_before = "/settle/sharding/1"; }
    SUBCASE("after it is read") {
        w.registry.trigger = "/settle/sharding/1";
        w.registry.doomed = {"/settle/sharding/1"};
        expected = 12;
    }
    SUBCASE("before its children are listed") {
        w.registry.trigger = "/settle/sharding/0";
        w.registry.doomed = {"/settle/sharding/0/instance", "/settle/sharding/0"};
    }
    CHECK(dump(w.registry, "settle").value().size() == expected);
}

TEST_CASE("operations.dump: names the reason if it cannot dump a job") {
    world w;
    auto const absent = dump(w.registry, "other");
    CHECK(absent.error() == errc::no_node);
    CHECK(absent.error().where == "/other");
    CHECK(dump(w.registry, "a/b").error() == errc::invalid_argument);
    w.registry.disconnect();
    CHECK(dump(w.registry, "settle").error() == errc::not_sent);
}

TEST_CASE("operations.address_mask: addresses get names, and keep them from line to line") {
    lines const none{"/simpleElasticDemoJob/servers", "/simpleElasticDemoJob/leader"};
    lines const some{"/simpleElasticDemoJob/servers/127.0.0.1",
                     "/simpleElasticDemoJob/servers/192.168.0.1/hostName | 192.168.0.1", "back to 127.0.0.1"};
    lines const some_masked{"/simpleElasticDemoJob/servers/ip1", "/simpleElasticDemoJob/servers/ip2/hostName | ip2",
                            "back to ip1"};
    for (auto const how : {address_masking::whole, address_masking::as_2_1_5}) {
        CHECK(masked(how, none) == none);
        CHECK(masked(how, some) == some_masked);
    }
    CHECK(masked(address_masking::none, some) == some);
    lines const ends{"a 192.168.0.10", "b 192.168.0.11"};
    CHECK(masked(address_masking::whole, ends) == lines{"a ip1", "b ip2"});
    CHECK(masked(address_masking::as_2_1_5, ends) == lines{"a ip10", "b ip11"});
}

TEST_CASE("operations.address_mask: no part of an address remains") {
    // One that begins like another, in the same line.
    CHECK(masked(address_masking::whole, {"10.0.0.1 10.0.0.12 10.0.0.1"}) == lines{"ip1 ip2 ip1"});
    CHECK(masked(address_masking::as_2_1_5, {"10.0.0.1 10.0.0.12 10.0.0.1"}) == lines{"ip1 ip12 ip1"});
    CHECK(masked(address_masking::whole, {"x255.255.255.255y"}) == lines{"xip1y"});
    CHECK(masked(address_masking::as_2_1_5, {"x255.255.255.255y"}) == lines{"xip155y"});
    // A number that is no octet is not part of an address.
    CHECK(masked(address_masking::whole, {"256.1.1.1"}) == lines{"2ip1"});
    CHECK(masked(address_masking::as_2_1_5, {"256.1.1.1"}) == lines{"2ip1"});
    CHECK(masked(address_masking::whole, {"1.2.3.256"}) == lines{"ip16"});
    CHECK(masked(address_masking::whole, {"1.2.3 1.2.3. 1..2.3.4 300.1"}) == lines{"1.2.3 1.2.3. 1..2.3.4 300.1"});
}
