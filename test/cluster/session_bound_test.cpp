// SPDX-License-Identifier: Apache-2.0
// The delay of a killed process's runs without a guardian. docs/guarantees.md promises the limit that this asserts.
#include <cluster/cluster.hpp>
#include <support/sanitized.hpp>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

/// How much the machine slows others down: the longest that five requests of another session have taken, one after the
/// other. About as many lie between the end of a session and the next run, and few milliseconds are usual.
class slowness {
public:
    explicit slowness(cluster& all) : all_{all} {}

    void sample() {
        auto const begin = std::chrono::steady_clock::now();
        for (int n = 0; n < 5; ++n) (void)all_.children(node_path{});
        most_ = std::max(most_, std::chrono::steady_clock::now() - begin);
    }
    std::chrono::steady_clock::duration most() const { return most_; }

private:
    cluster& all_;
    std::chrono::steady_clock::duration most_{0};
};

/// One victim for each job, and a survivor in all jobs. The kills are spread over a server tick. Returns the longest
/// delay.
std::chrono::milliseconds check_bound(std::chrono::milliseconds tick, std::chrono::milliseconds session_timeout) {
    constexpr int kills = 10;
    zk_server_options o;
    o.tick_ms = static_cast<int>(tick.count());
    o.session_timeout_min_ms = 2 * o.tick_ms;
    zk_server server{o};
    cluster all{server, "bound"};
    INFO(all.transcript());
    CAPTURE(tick.count());

    std::vector<job_config> jobs;
    for (int n = 0; n < kills; ++n) {
        jobs.push_back(never(2, "job" + std::to_string(n)));
        jobs.back().failover = true;
    }
    auto& survivor = all.start("survivor", {.jobs = jobs, .session_timeout = 30s, .body = 1ms});
    all.wait_for("it to join", [&] { return survivor.has("ready"); });
    std::vector<member*> victims;
    for (auto const& job : jobs) {
        victims.push_back(
            &all.start("in " + job.name, {.jobs = {job}, .session_timeout = session_timeout, .body = 60s}));
        auto const* m = victims.back();
        all.wait_for("a victim to get its item", [&] { return m->share(job.name).size() == 1; });
    }
    for (std::size_t n = 0; n < kills; ++n) {
        job_layout const at{*job_name::parse(jobs[n].name)};
        REQUIRE(all.ask(all.observer().set(at.instances() / victims[n]->id(), std::string{trigger_order})));
    }
    all.wait_for("all victims to run",
                 [&] { return std::ranges::all_of(victims, [](auto const* m) { return m->count("runs") == 1; }); });

    std::vector<std::chrono::steady_clock::time_point> killed_at;
    auto const begin = std::chrono::system_clock::now();
    for (int n = 0; n < kills; ++n) {
        all.wait_until(begin + tick * n / kills);
        killed_at.push_back(std::chrono::steady_clock::now());
        victims[static_cast<std::size_t>(n)]->kill();
    }
    slowness others{all};
    all.wait_for("the survivor to run them again", [&] {
        others.sample();
        return survivor.count("runs") == kills;
    });

    std::chrono::milliseconds longest{0};
    for (std::size_t n = 0; n < kills; ++n) {
        auto const again = survivor.all("runs", jobs[n].name).back();
        CHECK(again.attempt() == 2);
        auto const span = std::chrono::microseconds{again.at_us} - killed_at[n].time_since_epoch();
        CHECK(span > session_timeout / 2);
        CHECK(span <= session_timeout + tick + 100ms + others.most());
        longest = std::max(longest, std::chrono::duration_cast<std::chrono::milliseconds>(span));
    }
    return longest;
}

} // namespace

#ifndef ELASTICJOB_TEST_SANITIZED
TEST_CASE("cluster: 30 killed processes are replaced within session time-out, one tick and 100 ms") {
    auto const at_100 = check_bound(100ms, 1500ms), at_500 = check_bound(500ms, 1500ms),
               at_2000 = check_bound(2000ms, 4000ms);
    MESSAGE("at most " << at_100.count() << ", " << at_500.count() << " and " << at_2000.count()
                       << " ms, at ticks of 100, 500 and 2000 ms");
}
#endif
