// SPDX-License-Identifier: Apache-2.0
// Dataflow jobs that stream, under whatever a seed does to their clusters: while there are faults each item's source
// has always more, so a run ends only when it is stopped, fails, or dies; then there is less, and all is caught up
// with.
#include <elasticjob/execution/dataflow_executor.hpp>
#include <elasticjob/testing/simulation.hpp>

#include <simulation/seeds.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace elasticjob::testing;
using namespace std::chrono_literals;

namespace {

using cluster = simulation<AverageAllocation, DataflowExecutor>;

constexpr auto length = 240s; ///< of the faults

/// Counts of the events that the invariants are about, in all seeds.
struct tally {
    std::uint64_t batches = 0, streams = 0, stopped = 0, stale = 0;
};

/// The source of the elements, and the record of how many have been processed. Elements are numbered from 0. Notes
/// violations.
class streams {
public:
    streams(virtual_loop& world, tally& t) : world_{world}, tally_{t} {}

    std::string wrong;

    std::vector<std::uint64_t> fetch(sharding_context const& c) {
        auto& mine = items_[c.item];
        auto& r = runs_[{c.item, c.token}];
        if (r.open > 0) complain(c, "fetches more before it has processed what it has");
        if (r.batches > 0 && r.was_asked) complain(c, "fetches more though it was asked to stop");
        mine.token = std::max(mine.token, c.token);
        mine.done = std::max(mine.done, there_are() - std::min(there_are(), kept));
        std::vector<std::uint64_t> batch(std::min<std::uint64_t>(c.fetch_count, there_are() - mine.done));
        std::iota(batch.begin(), batch.end(), mine.done);
        r.open = batch.size();
        return batch;
    }
    /// Two valid runs at a time would process an element twice.
    result<void> process(sharding_context const& c, std::span<std::uint64_t const> part) {
        pass_time(125ms * part.size());
        auto& mine = items_[c.item];
        auto& r = runs_[{c.item, c.token}];
        if (c.token < mine.token) return ++tally_.stale, error{errc::fenced, "by the one who keeps the stream"};
        if (part.front() != mine.done) complain(c, "has processed what others have");
        mine.done = part.back() + 1;
        r.open -= part.size();
        if (r.open > 0) return success();
        ++r.batches;
        ++tally_.batches;
        r.was_asked = c.stop.stop_requested();
        tally_.streams += r.batches == 10;
        tally_.stopped += r.was_asked;
        return success();
    }
    /// A batch is processed, or its run has failed.
    void ended_well(item_index i, std::int64_t token) {
        if (runs_[{i, token}].open > 0) wrong = "the run of item " + item_name(i) + " has dropped what it has fetched";
    }
    std::uint64_t lag(item_index i) { return there_are() - items_[i].done; }

private:
    /// More than a run can process while there are faults: 10 a second to fetch, where 8 can be processed. Then one.
    std::uint64_t there_are() const {
        auto const t = world_.now().time_since_epoch();
        return static_cast<std::uint64_t>(10 * (std::min<mono_time::duration>(t, length) / 1s) +
                                          std::max<mono_time::duration>(t - length, 0s) / 1s);
    }
    void complain(sharding_context const& c, std::string what) {
        wrong = "the run of item " + item_name(c.item) + " with token " + std::to_string(c.token) + " " + std::move(what);
    }
    static constexpr std::uint64_t kept = 200; ///< older elements are lost, so there is an end to catching up

    struct item {
        std::uint64_t done = 0;
        std::int64_t token = 0;
    };
    struct run {
        std::uint64_t open = 0, batches = 0;
        bool was_asked = false; ///< to stop, when its last batch had been processed
    };

    virtual_loop& world_;
    tally& tally_;
    std::map<item_index, item> items_;
    std::map<std::pair<item_index, std::int64_t>, run> runs_;
};

struct stream_body {
    std::shared_ptr<streams> all;
    auto fetch(sharding_context const& c) const { return all->fetch(c); }
    auto process(sharding_context const& c, std::span<std::uint64_t const> part) const { return all->process(c, part); }
};

/// A fetched element is processed once, or the run fails on record. A run that is asked to stop ends after its batch.
class streams_flow {
public:
    static constexpr std::string_view name = "streams flow";

    explicit streams_flow(std::shared_ptr<streams> s) : all_{std::move(s)} {}

    std::string on(observation const& o, cluster_view const& v) {
        using kind = observation::kind;
        if ((o.what == kind::finished || o.what == kind::body_ended) && !o.failure) all_->ended_well(o.item, o.token);
        if (o.what == kind::finished && v.now_at == stage::settled && o.failure)
            return testing::detail::item_text(o.job, o.item) + " fails though nobody does anything to it";
        return std::exchange(all_->wrong, {});
    }
    std::string reached(stage s, cluster_view const& v) {
        if (s != stage::watched || !testing::detail::has_members(v, v.jobs.front())) return {};
        for (item_index i = 0; i < testing::detail::item_count(v, v.jobs.front()).value_or(0); ++i)
            if (auto const lag = all_->lag(i); lag > 20)
                return "item " + item_name(i) + " has not caught up with its stream: " + std::to_string(lag);
        return {};
    }

private:
    std::shared_ptr<streams> all_;
};

tally of_all; // seeds

std::unique_ptr<cluster> build(std::uint64_t seed) {
    random_source random{seed * 32'452'843};
    auto const pick = [&](std::uint64_t n) { return random.next() % n; };
    simulation_options o;
    o.scheduler.drain_timeout = 2s;
    if (seed % 3 == 2) o.latency.most = 30ms;
    auto s = std::make_unique<cluster>(seed, o);
    auto const all = std::make_shared<streams>(s->world(), of_all);
    job_config c;
    c.name = "stream";
    c.cron = "0/5 * * * * ?";
    c.sharding_total_count = static_cast<int>(1 + pick(5));
    c.streaming_process = true;
    c.dataflow.fetch_count = 2;
    c.dataflow.threads = static_cast<std::uint32_t>(1 + pick(2)); // none of them is free
    c.failover = pick(3) != 0;
    if (pick(2) == 0) c.retry = {.attempts_max = 3, .pause = 500ms, .pause_max = 2s};
    s->add_job(c, takes_time{stream_body{all}});
    s->add_invariant(streams_flow{all});
    s->add_nodes(static_cast<std::uint32_t>(3 + pick(2)));
    return s;
}

} // namespace

TEST_CASE("testing.simulation: streams are processed batch by batch, whatever a seed does") {
    auto o = seeds(40);
    o.length = length;
    of_all = {};
    auto const found = explored(o, &build);
    MESSAGE(found.seeds << " seeds: " << of_all.batches << " batches, " << of_all.streams << " runs of ten and more, "
                        << of_all.stopped << " that were stopped behind one, " << of_all.stale << " stale");
    if (is_replay()) return;
    CHECK(of_all.streams > 10 * found.seeds);
    CHECK(of_all.stopped > found.seeds);
}
