// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/operations/clock.hpp>

#include <elasticjob/operations/job_overview.hpp>

#include <support/cluster.hpp>
#include <support/measured.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

wall_time at(std::chrono::nanoseconds t) { return wall_time{t}; }

std::size_t count_nodes(cluster const& c) {
    std::size_t n = 0;
    c.server.tree().for_each([&](std::string const&, node const&) { ++n; });
    return n;
}

} // namespace

TEST_CASE("operations.clock: the offset lies in the intersection of all samples") {
    clock_samples s;
    s.add(at(1'000ms), 1'500, at(1'010ms)); // 490 to 501 ms
    CHECK(s.result(at(2s)).offset == 495'500us);
    CHECK(s.result(at(2s)).uncertainty == 5'501us);
    s.add(at(1'020ms), 1'522, at(1'024ms)); // 498 to 503 ms
    auto const both = s.result(at(2s));
    CHECK(both.here == at(2s));
    CHECK(both.offset == 499'500us);
    CHECK(both.uncertainty == 1'501us);
    CHECK(both.samples == 2);
    s.add(at(1'030ms), 530, at(1'031ms)); // the clock has been set: -501 to -499 ms
    CHECK(s.result(at(2s)).offset == -500ms);
    CHECK(s.result(at(2s)).samples == 1);
}

TEST_CASE("operations.clock: sends the documented number of requests, and leaves no node") {
    cluster c;
    std::size_t requests = 0;
    auto const count = [&](registry_request const&) { ++requests; };
    measured<basic_memory_registry<virtual_loop>> r{c.by_hand, count};
    auto const before = count_nodes(c);
    auto const read = read_clock(r, 7).value();
    CHECK(requests == 7 + 2);
    CHECK(read.samples == 7);
    CHECK(read.here == c.loop.wall_now());
    CHECK(std::chrono::abs(read.offset) <= read.uncertainty); // it is the same clock
    CHECK(read.uncertainty <= 1ms);
    CHECK(count_nodes(c) == before);
    CHECK(read_clock(c.by_hand, 0).error() == errc::invalid_argument);
    CHECK(read_clock(c.by_hand, 101).error() == errc::invalid_argument);
    CHECK_FALSE(job_name::parse(detail::new_clock_path().name()));
}

TEST_CASE("operations.clock: leaves no node, whatever is lost") {
    for (auto const fate : {request_fate::reply_lost, request_fate::request_lost})
        for (std::uint64_t n = 0; n < 4; ++n) {
            INFO("write " << n);
            cluster c;
            auto const before = count_nodes(c);
            losing const lost{c.server, losing::nth_write(c.by_hand.session().id, n, fate)};
            auto const read = read_clock(c.by_hand, 2);
            CHECK(read.has_value() == (n == 3));
            c.run_for(1min);
            CHECK(count_nodes(c) == before);
        }
}
