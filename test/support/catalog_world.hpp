// SPDX-License-Identifier: Apache-2.0
/// \file \brief Processes that follow the jobs in one in-memory registry, in virtual time. The test controls all
/// events.
#ifndef ELASTICJOB_TEST_SUPPORT_CATALOG_WORLD_HPP
#define ELASTICJOB_TEST_SUPPORT_CATALOG_WORLD_HPP

#include <elasticjob/config/job_config.hpp>
#include <elasticjob/core/virtual_loop.hpp>
#include <elasticjob/execution/sharding_context.hpp>
#include <elasticjob/registry/memory_registry.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob::test {

using namespace std::chrono_literals;

class catalog_world;

/// A process with a scheduler and a catalog that knows some classes. Only support/catalog_world.cpp knows their types,
/// because they take long to compile.
class catalog_process {
public:
    /// Follows the jobs at once.
    catalog_process(catalog_world& w, std::size_t number, std::vector<std::string> classes);
    ~catalog_process();

    std::size_t const number;
    basic_memory_registry<virtual_loop> registry;

    result<void> learn(std::string job_class);
    std::vector<std::string> running();
    void leave_all();

    /// While true, work stays in the pool: running bodies and factories do not finish.
    bool holds = false;
    std::size_t held() const { return held_.size(); }
    void release_all();

private:
    friend struct catalog_pool;
    friend struct catalog_sink;
    struct engine;
    catalog_world& world_;
    std::vector<work*> held_;
    std::unique_ptr<engine> engine_;
};

class catalog_world {
public:
    explicit catalog_world(memory_server_options o = {})
        : loop{wall_time{std::chrono::seconds{1'767'225'600}}}, // 2026-01-01 00:00:00 UTC
          server{loop, o}, by_hand{server} {}
    ~catalog_world() { server.set_filter({}); }

    virtual_loop loop;
    basic_memory_server<virtual_loop> server;
    basic_memory_registry<virtual_loop> by_hand; ///< an operator's session

    struct told {
        std::size_t process;
        std::string job;
        std::string what; ///< "begins", "ends", "fenced", "left", or an error
        mono_time at{};
    };
    std::vector<told> log;
    std::function<void(std::string const& job)> on_begin;    ///< called when an item's run begins
    std::function<void(job_config const&)> on_make;          ///< called by a factory
    std::vector<std::unique_ptr<catalog_process>> processes; ///< null: the process has ended

    catalog_process& start(std::vector<std::string> classes = {"import"}) {
        processes.push_back(std::make_unique<catalog_process>(*this, processes.size(), std::move(classes)));
        return *processes.back();
    }

    static job_config job(std::string name, std::string job_class = "import") {
        job_config c;
        c.name = std::move(name);
        c.cron = "0/1 * * * * ?";
        c.sharding_total_count = 2;
        c.job_class = std::move(job_class);
        return c;
    }

    void run_for(std::chrono::nanoseconds span) { loop.run_for(span); }
    template <class T>
    result<T> wait_for(task<result<T>> t) {
        return block_on(loop, std::move(t));
    }
    void create(std::string const& path, std::string data = {}) {
        wait_for(by_hand.create(node_path::parse(path).value(), std::move(data), create_mode::persistent)).value();
    }
    void set(std::string const& path, std::string data) {
        wait_for(by_hand.set(node_path::parse(path).value(), std::move(data))).value();
    }
    void remove(std::string const& path) { wait_for(by_hand.remove(node_path::parse(path).value())).value(); }
    node const* find(std::string const& path) const { return server.tree().find(node_path::parse(path).value()); }
    bool has(std::string const& path) const { return find(path) != nullptr; }
    std::vector<std::string> children(std::string const& path) {
        return wait_for(by_hand.children(node_path::parse(path).value())).value();
    }

    /// All paths at or below the given path.
    std::vector<std::string> paths(std::string const& top) const {
        std::vector<std::string> all;
        server.tree().for_each([&](std::string const& p, node const&) {
            if (p == top || p.starts_with(top + "/")) all.push_back(p);
        });
        return all;
    }
    static std::vector<std::string> tombstone_of(std::string const& job) {
        return {"/" + job, "/" + job + "/ext", "/" + job + "/ext/removed"};
    }

    std::size_t count(std::string const& job, std::string const& what) const {
        std::size_t n = 0;
        for (auto const& t : log) n += t.job == job && t.what.starts_with(what);
        return n;
    }
};

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SUPPORT_CATALOG_WORLD_HPP
