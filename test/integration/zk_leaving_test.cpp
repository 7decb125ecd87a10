// SPDX-License-Identifier: Apache-2.0
// Requests that a real server refuses, or does not answer, when a run ends and when an instance leaves.
#include <elasticjob/execution/simple_executor.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/scheduler/job_scheduler.hpp>

#include <integration/zk_lab.hpp>
#include <support/zk_schedulers.hpp>

#include <zookeeper/zookeeper.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

/// The reports of bodies and the sink, and a gate for bodies.
struct notes {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<error> troubles;
    int begun = 0;
    bool is_open = false;

    template <class Condition>
    bool wait(Condition holds) {
        std::unique_lock lock{mutex};
        return changed.wait_for(lock, 30s, holds);
    }
    void change(auto const& act) {
        std::lock_guard const lock{mutex};
        act();
        changed.notify_all();
    }
};

struct into {
    notes* where;
    template <class Event>
    void operator()(Event const& e) const {
        if constexpr (std::is_same_v<Event, events::trouble>) where->change([&] { where->troubles.push_back(e.what); });
    }
};

/// An administrator who changes access lists. Uses libzookeeper directly, because a registry does not handle them.
class administrator {
public:
    explicit administrator(std::string const& servers)
        : handle_{zookeeper_init2(servers.c_str(), nullptr, 10'000, nullptr, nullptr, 0, [](char const*) {})} {
        REQUIRE(handle_);
    }
    administrator(administrator const&) = delete;
    administrator& operator=(administrator const&) = delete;
    ~administrator() { zookeeper_close(handle_); }

    /// Gives everyone these rights on the node, and the right to change its list again.
    void set_access(std::string const& path, int permissions) {
        ACL everybody{permissions | ZOO_PERM_ADMIN, ZOO_ANYONE_ID_UNSAFE};
        ACL_vector const list{1, &everybody};
        REQUIRE(zoo_set_acl(handle_, path.c_str(), -1, &list) == ZOK);
    }

private:
    zhandle_t* handle_;
};

job_config every_second(int items) {
    job_config c;
    c.name = "settle";
    c.cron = "* * * * * ?";
    c.sharding_total_count = items;
    c.failover = true;
    return c;
}

scheduler_options on_server(std::string ip) {
    scheduler_options o;
    o.server_ip = std::move(ip);
    return o;
}

} // namespace

TEST_CASE("zk_leaving: an end that an access list forbids is reported, and recorded after the list is corrected") {
    zk_server server{quick()};
    auto r = connected(to(server.endpoint()));
    administrator admin{server.endpoint()};
    notes told;
    test::zk_scheduler<SimpleExecutor> scheduler{r, on_server("10.0.0.1"), into{&told}};
    auto const body = [&] {
        told.change([&] { ++told.begun; });
        (void)told.wait([&] { return told.is_open; });
    };
    auto const job = scheduler.schedule(every_second(1), body);
    REQUIRE(job);
    REQUIRE(told.wait([&] { return told.begun == 1; }));
    auto const record = "/test/settle/ext/run/0";
    admin.set_access(record, ZOO_PERM_READ);
    told.change([&] { told.is_open = true; });
    REQUIRE(told.wait([&] { return !told.troubles.empty(); }));
    CHECK(told.troubles.front() == errc::no_auth);
    CHECK(told.begun == 1);
    admin.set_access(record, ZOO_PERM_ALL);
    CHECK(told.wait([&] { return told.begun >= 3; }));
    CHECK(told.troubles.size() == 1);
}

TEST_CASE("zk_leaving: nodes that a scheduler cannot remove from a frozen server are removed when it is back") {
    zk_server server{quick()};
    auto options = to(server.endpoint());
    options.session_timeout = 60s; // it does not end in this test
    auto one = connected(options);
    auto two = connected(options);
    notes told;
    told.is_open = true;
    auto const body = [&] { told.change([&] { ++told.begun; }); };
    using scheduler_type = test::zk_scheduler<SimpleExecutor>;
    auto first = std::make_unique<scheduler_type>(one, on_server("10.0.0.1"), into{&told});
    auto config = every_second(4);
    config.cron = "0 0 0 1 1 ? 2099"; // no run is under way when the server freezes
    auto mine = first->schedule(config, body);
    REQUIRE(mine);
    scheduler_type second{two, on_server("10.0.0.2"), NoEvents{}};
    auto const theirs = second.schedule(config, body);
    REQUIRE(theirs);

    server.pause();
    auto const begin = std::chrono::steady_clock::now();
    CHECK_FALSE(mine->shutdown());
    first.reset();
    CHECK(std::chrono::steady_clock::now() - begin < 15s);
    CHECK(told.troubles.size() == 1);
    server.resume();

    on_loop(two.loop(), [&]() -> task<> {
        for (;;) {
            event_watch<event_loop> changed{two.loop()};
            auto const left = co_await two.children(at("/settle/instances"), &changed);
            if (!left) throw std::runtime_error{to_string(left.error())};
            if (left->size() == 1) break;
            co_await changed.fired();
        }
    });
    CHECK(one.session().generation.value == 1);
}
