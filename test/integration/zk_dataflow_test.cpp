// SPDX-License-Identifier: Apache-2.0
// Dataflow jobs on a real server: two sessions that share a source, hand items over in mid-stream, and are cut off.
#include <elasticjob/execution/dataflow_executor.hpp>

#include <integration/zk_proxy.hpp>
#include <integration/zk_runs.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <semaphore>
#include <stop_token>
#include <string>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

/// A typical source: any caller fetches rows from the first unfinished one, and a run reports finished rows with its
/// token. Threads: any.
class table {
public:
    table(int items, int rows, int offered)
        : rows_{rows}, offered_{offered}, items_(static_cast<std::size_t>(items)) {}

    /// Waits for rows, at most half a minute; returns none once all are done.
    std::vector<int> fetch(sharding_context const& c) {
        std::stop_callback const on_stop{c.stop, [this] { change([this] { ++asked_to_stop_; }); }};
        std::unique_lock lock{mutex_};
        auto& i = items_[c.item];
        changed_.wait_for(lock, 30s, [&] { return i.done < offered_ || i.done == rows_; });
        std::vector<int> found;
        for (int row = i.done; row < offered_ && found.size() < c.fetch_count; ++row) found.push_back(row);
        if (!found.empty() && i.fetched > found.front()) ++fetched_twice_;
        i.fetched = std::max(i.fetched, i.done + static_cast<int>(found.size()));
        return found;
    }
    result<void> done(sharding_context const& c, std::vector<int> const& rows, char who) {
        std::lock_guard const lock{mutex_};
        auto& i = items_[c.item];
        if (c.token < i.token) return error{errc::job_failed, "somebody else has been here since"};
        i.token = c.token;
        for (int const row : rows)
            if (row == i.done) {
                ++i.done;
                i.by += who;
            }
        changed_.notify_all();
        return success();
    }

    void offer(int rows) {
        change([&] { offered_ = rows; });
    }
    bool wait_until_done(int rows) {
        return wait([&] {
            return std::all_of(items_.begin(), items_.end(), [&](item const& i) { return i.done == rows; });
        });
    }
    /// Waits until this many runs have been asked to stop while they waited for rows.
    bool wait_until_asked(int runs) {
        return wait([&] { return asked_to_stop_ == runs; });
    }
    int fetched_twice() {
        std::lock_guard const lock{mutex_};
        return fetched_twice_;
    }
    /// The runs that have done the rows of an item, in order.
    std::string by(item_index i) {
        std::lock_guard const lock{mutex_};
        return items_[i].by;
    }

private:
    struct item {
        int done = 0, fetched = 0;
        std::int64_t token = 0;
        std::string by{};
    };
    template <class F>
    void change(F f) {
        std::lock_guard const lock{mutex_};
        f();
        changed_.notify_all();
    }
    template <class F>
    bool wait(F is_there) {
        std::unique_lock lock{mutex_};
        return changed_.wait_for(lock, 30s, is_there);
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    int const rows_;
    int offered_;
    int asked_to_stop_ = 0, fetched_twice_ = 0;
    std::vector<item> items_;
};

auto worker(table& t, char who) {
    return dataflow{[&t](sharding_context const& c) { return t.fetch(c); },
                    [&t, who](sharding_context const& c, std::vector<int> const& rows) { return t.done(c, rows, who); }};
}

job_config stream(std::string name, int items) {
    auto c = on_demand(std::move(name), items);
    c.streaming_process = true;
    c.dataflow.fetch_count = 5;
    return c;
}

/// The numbers in a node of counts; empty if there is no such node.
std::string counts(ZkRegistry& r, std::string const& job, item_index item) {
    std::string text;
    on_loop(r.loop(), [&]() -> task<> {
        auto const there = co_await r.get(at("/" + job + "/ext/counts/" + std::to_string(item)));
        if (there) text = there->data.substr(there->data.find("succeeded"));
    });
    return text;
}

} // namespace

TEST_CASE("zk_jobs.dataflow: once without streaming, and its counts are in the registry after their interval") {
    shared_zk_server server;
    auto r = connected(to(server));
    run_log log;
    zk_scheduler<DataflowExecutor> scheduler{r, instance(1), log.to_sink()};
    auto config = on_demand("once");
    config.dataflow = {.fetch_count = 3, .count_interval = 1s};
    auto const body = dataflow{[](sharding_context const& c) { return std::vector<int>(c.fetch_count); },
                               [](sharding_context const&, std::vector<int> const& rows) { return rows.size() - 1; }};
    auto job = scheduler.schedule(config, body);
    REQUIRE_MESSAGE(job, to_string(job.error()));
    REQUIRE(job->trigger());
    CHECK(log.wait_for_ends(1).front().said() == "job_failed: 1 of 3 elements were not processed well");
    on_loop(r.loop(), [&]() -> task<> { co_await until_exists(r, at("/once/ext/counts/0"), true); });
    CHECK(counts(r, "once", 0) == "succeeded 2\nfailed 1\n");
}

TEST_CASE("zk_jobs.dataflow: items that change owners in mid-stream lose no row, repeat none, and count all") {
    constexpr int items = 4, rows = 40;
    table t{items, rows, rows / 2};
    shared_zk_server server;
    auto first = connected(to(server)), second = connected(to(server));
    run_log log_of_first, log_of_second;
    zk_scheduler<DataflowExecutor> one{first, instance(1), log_of_first.to_sink()};
    zk_scheduler<DataflowExecutor> two{second, instance(2), log_of_second.to_sink()};
    auto config = stream("stream", items);
    config.cron = "* * * * * ?";
    auto job = one.schedule(config, worker(t, 'a'));
    REQUIRE_MESSAGE(job, to_string(job.error()));
    REQUIRE(t.wait_until_done(rows / 2)); // then each item waits for more
    auto same_job = two.schedule(config, worker(t, 'b'));
    REQUIRE_MESSAGE(same_job, to_string(same_job.error()));
    REQUIRE(t.wait_until_asked(2));
    t.offer(rows);
    REQUIRE(t.wait_until_done(rows));
    CHECK(t.fetched_twice() == 0);

    // A run that is asked to stop processes the rows of that fetch, and no more. Higher addresses get lower items.
    log_of_second.wait_for_share({0, 1});
    for (item_index const i : {0U, 1U}) CHECK(t.by(i) == std::string(25, 'a') + std::string(15, 'b'));
    for (item_index const i : {2U, 3U}) CHECK(t.by(i) == std::string(40, 'a'));
    REQUIRE(job->shutdown());
    CHECK(counts(second, "stream", 0) == "succeeded 25\nfailed 0\n");
    CHECK(counts(second, "stream", 3) == "succeeded 40\nfailed 0\n");
    REQUIRE(same_job->shutdown());
    CHECK(counts(second, "stream", 0) == "succeeded 15\nfailed 0\n");
    CHECK(counts(second, "stream", 3) == "succeeded 40\nfailed 0\n");
}

TEST_CASE("zk_jobs.dataflow: late work of a run that was cut off is refused by its token, and its successor does it") {
    constexpr int rows = 20;
    table t{1, rows, rows};
    shared_zk_server server;
    tcp_proxy wire_of_first{server.port()};
    auto first = connected(with_session(to(wire_of_first.endpoint(), server.name_space()), 2s));
    auto second = connected(to(server));
    run_log log_of_first, log_of_second;
    zk_scheduler<DataflowExecutor> one{first, instance(2), log_of_first.to_sink()};
    zk_scheduler<DataflowExecutor> two{second, instance(1), log_of_second.to_sink()};
    auto config = stream("fenced", 1);
    config.failover = true;
    std::binary_semaphore has_fetched{0}, may_go_on{0};
    auto job = one.schedule(config, dataflow{[&](sharding_context const& c) { return t.fetch(c); },
                                             [&](sharding_context const& c, std::vector<int> const& found) {
                                                 has_fetched.release();
                                                 (void)may_go_on.try_acquire_for(30s);
                                                 return t.done(c, found, 'a');
                                             }});
    REQUIRE_MESSAGE(job, to_string(job.error()));
    REQUIRE(job->trigger());
    REQUIRE(has_fetched.try_acquire_for(30s));
    auto same_job = two.schedule(config, worker(t, 'b'));
    REQUIRE_MESSAGE(same_job, to_string(same_job.error()));
    wire_of_first.set_requests(wire::lossy);
    wire_of_first.set_replies(wire::lossy);
    auto const successor = log_of_second.wait_for_ends(1).front();
    CHECK(successor.source == run_source::failover);
    CHECK(successor.said() == "");

    may_go_on.release();
    auto const cut_off = log_of_first.wait_for_ends(1).front();
    CHECK(cut_off.said() == "job_failed: somebody else has been here since");
    CHECK(cut_off.token < successor.token);
    CHECK(t.by(0) == std::string(rows, 'b'));
    wire_of_first.cut_and_repair();
    log_of_first.wait_for_fenced(1);
}
