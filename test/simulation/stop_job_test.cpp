// SPDX-License-Identifier: Apache-2.0
// An instance leaves its job when a run has failed there: it begins nothing more, whatever else happens to it, and the
// others take over.
#include <elasticjob/execution/error_handlers.hpp>
#include <elasticjob/testing/simulation.hpp>

#include <simulation/seeds.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace elasticjob::testing;
using namespace std::chrono_literals;

namespace {

using kind = observation::kind;

/// A first attempt that fails is tried again here; a second one is too much.
struct had_no_second_chance {
    bool operator()(failed_run const& run) const { return run.retry_at.has_value(); }
};
using handlers = ErrorHandlers<IgnoreErrors<had_no_second_chance>, StopJob>;
using cluster = simulation<AverageAllocation, SimpleExecutor, UtcZone, Listeners<>, handlers>;

job_config every_five_seconds(int items) {
    job_config c;
    c.name = "a";
    c.cron = "0/5 * * * * ?";
    c.sharding_total_count = items;
    c.failover = true;
    return c;
}

/// Three nodes with two items each, whose runs take a second and fail as long as `is_broken` says so.
struct trio {
    explicit trio(retry_policy retry = {}) {
        auto c = every_five_seconds(6);
        c.retry = retry;
        s.add_job(std::move(c), [this](sharding_context const& ctx) {
            simulated_run r{.duration = 1s};
            if (broken.contains(ctx.item) && broken[ctx.item]-- > 0) r.outcome = error{errc::job_failed, "out of paper"};
            return r;
        });
        s.add_nodes(3);
        s.start_all();
        s.run_for(9s); // the runs of 0:00:05 have ended
    }
    ~trio() { CHECK_MESSAGE(s.violations().empty(), s.transcript()); }

    std::size_t count(kind k, std::uint32_t node) const {
        std::size_t n = 0;
        for (auto const& o : s.view().log) n += o.what == k && o.node == node;
        return n;
    }
    std::uint32_t owner(item_index i) const {
        std::uint32_t n = 0;
        while (n < 3 && s.view().nodes[n].instances.contains("a") &&
               s.view().nodes[n].instances.at("a") != s.view().data(s.layout(0).item_instance(i)))
            ++n;
        return n;
    }
    std::size_t members() const { return s.view().live_instances("a").size(); }

    std::map<item_index, int> broken; ///< how often they fail yet
    cluster s{1};
};

/// Runs that had begun when the failure was reported may go on, and no other run begins. An instance is recognized by
/// its name: when the node is scheduled again it has another one.
class nothing_begins_behind_a_failure {
public:
    static constexpr std::string_view name = "nothing begins behind a failure";

    std::string on(observation const& o, cluster_view const&) {
        // A run that was made to stop has not failed, nor has one that a full pool refused.
        if (o.what == kind::started) may_fail_[{o.process, o.item}] = false;
        if (o.what == kind::body_ended) may_fail_[{o.process, o.item}] = o.text.find("asked to stop") == o.text.npos;
        if (o.what == kind::finished && o.failure && may_fail_[{o.process, o.item}]) {
            failed_.try_emplace(o.instance, o);
            ++failures;
        }
        if (o.what == kind::left || o.what == kind::process_killed) {
            std::erase_if(failed_, [&](auto const& f) { return f.second.process == o.process; });
            return {};
        }
        auto const failed = failed_.find(o.instance);
        if (o.what != kind::started || failed == failed_.end()) return {};
        if (o.at - failed->second.at < 1s) return {}; // it had been asked for by then
        return o.instance + " starts item " + item_name(o.item) + " though it has failed at item " +
               item_name(failed->second.item);
    }

    /// Long after the last failure all that had one have left.
    std::string reached(stage s, cluster_view const& v) {
        if (s != stage::settling) return {};
        for (auto const& [instance, o] : failed_)
            if (v.live_instances(o.job).contains(instance)) return instance + " has not left, though it has failed";
        return {};
    }

    static inline std::uint64_t failures = 0; ///< of all seeds

private:
    std::map<std::pair<std::uint64_t, item_index>, bool> may_fail_; ///< by process and item, of the last run
    std::map<std::string, observation> failed_; ///< by instance, until it has left or is dead
};

std::unique_ptr<cluster> build(std::uint64_t seed) {
    auto s = std::make_unique<cluster>(seed);
    random_source random{seed * 49'979'687};
    auto const items = static_cast<int>(1 + random.next() % 6);
    s->add_job(every_five_seconds(items), [random, &world = s->world()](sharding_context const&) mutable {
        simulated_run r{.duration = std::chrono::milliseconds{random.next() % 2'000}, .stops_after = 300ms};
        if (random.next() % 25 == 0 && world.now().time_since_epoch() < 4min) r.outcome = error{errc::job_failed, "at random"};
        return r;
    });
    s->add_invariant(nothing_begins_behind_a_failure{});
    s->add_nodes(static_cast<std::uint32_t>(3 + random.next() % 3));
    return s;
}

} // namespace

TEST_CASE("stop job: the instance that has failed leaves, the others take over, and it comes back when it is scheduled") {
    trio t;
    auto const who = t.owner(3);
    REQUIRE(who < 3);
    t.broken[3] = 1;
    t.s.run_for(5s); // 0:00:14
    CHECK(t.count(kind::left, who) == 1);
    CHECK(t.members() == 2);
    auto const begun = t.count(kind::started, who);
    t.s.run_for(60s);
    CHECK(t.count(kind::started, who) == begun);
    std::size_t all = 0;
    for (std::uint32_t n = 0; n < 3; ++n) all += t.count(kind::started, n);
    CHECK(all == 6 * 14); // of 5, 10, ... 70 seconds, and none missed

    t.s.inject({.what = fault_kind::join, .node = who});
    t.s.run_for(10s);
    CHECK(t.members() == 3);
    CHECK(t.count(kind::started, who) > begun);
}

TEST_CASE(
    "stop job: with an item that fails everywhere all instances leave one after another; a restart is a new instance") {
    trio t;
    t.broken[0] = 3;
    t.s.run_for(30s);
    CHECK(t.members() == 0);
    t.s.inject({.what = fault_kind::crash, .node = 1, .span = 1s});
    t.s.run_for(20s);
    CHECK(t.members() == 1);
    CHECK(t.count(kind::joined, 1) == 2);
    auto const begun = t.count(kind::started, 1);
    t.s.run_for(10s);
    CHECK(t.count(kind::started, 1) == begun + 2 * 6);
}

TEST_CASE("stop job: the handlers in front decide whether a failure that is tried again counts") {
    trio t{{.attempts_max = 2, .pause = 500ms}};
    t.broken[2] = 1;
    t.s.run_for(15s);
    CHECK(t.members() == 3);
    t.broken[2] = 2;
    t.s.run_for(15s);
    CHECK(t.members() == 2);
}

TEST_CASE("stop job: whatever a seed does, an instance that has failed begins nothing more") {
    nothing_begins_behind_a_failure::failures = 0;
    auto const found = explored(seeds(50), &build);
    MESSAGE(found.seeds << " seeds, " << nothing_begins_behind_a_failure::failures << " failures");
    CHECK(nothing_begins_behind_a_failure::failures > 3 * found.seeds);
}
