// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/execution/script.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace elasticjob;

namespace {

using reports = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

struct reporting_port : detail::run_port {
    explicit reporting_port(detail::stop_order& o) : run_port{o, nullptr, nullptr, nullptr, &report} {}
    static void report(run_port& port, std::uint64_t done, std::uint64_t total) {
        static_cast<reporting_port&>(port).seen.emplace_back(done, total);
    }
    reports seen{};
};

} // namespace

TEST_CASE("execution.script: ProgressOutput takes the lines about progress, and passes on the others as they are") {
    detail::stop_order order;
    reporting_port port{order};
    sharding_context run;
    run.port = &port;
    std::vector<std::string> others;
    auto const keep = [&](script_line const& line) { others.emplace_back(line.text); };
    ProgressOutput output{keep};
    auto const hear = [&](std::string_view text, script_stream from = script_stream::out, std::size_t dropped = 0) {
        output(script_line{run, from, text, dropped});
    };
    static_assert(script_output<ProgressOutput<>> && script_output<decltype(output)>);
    hear("elasticjob progress 40 100");
    hear("elasticjob progress 41");
    hear("elasticjob progress 18446744073709551615 0");
    CHECK(port.seen == reports{{40, 100}, {41, 0}, {18446744073709551615u, 0}});
    CHECK(others.empty());

    std::vector<std::string> const unlike{"elasticjob progress",      "elasticjob progress ",
                                          "elasticjob progress x",    "elasticjob progress 1 ",
                                          "elasticjob progress 1 -2", "elasticjob progress 1 2 3",
                                          " elasticjob progress 1 2", "elasticjob progress 18446744073709551616"};
    for (auto const& text : unlike) hear(text);
    hear("elasticjob progress 1 2", script_stream::err);
    hear("elasticjob progress 1 2", script_stream::out, 7); // more of the line was dropped
    CHECK(port.seen.size() == 3);
    CHECK(others.size() == unlike.size() + 2);
    others.resize(unlike.size());
    CHECK(others == unlike);
}
