// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/execution/dataflow_executor.hpp>

#include <elasticjob/core/worker_pool.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <mutex>
#include <numeric>
#include <ranges>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace elasticjob;
using detail::stop_order;

namespace {

/// Fetches the given elements, one batch after the other, and then nothing. Fails or throws at one element.
struct recorder {
    std::vector<std::vector<int>> batches;
    int fails_at = -1;
    bool throws = false;
    int fetched = 0;
    std::vector<int> processed{};
    std::stop_source stop{};
    bool stops_while_processing = false;

    std::vector<int> fetch(sharding_context const&) {
        auto const n = static_cast<std::size_t>(fetched++);
        return n < batches.size() ? batches[n] : std::vector<int>{};
    }
    result<void> process(sharding_context const&, std::vector<int> const& data) {
        for (int const x : data) {
            if (stops_while_processing) stop.request_stop();
            if (x == fails_at && throws) throw std::runtime_error{"not this one"};
            processed.push_back(x);
            if (x == fails_at) return error{errc::job_failed, "at " + std::to_string(x)};
        }
        return success();
    }
};
static_assert(dataflow_body<recorder> && body_for<recorder, DataflowExecutor>);
static_assert(!dataflow_body<int> && !body_for<void (*)(), DataflowExecutor>);

struct without_process {
    std::vector<int> fetch(sharding_context const&) { return {}; }
};
static_assert(!dataflow_body<without_process>);

/// One `true` is no answer for several elements: as a number it would say that one of them was processed well.
template <class Data>
struct answers_bool {
    std::vector<int> fetch(sharding_context const&) { return {}; }
    bool process(sharding_context const&, Data) { return true; }
};
static_assert(dataflow_body<answers_bool<int>>);
static_assert(!dataflow_body<answers_bool<std::vector<int> const&>> && !dataflow_body<answers_bool<std::span<int>>>);

/// A run without a scheduler.
struct call {
    job_config config{};
    stop_order order{};
    detail::run_port port{order};
    sharding_context ctx{};
    explicit call(bool streaming = false) {
        config.streaming_process = streaming;
        ctx.config = &config;
        ctx.port = &port;
    }
    template <class Body>
    result<void> operator()(Body& body) {
        return DataflowExecutor{}(body, ctx);
    }
};

/// With the threads of a pool.
struct pooled_port : detail::run_port {
    explicit pooled_port(stop_order& o, ThreadPool& p)
        : run_port{o, nullptr, nullptr,
                   [](run_port& self, work& w) { return static_cast<pooled_port&>(self).pool.try_submit(w); }},
          pool{p} {}
    ThreadPool& pool;
};

} // namespace

TEST_CASE("dataflow: each kind of fetching leads to the same result as in the original") {
    for (bool const streaming : {false, true}) {
        recorder nothing{{}};
        CHECK(call{streaming}(nothing));
        CHECK(nothing.fetched == 1);
        CHECK(nothing.processed.empty());
    }
    recorder once{{{3, 4}, {5}}};
    CHECK(call{}(once));
    CHECK(once.fetched == 1);
    CHECK(once.processed == std::vector{3, 4});

    recorder stream{{{1}, {2, 3}}};
    CHECK(call{true}(stream));
    CHECK(stream.fetched == 3);
    CHECK(stream.processed == std::vector{1, 2, 3});

    recorder failing{{{2, 3}, {9}}, 2, true};
    auto const thrown = call{true}(failing);
    REQUIRE(!thrown);
    CHECK(thrown.error() == errc::job_threw);
    CHECK(failing.fetched == 1);
    CHECK(failing.processed.empty());

    recorder last{{{3, 4}, {9}}, 4};
    auto const failed = call{true}(last);
    REQUIRE(!failed);
    CHECK(failed.error().what == "at 4");
    CHECK(last.processed == std::vector{3, 4});

    recorder stopped{{{1, 2}, {3, 4}}};
    stopped.stops_while_processing = true;
    call r{true};
    r.ctx.stop = stopped.stop.get_token();
    CHECK(r(stopped));
    CHECK(stopped.fetched == 1); // nothing is fetched that would not be processed
    CHECK(stopped.processed == std::vector{1, 2});
}

TEST_CASE("dataflow: fetching may fail or throw, and the run reports it") {
    struct broken {
        bool throws;
        result<std::vector<int>> fetch(sharding_context const&) const {
            if (throws) throw std::runtime_error{"no disk"};
            return error{errc::job_failed, "no rows"};
        }
        void process(sharding_context const&, std::vector<int> const&) const {}
    };
    broken says{false}, throws{true};
    CHECK(call{}(says).error().what == "no rows");
    CHECK(call{}(throws).error().what == "no disk");
}

TEST_CASE("dataflow: processed elements are counted, whether they succeed or not") {
    auto const five = [](sharding_context const&) { return std::vector{1, 2, 3, 4, 5}; };
    auto const counted = [&](auto process) {
        dataflow body{five, process};
        call r;
        auto const outcome = r(body);
        return std::tuple{r.port.succeeded.load(), r.port.failed.load(), outcome.has_value()};
    };
    using data = std::vector<int>;
    CHECK(counted([](sharding_context const&, data const&) {}) == std::tuple{5U, 0U, true});
    CHECK(counted([](sharding_context const&, data const&) { return 3; }) == std::tuple{3U, 2U, false});
    CHECK(counted([](sharding_context const&, data const&) { return 9; }) == std::tuple{5U, 0U, true});
    CHECK(counted([](sharding_context const&, data const&) { return -1; }) == std::tuple{0U, 5U, false});
    CHECK(counted([](sharding_context const&, data const&) -> result<void> {
              return error{errc::job_failed, "no"};
          }) == std::tuple{0U, 5U, false});
    CHECK(counted([](sharding_context const&, data const&) { throw 1; }) == std::tuple{0U, 5U, false});
    // One by one, all of them are tried.
    CHECK(counted([](sharding_context const&, int x) { return x % 2 == 0; }) == std::tuple{2U, 3U, false});
    CHECK(counted([](sharding_context const&, int x) {
              if (x == 1) throw 1;
          }) == std::tuple{4U, 1U, false});
}

TEST_CASE("dataflow: elements may be created when they are read, and that may throw") {
    auto const tried = [](std::uint32_t threads) {
        auto const lazily = [](sharding_context const&) {
            return std::views::iota(0, 5) | std::views::transform([](int x) {
                       if (x == 2) throw std::runtime_error{"no such row"};
                       return x;
                   });
        };
        std::vector<int> processed;
        dataflow body{lazily, [&](sharding_context const&, int x) { processed.push_back(x); }};
        call r;
        r.ctx.process_threads = threads; // there is one
        auto const outcome = r(body);
        REQUIRE(!outcome);
        CHECK(outcome.error() == errc::job_threw);
        CHECK(outcome.error().what == "no such row");
        CHECK(r.port.succeeded == 4);
        CHECK(r.port.failed == 1);
        return processed;
    };
    CHECK(tried(1) == std::vector{0, 1, 3, 4});
    CHECK(tried(3) == std::vector{0, 1, 3, 4});

    struct uncounted : std::vector<int> {
        std::size_t size() const { throw std::runtime_error{"who knows"}; }
    };
    dataflow body{[](sharding_context const&) { return uncounted{}; }, [](sharding_context const&, int) {}};
    CHECK(call{}(body).error().what == "who knows");
}

TEST_CASE("dataflow: several threads process parts of the fetched elements at once") {
    ThreadPool pool{{.threads = 3}};
    stop_order order;
    pooled_port port{order, pool};
    detail::calling_threads callers;
    port.callers = &callers;
    call r;
    r.ctx.port = &port;
    r.ctx.process_threads = 4;
    std::latch all_here{4};
    std::mutex mutex;
    std::set<std::thread::id> threads;
    std::vector<int> seen;
    dataflow body{[](sharding_context const&) {
                      std::vector<int> v(10);
                      std::iota(v.begin(), v.end(), 0);
                      return v;
                  },
                  [&](sharding_context const&, std::span<int> part) {
                      all_here.arrive_and_wait(); // no thread goes on until four are in it
                      std::lock_guard const lock{mutex};
                      threads.insert(std::this_thread::get_id());
                      CHECK(callers.contains(std::this_thread::get_id()));
                      seen.insert(seen.end(), part.begin(), part.end());
                  }};
    CHECK(r(body));
    CHECK(threads.size() == 4);
    std::sort(seen.begin(), seen.end());
    CHECK(seen == std::vector{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
    CHECK(port.succeeded == 10);
}

TEST_CASE("dataflow: runs that share their work never wait for a thread that does not exist") {
    // As many runs as there are threads, and each run asks for more of them.
    ThreadPool pool{{.threads = 2}};
    stop_order order;
    pooled_port port{order, pool};
    std::atomic<int> processed{0};
    std::latch ended{8};
    struct one_run : work {
        one_run(pooled_port& p, std::atomic<int>& n, std::latch& e) : work{&act_on}, port{p}, processed{n}, ended{e} {}
        static void act_on(work& w, work_action a) {
            auto& self = static_cast<one_run&>(w);
            if (a == work_action::run) {
                sharding_context ctx;
                ctx.port = &self.port;
                ctx.process_threads = 8;
                dataflow body{[](sharding_context const&) { return std::vector<int>(100); },
                              [&](sharding_context const&, std::span<int> part) {
                                  self.processed += static_cast<int>(part.size());
                              }};
                CHECK(DataflowExecutor{}(body, ctx));
            }
            self.ended.count_down();
        }
        pooled_port& port;
        std::atomic<int>& processed;
        std::latch& ended;
    };
    std::vector<std::unique_ptr<one_run>> runs;
    for (int i = 0; i < 8; ++i) runs.push_back(std::make_unique<one_run>(port, processed, ended));
    for (auto& each : runs) REQUIRE(pool.try_submit(*each));
    ended.wait();
    CHECK(processed == 800);
}

TEST_CASE("dataflow: each part is tried, and the first failure is reported") {
    call r;
    r.ctx.process_threads = 5;
    std::atomic<int> tried{0};
    dataflow body{[](sharding_context const&) { return std::vector{0, 1, 2, 3, 4}; },
                  [&](sharding_context const&, std::span<int> part) -> result<void> {
                      ++tried;
                      if (part[0] > 1) return error{errc::job_failed, std::to_string(part[0])};
                      return success();
                  }};
    auto const outcome = r(body);
    REQUIRE(!outcome);
    CHECK(outcome.error().what == "2");
    CHECK(tried == 5);
    CHECK(r.port.succeeded == 2);
    CHECK(r.port.failed == 3);
}
