// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/core/line_stream.hpp>

#include <support/standard_error.hpp>

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

using namespace elasticjob::test;
using namespace std::chrono_literals;
using elasticjob::detail::line_stream;

TEST_CASE("core.line_stream: a slow reader receives each line whole") {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    auto const lines = std::string(300'000, 'a') + "\n" + std::string(300'000, 'b') + "\n";
    std::string seen;
    std::jthread reader{[&] {
        std::array<char, 1'000> part;
        for (ssize_t n; (n = ::read(ends[0], part.data(), part.size())) > 0;)
            seen.append(part.data(), static_cast<std::size_t>(n));
    }};
    line_stream to{ends[1]};
    SUBCASE("a pipe that blocks") {}
    SUBCASE("a pipe that does not block") { ::fcntl(ends[1], F_SETFL, O_NONBLOCK); }
    to.tell(std::string_view{lines}.substr(0, 300'000), 1h);
    to.tell(std::string_view{lines}.substr(300'001, 300'000), 1h);
    ::close(ends[1]);
    reader.join();
    ::close(ends[0]);
    CHECK(seen == lines);
}

TEST_CASE("core.line_stream: a reader that stands still costs the time once, and the lost lines are counted") {
    std::string before, after;
    {
        unread_stream pipe{STDOUT_FILENO};
        line_stream to{STDOUT_FILENO};
        to.tell("lost", 1ms);
        to.tell("lost", 24h); // would last until the test is ended
        before = pipe.read_all();
        to.tell("read", 24h);
        after = pipe.read_all();
    }
    CHECK(before.find_first_not_of('.') == before.npos);
    CHECK(after == "elasticjob: lines missing here, because nobody read in time: 2\nread\n");
}
