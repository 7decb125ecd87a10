// SPDX-License-Identifier: Apache-2.0
/// \file \brief The runs that a scheduler on a real server reports, for a test that waits for them.
#ifndef ELASTICJOB_TEST_INTEGRATION_ZK_RUNS_HPP
#define ELASTICJOB_TEST_INTEGRATION_ZK_RUNS_HPP

#include <integration/zk_lab.hpp>
#include <support/zk_schedulers.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob::test {

/// Belongs to one scheduler, which it must outlive. Each wait lasts at most half a minute. Threads: any.
class run_log {
public:
    struct run {
        item_index item;
        std::uint32_t attempt;
        std::int64_t token;
        run_source source;
        std::string task_id;
        std::vector<std::string> lines{}; ///< that its script has written
        bool is_over = false;
        std::optional<error> failure{};

        /// The error that ended it, as text; empty if it succeeded.
        std::string said() const { return failure ? to_string(*failure) : std::string{}; }
    };

    /// The sink for the scheduler.
    struct sink {
        run_log* all;
        template <class E>
        void operator()(E const&) const {}
        void operator()(events::share_changed const& e) const {
            all->change([&] { all->share_ = e.items; });
        }
        void operator()(events::item_started const& e) const {
            all->change([&] { all->runs_.push_back({e.item, e.attempt, e.token, e.source, std::string{e.run.task_id}}); });
        }
        void operator()(events::script_output const& e) const {
            all->change([&] { all->last(e.item).lines.emplace_back(e.text); });
        }
        void operator()(events::item_finished const& e) const {
            all->change([&] {
                all->last(e.item).is_over = true;
                all->last(e.item).failure = e.failure;
            });
        }
        void operator()(events::item_fenced const&) const {
            all->change([&] { ++all->fenced_; });
        }
    };
    sink to_sink() { return {this}; }

    /// Waits until this many runs are over; then all, in the order in which they began.
    std::vector<run> wait_for_ends(std::size_t count) {
        auto lock = wait([&] {
            std::size_t over = 0;
            for (auto const& r : runs_) over += r.is_over;
            return over >= count;
        });
        return runs_;
    }
    /// Waits until the instance owns exactly these items.
    void wait_for_share(std::vector<item_index> const& items) {
        auto lock = wait([&] { return share_ == items; });
    }
    /// Waits until the ends of this many runs were refused.
    void wait_for_fenced(std::size_t count) {
        auto lock = wait([&] { return fenced_ >= count; });
    }

private:
    template <class F>
    void change(F f) {
        std::lock_guard const lock{mutex_};
        f();
        changed_.notify_all();
    }
    template <class F>
    std::unique_lock<std::mutex> wait(F is_there) {
        std::unique_lock lock{mutex_};
        REQUIRE(changed_.wait_for(lock, 30s, is_there));
        return lock;
    }
    run& last(item_index item) {
        for (auto at = runs_.rbegin();; ++at)
            if (at->item == item) return *at;
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<run> runs_;
    std::vector<item_index> share_;
    std::size_t fenced_ = 0;
};

/// For the first instance, the second, … At its end it asks running bodies to stop at once.
inline scheduler_options instance(int number, unsigned threads = 4) {
    scheduler_options o;
    o.server_ip = "10.0.0." + std::to_string(number);
    o.pool.threads = threads;
    o.drain_timeout = 0ms;
    return o;
}

/// A job that runs only when triggered.
inline job_config on_demand(std::string name, int items = 1) {
    job_config c;
    c.name = std::move(name);
    c.cron = "0 0 0 1 1 ? 2099";
    c.sharding_total_count = items;
    return c;
}

/// Whether a text names the session's end as the reason to stop. The lease ends with it; either may show first.
inline bool tells_of_lost_session(std::string const& text) {
    return text.find("session_lost") != text.npos || text.find("lease_over") != text.npos;
}

/// Ends the session of a registry in its owner's name.
inline void end_session(shared_zk_server const& server, ZkRegistry& r) {
    std::int64_t id = 0;
    on_loop(r.loop(), [&]() -> task<> {
        id = r.session().id;
        co_return;
    });
    session_thief::end_session(server.port(), id);
}

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_INTEGRATION_ZK_RUNS_HPP
