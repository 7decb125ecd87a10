// SPDX-License-Identifier: Apache-2.0
// failover [KILLS]: how long an interrupted item waits after the death of its process, with a guardian and without.
//
// Two processes share a job of two items on a ZooKeeper server on loopback, and both items run. One of the processes
// gets SIGKILL; every second time it is the leader. What counts is the time from the signal to the moment at which the
// body begins in the other process. The server has the tick of ZooKeeper's sample configuration, 2 s, and does not wait
// for its disk.
#include <elasticjob/elasticjob.hpp>
#include <elasticjob/registry/session_guardian.hpp>

#include <support/zk_server.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace elasticjob;
using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

struct terms {
    bool has_guardian;
    std::chrono::milliseconds session_timeout;
    int kills;
};

/// What a process reports. The monotonic clock is the same for all processes.
struct report {
    enum kind { owns, runs } what;
    int number; ///< of items, or of the attempt
    steady::time_point at;
};

struct reporter {
    void say(report::kind what, int number) const {
        report const r{what, number, steady::now()};
        (void)!::write(to, &r, sizeof r);
    }
    template <class Event>
    void operator()(Event const& e) const {
        if constexpr (std::is_same_v<Event, events::share_changed>)
            say(report::owns, static_cast<int>(e.items.size()));
        else if constexpr (std::is_same_v<Event, events::trouble>)
            std::fprintf(stderr, "trouble: %s\n", to_string(e.what).c_str());
    }
    int to;
};

[[noreturn]] void fail(error const& e) {
    std::fprintf(stderr, "%s\n", to_string(e).c_str());
    ::_exit(1);
}

/// The life of one process. It ends by SIGKILL only. A byte on `orders` triggers the job.
[[noreturn]] void work(terms const& t, std::string const& servers, std::string const& job_name, int orders,
                       reporter r) {
    std::optional<SessionGuardian> guardian;
    zk_options o{.servers = servers, .name_space = "bench", .session_timeout = t.session_timeout};
    if (t.has_guardian) {
        auto started = SessionGuardian::start();
        if (!started) fail(started.error());
        o.guardian = guardian.emplace(std::move(*started)).sessions();
    }
    auto registry = ZkRegistry::connect(std::move(o));
    if (!registry) fail(registry.error());
    job_scheduler<ZkRegistry, AverageAllocation, SimpleExecutor, reporter> scheduler{*registry, {}, r};
    auto job =
        scheduler.schedule({.name = job_name, .cron = "0 0 0 1 1 ? 2099", .sharding_total_count = 2, .failover = true},
                           [r](sharding_context const& c) {
                               r.say(report::runs, static_cast<int>(c.attempt));
                               std::mutex m;
                               std::condition_variable_any stopped;
                               std::unique_lock lock{m};
                               stopped.wait_for(lock, c.stop, 60s, [] { return false; });
                           });
    if (!job) fail(job.error());
    for (char order = 0; ::read(orders, &order, 1) == 1;)
        if (auto const given = job->trigger(); !given) fail(given.error());
    ::_exit(0);
}

class process {
public:
    process(terms const& t, std::string const& servers, std::string const& job_name) {
        int orders[2], reports[2];
        if (::pipe2(orders, O_CLOEXEC) != 0 || ::pipe2(reports, O_CLOEXEC) != 0) throw std::runtime_error{"pipe"};
        auto const parent = ::getpid();
        pid_ = ::fork(); // there is one thread here
        if (pid_ < 0) throw std::runtime_error{"fork"};
        if (pid_ == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (::getppid() != parent) ::_exit(1);
            ::close(orders[1]);
            work(t, servers, job_name, orders[0], reporter{reports[1]});
        }
        ::close(orders[0]);
        ::close(reports[1]);
        orders_ = orders[1];
        reports_ = reports[0];
    }
    process(process const&) = delete;
    process& operator=(process const&) = delete;
    ~process() {
        kill();
        ::close(orders_);
        ::close(reports_);
    }

    void trigger() const { (void)!::write(orders_, "t", 1); }

    void kill() {
        if (pid_ == 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        pid_ = 0;
    }

    steady::time_point wait_for(report::kind what, int number) const {
        for (report r{}; read(r);)
            if (r.what == what && r.number == number) return r.at;
        throw std::runtime_error{"a process ended, or did not do within 30 s what it should"};
    }

private:
    bool read(report& r) const {
        pollfd ready{reports_, POLLIN, 0};
        return ::poll(&ready, 1, 30'000) == 1 && ::read(reports_, &r, sizeof r) == sizeof r;
    }

    pid_t pid_ = 0;
    int orders_ = -1, reports_ = -1;
};

double measure_one(terms const& t, std::string const& servers, std::string const& job_name, bool kills_leader) {
    process first{t, servers, job_name};
    first.wait_for(report::owns, 2);
    process second{t, servers, job_name};
    first.wait_for(report::owns, 1);
    second.wait_for(report::owns, 1);
    process& victim = kills_leader ? first : second;
    process& heir = kills_leader ? second : first;
    heir.trigger();
    victim.wait_for(report::runs, 1);
    heir.wait_for(report::runs, 1);
    auto const killed_at = steady::now();
    victim.kill();
    return std::chrono::duration<double, std::milli>{heir.wait_for(report::runs, 2) - killed_at}.count();
}

void measure(terms const& t, std::string const& servers) {
    std::vector<double> spans;
    for (int n = 0; n < t.kills; ++n) {
        auto const name = "job" + std::to_string(t.has_guardian) + "-" + std::to_string(t.session_timeout.count()) +
                          "-" + std::to_string(n);
        spans.push_back(measure_one(t, servers, name, n % 2 == 0));
    }
    std::ranges::sort(spans);
    auto const at = [&](std::size_t percent) { return spans[(spans.size() - 1) * percent / 100]; };
    std::printf("| %-8s | %8lld | %5d | %8.1f | %8.1f | %8.1f | %8.1f |\n", t.has_guardian ? "yes" : "no",
                static_cast<long long>(t.session_timeout.count()), t.kills, spans.front(), at(50), at(95),
                spans.back());
    std::fflush(stdout);
}

} // namespace

int main(int count, char** words) {
    int const kills = count > 1 ? std::max(1, std::atoi(words[1])) : 100;
    test::zk_server_options o;
    o.tick_ms = 2000;
    o.session_timeout_min_ms = 4000;
    test::zk_server server{o};
    std::printf("| guardian | time-out | kills | least ms | median   | 95 %%     | most     |\n"
                "|----------|----------|-------|----------|----------|----------|----------|\n");
    measure({.has_guardian = true, .session_timeout = 60s, .kills = kills}, server.endpoint());
    measure({.has_guardian = false, .session_timeout = 4s, .kills = std::max(1, kills / 20)}, server.endpoint());
    return 0;
}
