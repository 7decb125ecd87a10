// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/operations/add_job.hpp>
#include <elasticjob/operations/remove_job.hpp>
#include <elasticjob/scheduler/job_catalog.hpp>
#include <elasticjob/scheduler/scheduler_group.hpp>

#include <integration/zk_lab.hpp>
#include <support/zk_schedulers.hpp>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

/// The sessions that own the instances of the jobs.
std::map<std::string, std::int64_t> owners_of(ZkRegistry& r) {
    std::map<std::string, std::int64_t> owners;
    on_loop(r.loop(), [&]() -> task<> {
        auto const jobs = co_await r.children(node_path{});
        REQUIRE(jobs.has_value());
        for (auto const& name : *jobs) {
            job_layout const layout{job_name::parse(name).value()};
            auto const instances = co_await r.children(layout.instances());
            if (!instances) continue;
            for (auto const& id : *instances) {
                auto const there = co_await r.exists(layout.instances() / id);
                if (there && *there) owners[name] = (*there)->owner;
            }
        }
    });
    return owners;
}

/// Collects reports from several threads until there is a given number.
class heard_names {
public:
    void add(std::string name) {
        std::lock_guard const lock{mutex_};
        names_.insert(std::move(name));
        ++reports_;
        changed_.notify_all();
    }
    std::set<std::string> wait_for(std::size_t count) {
        std::unique_lock lock{mutex_};
        changed_.wait_for(lock, 30s, [&] { return names_.size() >= count; });
        return names_;
    }
    /// Whether there are so many reports from now on, of any names.
    bool wait_for_news(int count) {
        std::unique_lock lock{mutex_};
        auto const until = reports_ + count;
        return changed_.wait_for(lock, 10s, [&] { return reports_ >= until; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::set<std::string> names_;
    int reports_ = 0;
};

} // namespace

TEST_CASE("zk_jobs: a group of schedulers opens another session when one is full") {
    shared_zk_server server;
    auto eye = connected(to(server));
    int connections = 0;
    auto const connect = [&] {
        ++connections;
        return ZkRegistry::connect(to(server));
    };
    scheduler_options options;
    options.server_ip = "10.0.0.1";
    auto const make = [&](ZkRegistry& r) { return test::zk_scheduler<SimpleExecutor>{r, options, NoEvents{}}; };
    scheduler_group group{connect, make, 0.01}; // of each session: 9 kB, enough for more than 20 jobs
    CHECK(group.sessions() == 0);
    auto const start = [&](int n) {
        job_config c;
        c.name = "job-" + std::to_string(n);
        c.cron = "0 0 0 1 1 ? 2099";
        c.sharding_total_count = 1;
        return group.schedule(c, [](sharding_context const&) {});
    };
    using handle = decltype(group)::handle;
    std::vector<handle> jobs;
    for (int n = 0; n < 40; ++n) {
        auto job = start(n);
        REQUIRE(job.has_value());
        jobs.push_back(std::move(*job));
    }
    CHECK(group.sessions() == 2);
    CHECK(connections == 2);
    auto const all = group.jobs();
    REQUIRE(all.has_value());
    CHECK(all->size() == 40);

    auto const owners = owners_of(eye);
    CHECK(owners.size() == 40);
    std::map<std::int64_t, int> jobs_of;
    for (auto const& [name, owner] : owners) ++jobs_of[owner];
    CHECK(jobs_of.size() == 2);
    for (auto const& [owner, count] : jobs_of) CHECK(count > 10);
    CHECK(owners.at("job-0") != owners.at("job-39"));

    CHECK(group.pause_all().has_value());
    for (int n : {0, 39}) {
        auto const pauses = job_layout{job_name::parse("job-" + std::to_string(n)).value()}.pauses();
        on_loop(eye.loop(), [&]() -> task<> { CHECK((co_await eye.get(pauses)).has_value()); });
    }

    // The first session has room again when its jobs have left.
    for (int n = 0; n < 10; ++n) CHECK(jobs[static_cast<std::size_t>(n)].shutdown().has_value());
    auto further = start(100);
    REQUIRE(further.has_value());
    CHECK(group.sessions() == 2);
    CHECK(owners_of(eye).at("job-100") == owners.at("job-20"));

    group.leave_all();
    for (auto& job : jobs) CHECK(job.shutdown().has_value());
    CHECK(further->shutdown().has_value());
    CHECK(group.jobs().value().empty());
    CHECK(owners_of(eye).empty());
}

TEST_CASE("zk_jobs: a group of schedulers starts jobs from several threads, and reports failed connections") {
    shared_zk_server server;
    auto const make = [](ZkRegistry& r) {
        scheduler_options options;
        options.server_ip = "10.0.0.1";
        return test::zk_scheduler<SimpleExecutor>{r, options, NoEvents{}};
    };
    bool is_reachable = false;
    auto const connect = [&]() -> result<ZkRegistry> {
        if (is_reachable) return ZkRegistry::connect(to(server));
        return error{errc::unreachable, "no server has answered"};
    };
    scheduler_group group{connect, make, 0.02};
    auto const start = [&](std::string name) {
        job_config c;
        c.name = std::move(name);
        c.cron = "0 0 0 1 1 ? 2099";
        c.sharding_total_count = 1;
        return group.schedule(c, [](sharding_context const&) {});
    };
    CHECK(start("unlucky").error() == errc::unreachable);
    CHECK(group.sessions() == 0);
    is_reachable = true;

    using handle = decltype(group)::handle;
    std::vector<std::vector<handle>> jobs(4);
    {
        std::vector<std::jthread> threads;
        for (std::size_t t = 0; t < jobs.size(); ++t)
            threads.emplace_back([&, t] {
                for (int n = 0; n < 10; ++n) {
                    auto job = start("job-" + std::to_string(t) + "-" + std::to_string(n));
                    if (job) jobs[t].push_back(std::move(*job));
                }
            });
    }
    for (auto const& some : jobs) CHECK(some.size() == 10);
    CHECK(group.jobs().value().size() == 40);
    CHECK(group.sessions() >= 2);
    CHECK(group.sessions() <= 6);
}

TEST_CASE("zk_jobs: no two sessions of a group run the same job") {
    shared_zk_server server;
    auto const connect = [&] { return ZkRegistry::connect(to(server)); };
    auto const make = [](ZkRegistry& r) { return test::zk_scheduler<SimpleExecutor>{r, {}, NoEvents{}}; };
    scheduler_group group{connect, make, 1e-9}; // each job fills a session
    auto const start = [&](std::string name) {
        job_config c;
        c.name = std::move(name);
        c.cron = "0 0 0 1 1 ? 2099";
        return group.schedule(c, [](sharding_context const&) {});
    };
    auto first = start("alone");
    REQUIRE(first.has_value());
    CHECK(start("alone").error() == errc::job_conflict);
    CHECK(start("other").has_value());
    CHECK(group.sessions() == 2);
    {
        auto const place = group.reserve("third");
        REQUIRE(place.has_value());
        CHECK(start("third").error() == errc::job_conflict);
    }
    CHECK(start("third").has_value());
    CHECK(first->shutdown().has_value());
    CHECK(start("alone").has_value());
}

TEST_CASE("zk_jobs: a group reports an exception of the function that connects, and of the one that makes a scheduler") {
    shared_zk_server server;
    bool can_connect = false, can_make = false;
    auto const connect = [&] {
        if (!can_connect) throw std::runtime_error{"no address is known"};
        return ZkRegistry::connect(to(server));
    };
    auto const make = [&](ZkRegistry& r) {
        if (!can_make) throw std::runtime_error{"no thread is left"};
        return test::zk_scheduler<SimpleExecutor>{r, {}, NoEvents{}};
    };
    scheduler_group group{connect, make};
    auto const start = [&] {
        return group.schedule({.name = "job", .cron = "0 0 0 1 1 ? 2099"}, [](sharding_context const&) {});
    };
    CHECK(to_string(start().error()).find("no address is known") != std::string::npos);
    can_connect = true;
    CHECK(to_string(start().error()).find("no thread is left") != std::string::npos);
    CHECK(group.sessions() == 0);
    can_make = true;
    CHECK(start().has_value());
}

TEST_CASE("zk_jobs: a catalog starts its jobs in the sessions of a group") {
    constexpr std::size_t job_count = 30;
    shared_zk_server server;
    auto eye = connected(to(server));
    for (std::size_t n = 0; n < job_count; ++n) {
        job_config c;
        c.name = "job-" + std::to_string(n);
        c.cron = "* * * * * ?";
        c.job_class = "importer";
        REQUIRE(add_job(eye, c).has_value());
    }

    event_loop loop;
    auto on_one_loop = to(server);
    on_one_loop.loop = &loop;
    auto own = connected(on_one_loop);
    scheduler_options options;
    options.server_ip = "10.0.0.1";
    heard_names runs, troubles;
    auto const hear = [&](auto const& event) {
        if constexpr (std::is_same_v<std::decay_t<decltype(event)>, events::trouble>)
            troubles.add(std::string{event.from.job} + ": " + to_string(event.what));
    };
    ThreadPool pool{{.threads = 1}};
    using scheduler = job_scheduler<ZkRegistry, AverageAllocation, SimpleExecutor, SharedPool<ThreadPool>, any_sink>;
    scheduler follows{own, options, SharedPool{pool}, any_sink{hear}};
    auto const make = [&](ZkRegistry& r) { return scheduler{r, options, SharedPool{pool}, any_sink{NoEvents{}}}; };
    auto const importer = [&](job_config const&) { return [&](sharding_context const& c) { runs.add(c.job_name); }; };

    SUBCASE("they run, end when they are removed, and leave with the catalog") {
        scheduler_group group{[&] { return ZkRegistry::connect(on_one_loop); }, make, 0.01};
        {
            job_catalog catalog{follows, group};
            REQUIRE(catalog.add("importer", importer));
            REQUIRE(catalog.follow());
            CHECK(runs.wait_for(job_count).size() == job_count);
            CHECK(catalog.running()->size() == job_count);
            CHECK(group.sessions() >= 2);
            CHECK(group.jobs()->size() == job_count);
            CHECK(follows.jobs()->empty());
            std::set<std::int64_t> sessions;
            for (auto const& [name, owner] : owners_of(eye)) sessions.insert(owner);
            CHECK(sessions.size() == group.sessions());

            REQUIRE(remove_job(eye, "job-7").has_value());
            CHECK(ends_job(catalog, "job-7"));
        }
        CHECK(group.jobs()->empty());
        CHECK(owners_of(eye).empty());
    }
    SUBCASE("they run while another session is being connected, and if an attempt has failed") {
        std::atomic<int> connections{0};
        bool has_run = false;
        auto const connect = [&]() -> result<ZkRegistry> {
            auto const n = ++connections;
            if (n == 2) throw std::runtime_error{"no address is known"};
            if (n == 3) has_run = runs.wait_for_news(3);
            return ZkRegistry::connect(on_one_loop);
        };
        scheduler_group group{connect, make, 0.01};
        job_catalog catalog{follows, group};
        REQUIRE(catalog.add("importer", importer));
        REQUIRE(catalog.follow());
        CHECK(runs.wait_for(job_count).size() == job_count);
        CHECK(has_run);
        auto const told = troubles.wait_for(1);
        REQUIRE(told.size() == 1);
        CHECK(told.begin()->find("no address is known") != std::string::npos);
    }
    SUBCASE("a session with a loop of its own is refused, and this is reported") {
        scheduler_group group{[&] { return ZkRegistry::connect(to(server)); }, make};
        job_catalog catalog{follows, group};
        REQUIRE(catalog.add("importer", importer));
        REQUIRE(catalog.follow());
        auto const told = troubles.wait_for(job_count);
        CHECK(told.size() == job_count);
        CHECK(told.begin()->find("zk_options::loop") != std::string::npos);
        CHECK(catalog.running()->empty());
        CHECK(runs.wait_for(0).empty());
        // A job that comes when the session has just been connected finds it here.
        on_loop(loop, [&]() -> task<> {
            CHECK(group.reserve_here("another", loop).error() == errc::invalid_argument);
            co_return;
        });
    }
}
