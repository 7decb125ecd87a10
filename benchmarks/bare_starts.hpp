// SPDX-License-Identifier: Apache-2.0
/// \file \brief The physical limit of starts: what libzookeeper and the server take for them, without a scheduler.
#ifndef ELASTICJOB_BENCHMARKS_BARE_STARTS_HPP
#define ELASTICJOB_BENCHMARKS_BARE_STARTS_HPP

#include <elasticjob/registry/zk/c_api.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace elasticjob::bench {

/// Jobs of one item, spread evenly over sessions and over the seconds of a minute. The operations that start and end
/// them are the scheduler's, and so is the size of their data. Those of one session and one second share a request.
/// Errors: std::runtime_error if the server refuses a request, or does not answer within a minute.
class bare_starts {
    using clock = std::chrono::system_clock;

public:
    /// Creates the jobs' nodes below `root`, which must be absent.
    bare_starts(std::string const& servers, std::string const& root, std::size_t sessions, int jobs) {
        zoo_set_debug_level(ZOO_LOG_LEVEL_WARN);
        for (std::size_t s = 0; s < sessions; ++s) sessions_.push_back(connect(servers));
        std::vector<zoo_op> create_root;
        add_create(create_root, root, {});
        send_and_wait(sessions_.front().get(), std::move(create_root));
        for (int n = 0; n < jobs; ++n) jobs_.emplace_back(root + "/job-" + std::to_string(n));
        for (std::size_t n = 0; n < jobs_.size(); ++n) send_and_wait(session_of(n), creation(jobs_[n]));
    }

    /// Starts and ends the jobs that are due in each of so many seconds. The requests with the starts are in memory
    /// before the second; those with the ends follow the last reply. Returns the time from the second until the reply
    /// in milliseconds, for each start.
    std::vector<double> measure(int seconds) {
        std::vector<double> late;
        auto due = std::chrono::ceil<std::chrono::seconds>(clock::now()) + std::chrono::seconds{1};
        for (int n = 0; n < seconds; ++n, due += std::chrono::seconds{1}) {
            auto starts = requests(n % 60, add_start), ends = requests(n % 60, add_end);
            std::this_thread::sleep_until(due);
            send_and_wait(starts);
            for (auto const& r : starts) {
                std::chrono::duration<double, std::milli> const span = r.answered - due;
                late.insert(late.end(), r.jobs, span.count());
            }
            send_and_wait(ends);
        }
        return late;
    }

private:
    struct closing {
        void operator()(zhandle_t* z) const { zookeeper_close(z); }
    };
    using session = std::unique_ptr<zhandle_t, closing>;

    struct job {
        explicit job(std::string path) : root{std::move(path)} {}
        std::string root, config = root + "/config", instances = root + "/instances", extras = root + "/ext",
                          sharding = root + "/sharding", item = sharding + "/0";
        std::string instance = instances + "/10.0.0.1@-@4242-0123456789", assignment = extras + "/assignment",
                    record = extras + "/run-0", owner = item + "/instance", disabled = item + "/disabled",
                    running = item + "/running";
        int record_version = 0;
    };

    struct request {
        zhandle_t* session;
        std::vector<zoo_op> operations{};
        std::size_t jobs = 0;
        std::vector<zoo_op_result> results{};
        clock::time_point answered{};
        int code = ZOK;
        bare_starts* owner = nullptr;
    };

    static session connect(std::string const& servers) {
        session z{zookeeper_init(servers.c_str(), nullptr, 30'000, nullptr, nullptr, 0)};
        auto const until = clock::now() + patience;
        while (!z || zoo_state(z.get()) != ZOO_CONNECTED_STATE) {
            if (!z || clock::now() > until) throw std::runtime_error{"no session at " + servers};
            std::this_thread::sleep_for(std::chrono::milliseconds{10});
        }
        return z;
    }

    static void add_check(std::vector<zoo_op>& to, std::string const& path, int version = -1) {
        zoo_check_op_init(&to.emplace_back(), path.c_str(), version);
    }
    static void add_create(std::vector<zoo_op>& to, std::string const& path, std::string_view data, int flags = 0) {
        zoo_create_op_init(&to.emplace_back(), path.c_str(), data.data(), static_cast<int>(data.size()),
                           &ZOO_OPEN_ACL_UNSAFE, flags, nullptr, 0);
    }
    static void add_remove(std::vector<zoo_op>& to, std::string const& path) {
        zoo_delete_op_init(&to.emplace_back(), path.c_str(), -1);
    }
    static void add_record(std::vector<zoo_op>& to, job& j) {
        zoo_set_op_init(&to.emplace_back(), j.record.c_str(), record.data(), static_cast<int>(record.size()),
                        j.record_version++, nullptr);
    }

    static std::vector<zoo_op> creation(job& j) {
        std::vector<zoo_op> all;
        for (auto const* path : {&j.root, &j.instances, &j.extras, &j.sharding, &j.item}) add_create(all, *path, {});
        add_create(all, j.config, config);
        add_create(all, j.instance, {}, ZOO_EPHEMERAL);
        add_create(all, j.assignment, assignment);
        add_create(all, j.owner, self);
        add_create(all, j.record, record);
        return all;
    }
    static void add_start(std::vector<zoo_op>& to, job& j) {
        add_check(to, j.instance);
        add_check(to, j.config);
        add_check(to, j.assignment, 0);
        add_check(to, j.owner, 0);
        add_create(to, j.disabled, {});
        add_remove(to, j.disabled);
        add_create(to, j.running, self, ZOO_EPHEMERAL);
        add_record(to, j);
    }
    static void add_end(std::vector<zoo_op>& to, job& j) {
        add_record(to, j);
        add_remove(to, j.running);
    }

    zhandle_t* session_of(std::size_t n) const { return sessions_[n / 60 % sessions_.size()].get(); }

    template <class Add>
    std::vector<request> requests(int second, Add add) {
        std::vector<request> all;
        for (auto const& s : sessions_) all.push_back({s.get()});
        for (auto n = static_cast<std::size_t>(second); n < jobs_.size(); n += 60) {
            auto& r = all[n / 60 % sessions_.size()];
            add(r.operations, jobs_[n]);
            ++r.jobs;
        }
        std::erase_if(all, [](auto const& r) { return r.jobs == 0; });
        return all;
    }

    void send_and_wait(zhandle_t* z, std::vector<zoo_op> operations) {
        std::vector<request> one{{z, std::move(operations)}};
        send_and_wait(one);
    }

    void send_and_wait(std::vector<request>& all) {
        {
            std::lock_guard const lock{mutex_};
            unanswered_ = all.size();
        }
        for (auto& r : all) {
            r.owner = this;
            r.results.resize(r.operations.size());
            auto const count = static_cast<int>(r.operations.size());
            if (zoo_amulti(r.session, count, r.operations.data(), r.results.data(), note_answer, &r) != ZOK)
                throw std::runtime_error{"the client refuses a request"};
        }
        std::unique_lock lock{mutex_};
        if (!all_answered_.wait_for(lock, patience, [this] { return unanswered_ == 0; }))
            throw std::runtime_error{"the server does not answer"};
        if (std::ranges::any_of(all, [](auto const& r) { return r.code != ZOK; }))
            throw std::runtime_error{"the server refuses a request"};
    }

    static void note_answer(int code, void const* data) {
        auto& r = *const_cast<request*>(static_cast<request const*>(data));
        r.answered = clock::now();
        r.code = code;
        std::lock_guard const lock{r.owner->mutex_};
        if (--r.owner->unanswered_ == 0) r.owner->all_answered_.notify_one();
    }

    static constexpr std::chrono::minutes patience{1};
    static inline std::string const self = "10.0.0.1@-@4242-0123456789";
    static inline std::string const config = std::string(590, 'c'), assignment = std::string(180, 'a'),
                                    record = std::string(300, 'r');

    std::deque<job> jobs_; ///< operations refer to their paths
    std::mutex mutex_;
    std::condition_variable all_answered_;
    std::size_t unanswered_ = 0;    ///< guarded by the mutex
    std::vector<session> sessions_; ///< last: their threads use all of the above
};

} // namespace elasticjob::bench
#endif // ELASTICJOB_BENCHMARKS_BARE_STARTS_HPP
