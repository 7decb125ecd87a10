// SPDX-License-Identifier: Apache-2.0
// Job bodies of all kinds in a simulation: coroutines, and bodies that pass time themselves.
#include <elasticjob/execution/coroutine_executor.hpp>
#include <elasticjob/execution/run_record.hpp>

#include <elasticjob/testing/simulation.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::testing;
using namespace std::chrono_literals;

namespace {

using kind = observation::kind;
using run_type = coroutine_context<node_loop>;

job_config every_ten_seconds(int items = 1) {
    job_config c;
    c.name = "a";
    c.cron = "0/10 * * * * ?";
    c.sharding_total_count = items;
    c.failover = true;
    return c;
}

observation const* last(cluster_view const& v, kind k) {
    for (auto at = v.log.rbegin(); at != v.log.rend(); ++at)
        if (at->what == k) return &*at;
    return nullptr;
}

std::string checkpoint(cluster_view const& v) {
    auto const* there = v.find(cluster_view::layout("a").run_record(0));
    return there ? run_record::parse(there->data).value().checkpoint : std::string{"(none)"};
}

/// One node, whose runs begin at 0:00:10 and then every ten seconds.
struct one_node {
    template <class Executor, class Body>
    one_node(Executor, Body body) {
        s.add_job<Executor>(every_ten_seconds(), std::move(body));
        s.add_nodes(1);
        s.start_all();
        s.run_for(9s);
    }
    ~one_node() { CHECK_MESSAGE(s.violations().empty(), s.transcript()); }
    void inject(fault f) {
        s.inject(f);
        s.run_for(0s);
    }
    /// Of the last run.
    std::chrono::nanoseconds took() const {
        return last(s.view(), kind::finished)->at - last(s.view(), kind::body_began)->at;
    }
    simulation<> s{1};
};

/// Its progress, and whether its resources have been freed.
struct steps {
    int begun = 0, passed = 0, ended = 0;
};
struct at_the_end {
    std::shared_ptr<steps> seen;
    ~at_the_end() { ++seen->ended; }
};

} // namespace

TEST_CASE("testing.simulation: a coroutine spends time on the loop, and its checkpoints are visible while it runs") {
    one_node w{CoroutineExecutor{}, [](run_type const& run) -> task<result<void>> {
        co_await run.sleep_for(2s);
        auto const saved = co_await run.save("half");
        if (!saved) co_return saved.error();
        auto const worked = co_await run.on_pool([]() -> result<void> { return error{errc::job_failed, "on the pool"}; });
        co_await run.sleep_for(1s);
        co_return worked;
    }};
    w.s.run_for(2s);
    CHECK(w.s.view().runs.size() == 1);
    CHECK(checkpoint(w.s.view()).empty());
    w.s.run_for(1500ms);
    CHECK(checkpoint(w.s.view()) == "half");
    CHECK(w.s.view().runs.size() == 1);
    w.s.run_for(2s);
    CHECK(w.s.view().runs.empty());
    CHECK(w.took() >= 3s);
    CHECK(w.took() < 3100ms);
    CHECK(last(w.s.view(), kind::finished)->failure->what == "on the pool");
}

TEST_CASE("testing.simulation: a coroutine hangs until it is stopped, or throws, and dies with its process") {
    auto const seen = std::make_shared<steps>();
    auto const body = [seen](run_type const& run) -> task<void> {
        ++seen->begun;
        at_the_end const mark{seen};
        if (co_await run.sleep_for(2s)) ++seen->passed;
    };
    one_node w{CoroutineExecutor{}, body};
    w.inject({.what = fault_kind::hanging_bodies, .span = 6s});
    w.s.run_for(5s);
    CHECK(seen->begun == 0);
    w.s.run_for(4s);
    CHECK(seen->passed == 1);
    w.inject({.what = fault_kind::throwing_bodies, .span = 10s});
    w.s.run_for(10s);
    CHECK(seen->begun == 1);
    CHECK(*last(w.s.view(), kind::finished)->failure == errc::job_threw);
    w.s.run_for(3s); // 0:00:31
    CHECK(seen->begun == 2);
    CHECK(seen->ended == 1);
    w.inject({.what = fault_kind::crash, .span = 1h});
    CHECK(w.s.view().runs.empty());
    w.s.run_for(1min);
    CHECK(seen->ended == 2);
    CHECK(seen->passed == 1);
}

TEST_CASE("testing.simulation: a body that passes time itself sees events in that time") {
    std::vector<bool> asked;
    auto const body = [&](sharding_context const& c) -> result<void> {
        for (int n = 0; n < 4; ++n) {
            asked.push_back(c.stop.stop_requested());
            pass_time(1s);
        }
        return error{errc::job_failed, "as it wants"};
    };
    one_node w{SimpleExecutor{}, takes_time{body}};
    w.s.run_for(3500ms);
    CHECK(w.s.view().runs.size() == 1);
    w.inject({.what = fault_kind::stop_run});
    w.s.run_for(3s);
    CHECK(asked == std::vector<bool>{false, false, false, true});
    CHECK(w.took() >= 4s);
    CHECK(w.took() < 4100ms);
    CHECK(last(w.s.view(), kind::finished)->failure->what == "as it wants");
}

TEST_CASE("testing.simulation: faults of bodies happen where time passes") {
    auto const seen = std::make_shared<steps>();
    auto const body = [seen](sharding_context const&) {
        ++seen->begun;
        at_the_end const mark{seen};
        pass_time(2s);
        ++seen->passed;
    };
    one_node w{SimpleExecutor{}, takes_time{body}};
    w.inject({.what = fault_kind::slow_bodies, .span = 5s, .count = 3});
    w.s.run_for(10s);
    CHECK(w.took() >= 6s);
    w.inject({.what = fault_kind::hanging_bodies, .span = 5s});
    w.s.run_for(10s);
    CHECK(w.took() > 3900ms);
    CHECK(seen->passed == 2);
    w.inject({.what = fault_kind::throwing_bodies, .span = 5s});
    w.s.run_for(10s);
    CHECK(*last(w.s.view(), kind::finished)->failure == errc::job_threw);
    CHECK(seen->passed == 2);
    w.s.run_for(2s);
    CHECK(seen->begun == 4);
    CHECK(seen->ended == 3);
    w.inject({.what = fault_kind::crash, .span = 1h});
    CHECK(w.s.view().runs.empty());
    CHECK(seen->ended == 4); // at once
    CHECK(seen->passed == 2);
    CHECK(last(w.s.view(), kind::body_ended)->at < w.s.world().now() - 1s); // no log shows it
}
