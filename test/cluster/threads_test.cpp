// SPDX-License-Identifier: Apache-2.0
#include <cluster/cluster.hpp>

#include <filesystem>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

std::ptrdiff_t threads_of(member const& m) {
    std::filesystem::directory_iterator const tasks{"/proc/" + std::to_string(m.pid()) + "/task"};
    return std::distance(begin(tasks), end(tasks));
}

} // namespace

TEST_CASE("cluster: 200 jobs in a process use no more threads than 10 jobs") {
    cluster all{common_server(), "threads"};
    auto count_with = [&](std::string const& name, std::size_t jobs) {
        auto& m =
            all.start(name, {.jobs = {every(1, 2, name)}, .body = 0ms, .more = {"--copies", std::to_string(jobs)}});
        all.wait_for("all jobs to run", [&] {
            std::set<std::string> ran;
            for (auto const& l : m.all("ran")) ran.insert(l.job);
            return ran.size() == jobs;
        });
        auto const threads = threads_of(m);
        m.kill();
        return threads;
    };
    auto const with_10 = count_with("few", 10);
    auto const with_200 = count_with("many", 200);
    CHECK(with_10 > 2);
    CHECK(with_200 == with_10);
}
