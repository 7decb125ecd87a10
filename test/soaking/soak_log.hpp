// SPDX-License-Identifier: Apache-2.0
/// \file \brief `soak_log`: all lines of a soak, in a file and for the checker.
#ifndef ELASTICJOB_TEST_SOAKING_SOAK_LOG_HPP
#define ELASTICJOB_TEST_SOAKING_SOAK_LOG_HPP

#include <cluster/member.hpp>
#include <soaking/soak_checker.hpp>
#include <soaking/soak_tools.hpp>

#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/mirror.hpp>
#include <elasticjob/registry/zk_registry.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob::test {

/// The clock of the log.
inline std::int64_t soak_now_us() {
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::microseconds{1};
}

/// Lines of several threads. The tree's lines come from the registry's loop.
class line_queue {
public:
    void put(std::string text) {
        std::lock_guard const lock{mutex_};
        lines_.push_back(std::move(text));
    }
    std::vector<std::string> take() {
        std::lock_guard const lock{mutex_};
        return std::exchange(lines_, {});
    }

private:
    std::mutex mutex_;
    std::vector<std::string> lines_;
};

/// Follows the records and the leader of a job. Threads: the loop's.
class job_watch {
public:
    job_watch(ZkRegistry& r, job_layout const& at, std::string job, line_queue& lines)
        : news_{r.loop()},
          records_heard_{{&hear_record}, job, &lines},
          leader_heard_{{&hear_leader}, std::move(job), &lines},
          records_{r, at.run_records(), mirror_scope::children(), news_, &records_heard_},
          leader_{r, at.leader_instance(), mirror_scope::root_only(), news_, &leader_heard_} {}

private:
    struct heard : change_listener {
        heard(change_listener l, std::string name, line_queue* into)
            : change_listener{l},
              job{std::move(name)},
              lines{into} {}
        std::string job;
        line_queue* lines;
        void say(std::string const& what) const {
            lines->put(std::to_string(soak_now_us()) + " tree " + job + " " + what);
        }
    };
    static void hear_record(change_listener& l, node_change const& c) {
        if (c.what == node_change::kind::removed || c.path.empty()) return;
        auto const& s = c.value.stat;
        static_cast<heard&>(l).say("record " + std::string{c.path} + " " + std::to_string(s.version) + " " +
                                   std::to_string(s.modified) + " " + escaped(c.value.data));
    }
    static void hear_leader(change_listener& l, node_change const& c) {
        static_cast<heard&>(l).say("leader " + (c.what == node_change::kind::removed ? "-" : escaped(c.value.data)));
    }

    event_count<event_loop> news_;
    heard records_heard_, leader_heard_;
    mirror<ZkRegistry> records_, leader_;
};

/// Sends all lines to a file and to the checker, in the order of their times.
class soak_log {
public:
    explicit soak_log(std::filesystem::path const& path) : file_{path} {
        if (!file_) throw no_soak{"cannot write " + path.string()};
    }

    line_queue& queue() noexcept { return queue_; }
    void say(std::string const& job, std::string const& what) {
        queue_.put(std::to_string(soak_now_us()) + " driver " + job + " " + what);
    }
    void say(std::string const& what) { say("-", what); }
    void take(member& m) {
        for (auto const& l : m.take_lines()) {
            auto const space = l.text.find(' ');
            queue_.put(l.text.substr(0, space) + " " + m.name() + l.text.substr(std::min(space, l.text.size())));
        }
    }

    /// Passes on lines older than that; younger lines may still arrive.
    void flush(std::chrono::milliseconds age) {
        for (auto& text : queue_.take())
            if (auto l = soak_line::parse(std::move(text))) waiting_.push_back(*std::move(l));
        std::ranges::stable_sort(waiting_, {}, &soak_line::at_us);
        auto const until = soak_now_us() - age / std::chrono::microseconds{1};
        auto const end = std::ranges::find_if(waiting_, [&](soak_line const& l) { return l.at_us > until; });
        for (auto l = waiting_.begin(); l != end; ++l) {
            file_ << l->text << '\n';
            checker_.take(*l);
        }
        waiting_.erase(waiting_.begin(), end);
        file_.flush();
    }

    soak_checker const& checker() const noexcept { return checker_; }

private:
    std::ofstream file_;
    line_queue queue_;
    std::vector<soak_line> waiting_;
    soak_checker checker_;
};

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SOAKING_SOAK_LOG_HPP
