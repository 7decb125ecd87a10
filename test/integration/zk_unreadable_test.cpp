// SPDX-License-Identifier: Apache-2.0
// A node of the job that belongs to another user.
#include <elasticjob/execution/simple_executor.hpp>
#include <elasticjob/registry/zk/c_api.hpp>
#include <elasticjob/scheduler/job_scheduler.hpp>

#include <integration/zk_lab.hpp>
#include <support/zk_schedulers.hpp>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

/// The reported troubles.
class troubles {
public:
    void add(error const& e) {
        std::lock_guard const lock{mutex_};
        all_.push_back(e);
        changed_.notify_all();
    }
    std::vector<error> wait_for_one(std::chrono::milliseconds limit = 20s) {
        std::unique_lock lock{mutex_};
        changed_.wait_for(lock, limit, [&] { return !all_.empty(); });
        return all_;
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<error> all_;
};

struct into {
    troubles* where;
    template <class Event>
    void operator()(Event const& e) const {
        if constexpr (std::is_same_v<Event, events::trouble>) where->add(e.what);
    }
};

/// Nobody may read that node of the server any more.
void forbid_reading(zk_server const& server, char const* path) {
    auto const silent = [](char const*) {};
    zhandle_t* const z = zookeeper_init2(server.endpoint().c_str(), nullptr, 10'000, nullptr, nullptr, 0, silent);
    REQUIRE(z != nullptr);
    char scheme[] = "world", who[] = "anyone";
    ACL entry{ZOO_PERM_ALL & ~ZOO_PERM_READ, {scheme, who}};
    ACL_vector const all{1, &entry};
    CHECK(zoo_set_acl(z, path, -1, &all) == ZOK);
    zookeeper_close(z);
}

} // namespace

TEST_CASE("ZkRegistry: a job reports a server's node that it may not read") {
    zk_server server{quick()};
    auto r = connected(to(server.endpoint()));
    auto o = to(server.endpoint());
    o.digest = "alice:secret";
    auto alice = connected(o);
    troubles told;
    zk_scheduler<SimpleExecutor> scheduler{r, {}, into{&told}};
    job_config config;
    config.name = "settle";
    config.cron = "0 0 0 1 1 ? 2099";
    config.sharding_total_count = 2;
    auto const job = scheduler.schedule(config, [] {});
    REQUIRE(job.has_value());
    on_loop(alice.loop(), [&]() -> task<> {
        REQUIRE(
            (co_await alice.create(at("/settle/servers/10.0.0.9"), "DISABLED", create_mode::persistent)).has_value());
    });
    auto other = connected(to(server.endpoint())); // an instance of that server; its node is readable for all
    on_loop(other.loop(), [&]() -> task<> {
        auto const there = at("/settle/instances/10.0.0.9@-@7-00000000000000aa");
        REQUIRE((co_await other.create(there, "", create_mode::ephemeral)).has_value());
    });
    auto const all = told.wait_for_one();
    REQUIRE(all.size() == 1);
    CHECK(all[0] == errc::no_auth);
    CHECK(all[0].where == "/settle/servers/10.0.0.9");
}

// After reading its configuration the job keeps only what the text says, so it reads the text again if only the
// schedule beside it changes.
TEST_CASE("ZkRegistry: a job reports that it may not read its configuration again") {
    zk_server server{quick()};
    auto r = connected(to(server.endpoint()));
    troubles told;
    zk_scheduler<SimpleExecutor> scheduler{r, {}, into{&told}};
    auto const job = scheduler.schedule({.name = "settle", .cron = "0 0 0 1 1 ? 2099"}, [] {});
    REQUIRE(job.has_value());
    forbid_reading(server, "/test/settle/config");
    auto other = connected(to(server.endpoint()));
    on_loop(other.loop(), [&]() -> task<> {
        REQUIRE((co_await other.create(at("/settle/ext/schedule"), "{}", create_mode::persistent)).has_value());
    });
    // The job may have had the text of its start when the node was created.
    auto all = told.wait_for_one(100ms);
    for (int attempt = 0; all.empty() && attempt < 200; ++attempt) {
        on_loop(other.loop(), [&]() -> task<> {
            REQUIRE((co_await other.set(at("/settle/ext/schedule"), "{}", any_version)).has_value());
        });
        all = told.wait_for_one(100ms);
    }
    REQUIRE_FALSE(all.empty());
    CHECK(all[0] == errc::no_auth);
    CHECK(all[0].where == "/settle/config");
}
