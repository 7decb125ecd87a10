// SPDX-License-Identifier: Apache-2.0
// Whole clusters under everything that a network, an operator, machines and slow bodies can do, as a seed decides. See
// docs/simulation.md for what is checked, and testing/explore.hpp for the environment variables.
#include <elasticjob/execution/coroutine_executor.hpp>
#include <elasticjob/testing/explore.hpp>

#include <elasticjob/testing/simulation.hpp>

#include <simulation/seeds.hpp>
#include <support/full_run.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

using namespace elasticjob;
using namespace elasticjob::testing;
using namespace std::chrono_literals;

namespace {

/// A body of one of several tempers, which are the job's.
struct tempered_body {
    std::uint64_t temper;
    random_source random;

    simulated_run operator()(sharding_context const&) {
        auto const upto = [&](std::uint64_t ms) { return std::chrono::milliseconds{random.next() % (ms + 1)}; };
        simulated_run r;
        switch (temper) {
        case 0: // quick
            r.duration = upto(20);
            break;
        case 1: // sometimes longer than its period
            r.duration = upto(8'000);
            r.stops_after = upto(1'000);
            break;
        case 2: // does not look at its stop token
            r.duration = upto(4'000);
            r.stops_after = simulated_run::never;
            break;
        default: // fails now and then
            r.duration = upto(1'000);
            r.throws = random.next() % 4 == 0;
            if (random.next() % 4 == 0) r.outcome = error{errc::job_failed, "as planned"};
            break;
        }
        return r;
    }
};

/// The same tempers on the loop, with a checkpoint in the middle.
struct tempered_coroutine {
    tempered_body body;

    task<result<void>> operator()(coroutine_context<node_loop> const& run) {
        auto const r = body(run);
        auto const half = r.duration / 2;
        for (int n = 0; n < 2; ++n) {
            bool goes_on = true;
            if (r.stops_after == simulated_run::never)
                co_await sleep_until(run.loop(), run.loop().now() + half);
            else
                goes_on = co_await run.sleep_for(half);
            if (!goes_on) co_return r.outcome_if_stopped;
            if (n > 0) break;
            auto const saved = co_await run.save(std::to_string(run.token));
            if (!saved) co_return saved.error();
        }
        if (r.throws) co_return error{errc::job_threw, "as planned"};
        co_return r.outcome;
    }
};

/// The schedules that a job can have besides its cron expression. They have a random source of their own, so that known
/// seeds keep their meaning.
void add_schedules(job_config& c, std::uint64_t seed) {
    random_source random{seed * 104'729};
    auto const one_in = [&](std::uint64_t n) { return random.next() % n == 0; };
    if (one_in(3)) c.schedules.push_back(job_schedule::fixed_rate(4'500ms));
    if (one_in(3)) c.schedules.push_back(job_schedule::fixed_delay(3s));
    if (one_in(3)) c.schedules.push_back(job_schedule::once_now());
    if (one_in(3)) c.jitter = std::chrono::milliseconds{random.next() % 6'000};
    if (one_in(3)) c.excluded.push_back("20-29 * * * * ?");
    if (one_in(3)) c.time_zone = "America/St_Johns";
}

/// The reaction to a run that fails or hangs; from a random source of its own, as above.
void add_limits(job_config& c, std::uint64_t seed) {
    random_source random{seed * 15'485'863};
    auto const one_in = [&](std::uint64_t n) { return random.next() % n == 0; };
    if (one_in(2)) c.retry = {.attempts_max = 3, .pause = std::chrono::milliseconds{random.next() % 4'000}, .pause_max = 5s};
    if (one_in(4)) c.retry.hourly_max = 20;
    if (one_in(2)) c.give_up_after = std::chrono::milliseconds{1'000 + random.next() % 4'000};
    if (one_in(3)) c.run_time_limit = std::chrono::milliseconds{500};
    c.dead_letters_max = static_cast<std::uint32_t>(random.next() % 4);
}

std::unique_ptr<simulation<>> build(std::uint64_t seed) {
    random_source random{seed * 7919};
    auto const pick = [&](std::uint64_t n) { return random.next() % n; };
    simulation_options o;
    o.scheduler.drain_timeout = 2s;
    if (seed % 4 == 3) o.server.limits.operations_max = 18; // enough to join, but most shardings are cut in parts
    if (seed % 3 == 2) o.latency.most = 30ms;
    if (seed % 6 >= 4) o.scheduler.start_ahead = 80ms;
    auto s = std::make_unique<simulation<>>(seed, o);
    static constexpr char const* schedules[] = {"0/5 * * * * ?", "0/7 * * * * ?", "1/3 * * * * ?"};
    auto const jobs = 1 + pick(3);
    for (std::uint64_t j = 0; j < jobs; ++j) {
        job_config c;
        c.name = "job" + std::to_string(j);
        c.cron = schedules[j];
        c.sharding_total_count = static_cast<int>(1 + pick(9));
        c.failover = pick(2) == 0;
        c.misfire = pick(3) != 0;
        auto const temper = pick(4);
        // With runs that are longer than their period, `all` would lag behind for ever, as it should.
        bool const is_quick = temper == 0 || temper == 3;
        c.on_misfire.rule = is_quick && pick(2) == 0 ? misfire_rule::all : misfire_rule::once;
        if (seed % 5 == 1) add_schedules(c, seed + j);
        if (seed % 4 == 1) add_limits(c, seed + j);
        tempered_body body{temper, random_source{random.next()}};
        if (seed % 7 == 4 && j % 2 == 0)
            s->add_job<CoroutineExecutor>(c, tempered_coroutine{std::move(body)});
        else
            s->add_job(c, std::move(body));
    }
    auto const nodes = static_cast<std::uint32_t>(3 + pick(3));
    for (std::uint32_t n = 0; n < nodes; ++n) // some servers have two instances
        s->add_node("10.0.0." + std::to_string(pick(4) == 0 && n > 0 ? n : n + 1));
    for (std::uint32_t n = 0; n < nodes; ++n)
        for (std::uint32_t j = 0; j < jobs; ++j)
            if (pick(5) == 0) s->set_member(n, j, false);
    return s;
}

} // namespace

TEST_CASE("testing.simulation: clusters come right again after whatever a seed does to them") {
    explore_options o;
    o.seeds = test::amount_for_this_run({.full = 150, .usual = 30, .sanitized = 4});
    o.fresh = test::amount_for_this_run({.full = 5, .usual = 5, .sanitized = 1});
    auto const begin = std::chrono::steady_clock::now();
    auto const found = explore(o, &build);
    auto const took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::string fresh;
    for (auto const seed : found.fresh) fresh += " " + std::to_string(seed);
    MESSAGE("fresh seeds:" << fresh);
    auto const days = std::chrono::duration<double>(found.virtual_time).count() / 86'400;
    auto const seeds_a_second = static_cast<double>(found.seeds) / took, days_a_second = days / took;
    MESSAGE(seeds_a_second << " seeds/s, " << days_a_second << " virtual days/s, " << found.steps << " steps");
    CHECK_MESSAGE(found.holds(), found.report);
    if (std::getenv("ELASTICJOB_SEED")) MESSAGE(found.report);
}
