// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/scheduler/line_relay.hpp>

#include <elasticjob/core/event_loop.hpp>
#include <elasticjob/core/virtual_loop.hpp>

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

using namespace elasticjob;

namespace {

using lines = std::vector<std::string>;

auto teller(lines& told) {
    return [&told](script_stream s, std::string_view text, std::size_t dropped, std::uint64_t lost) {
        told.push_back(std::string{name_of(s)} + " " + std::string{text} + " " + std::to_string(dropped) + " " +
                       std::to_string(lost));
    };
}

} // namespace

TEST_CASE("scheduler.line_relay: lines are reported in their order, and not before the loop has its turn") {
    virtual_loop loop;
    lines told;
    detail::line_relay relay{loop, teller(told)};
    detail::line_port& port = relay;
    port.tell(port, script_stream::out, "one", 0);
    port.tell(port, script_stream::err, "two", 7);
    CHECK(told.empty());
    loop.run_ready();
    CHECK(told == lines{"stdout one 0 0", "stderr two 7 0"});
    port.tell(port, script_stream::out, "three", 0);
    loop.run_ready();
    CHECK(told.back() == "stdout three 0 0");
    CHECK(told.size() == 3);
}

TEST_CASE("scheduler.line_relay: only a limited amount of output waits for the loop, and lost lines are counted") {
    virtual_loop loop;
    lines told;
    detail::line_relay relay{loop, teller(told)};
    detail::line_port& port = relay;
    SUBCASE("by lines") {
        for (std::size_t n = 0; n != relay.lines_max + 5; ++n) port.tell(port, script_stream::out, std::to_string(n), 0);
        loop.run_ready();
        CHECK(told.size() == relay.lines_max + 1);
        CHECK(told[relay.lines_max - 1] == "stdout " + std::to_string(relay.lines_max - 1) + " 0 0");
        CHECK(told.back() == "stdout  0 5");
    }
    SUBCASE("by bytes") {
        for (auto const size : {relay.bytes_max - 1, std::size_t{2}, std::size_t{1}, std::size_t{1}})
            port.tell(port, script_stream::out, std::string(size, 'x'), 0);
        loop.run_ready();
        CHECK(told.size() == 3);
        CHECK(told[1] == "stdout x 0 0");
        CHECK(told.back() == "stdout  0 2");
    }
    told.clear();
    port.tell(port, script_stream::out, "again", 0); // there is room again
    loop.run_ready();
    CHECK(told == lines{"stdout again 0 0"});
}

TEST_CASE("scheduler.line_relay: work that a thread posts after its last line comes after that line") {
    event_loop loop;
    for (int round = 0; round != 50; ++round) {
        lines told;
        gate done;
        detail::line_relay relay{loop, teller(told)};
        std::thread writer{[&] {
            detail::line_port& port = relay;
            for (int n = 0; n != 100; ++n) port.tell(port, script_stream::out, std::to_string(n), 0);
            post(loop, [&] {
                told.push_back("end");
                done.open();
            });
        }};
        REQUIRE(loop.wait(done));
        writer.join();
        REQUIRE(told.size() == 101);
        CHECK(told[99] == "stdout 99 0 0");
        CHECK(told[100] == "end");
    }
}
