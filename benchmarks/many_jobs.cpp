// SPDX-License-Identifier: Apache-2.0
// many_jobs [JOBS]: what one process with many jobs costs, from its first job to its end. The default is 1,000 jobs.
//
// A `scheduler_group` runs jobs of one item on a ZooKeeper server on loopback. The server does not wait for its disk,
// and shares the processors with the jobs. All sessions share one loop and one pool of four threads; 16 threads start
// jobs. The server itself counts the requests, pings too. First no job is ever due; then each of as many new jobs is
// due once, as soon as it exists; then the same number of jobs is due once a minute, evenly spread over its seconds;
// then the same once more with `start_ahead`. Lateness is the time from the due instant until the body begins. Last,
// libzookeeper alone sends what such starts write, and lateness is the time until the reply.
#include <elasticjob/elasticjob.hpp>
#include <elasticjob/registry/zk_registry.hpp>
#include <elasticjob/scheduler/scheduler_group.hpp>

#include "bare_starts.hpp"

#include <support/zk_server.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <malloc.h>

namespace {

using namespace elasticjob;
using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

constexpr auto server_gone = 1s;
constexpr auto patience = 5min; ///< for each step

double seconds_since(steady::time_point begin) { return std::chrono::duration<double>{steady::now() - begin}.count(); }

/// Counts the troubles, and prints the first five. Threads: any.
struct counter {
    template <class Event>
    void operator()(Event const& e) const {
        if constexpr (std::is_same_v<Event, events::trouble>) {
            if (troubles->fetch_add(1) < 5) std::fprintf(stderr, "trouble: %s\n", to_string(e.what).c_str());
        }
    }
    std::atomic<int>* troubles;
};

/// The lateness of each run. Threads: any.
class lateness {
public:
    void note(wall_time due) {
        auto const late = std::chrono::system_clock::now() - due;
        std::lock_guard const lock{mutex_};
        spans_.push_back(std::chrono::duration<double, std::milli>{late}.count());
    }
    std::size_t count() {
        std::lock_guard const lock{mutex_};
        return spans_.size();
    }
    std::vector<double> take() {
        std::lock_guard const lock{mutex_};
        return std::exchange(spans_, {});
    }

private:
    std::mutex mutex_;
    std::vector<double> spans_;
};

long read_number(std::string const& text, std::string const& name) {
    auto const at = text.find(name);
    return at == text.npos ? 0 : std::atol(text.c_str() + at + name.size());
}

long requests(test::zk_server const& s) { return read_number(s.ask("mntr", 10s), "zk_packets_received"); }
long watches(test::zk_server const& s) { return read_number(s.ask("mntr", 10s), "zk_watch_count"); }

/// Resident memory in kB.
long resident() {
    ::malloc_trim(0);
    std::ifstream file{"/proc/self/status"};
    std::string const text{std::istreambuf_iterator<char>{file}, {}};
    return read_number(text, "VmRSS:");
}

/// Returns the seconds until that is so.
template <class Condition>
double wait_until(Condition is_so, char const* what) {
    auto const begin = steady::now();
    while (!is_so()) {
        if (steady::now() - begin > patience) throw std::runtime_error{what};
        std::this_thread::sleep_for(10ms);
    }
    return seconds_since(begin);
}

/// Waits until the server gets no more than pings: fewer than `few` requests in half a second.
double wait_for_silence(test::zk_server const& s, long few) {
    auto const begin = steady::now();
    for (auto before = requests(s);;) {
        std::this_thread::sleep_for(500ms);
        auto const now = requests(s);
        if (now - before < few) return seconds_since(begin) - 0.5;
        before = now;
        if (steady::now() - begin > patience) throw std::runtime_error{"the requests do not end"};
    }
}

using scheduler = job_scheduler<ZkRegistry, AverageAllocation, SimpleExecutor, SharedPool<ThreadPool>, counter>;

struct connector {
    result<ZkRegistry> operator()() const {
        return ZkRegistry::connect(
            {.servers = servers, .name_space = name_space, .session_timeout = 30s, .loop = loop});
    }
    std::string servers, name_space;
    event_loop* loop;
};

struct maker {
    scheduler operator()(ZkRegistry& r) const {
        return scheduler{r, {.start_ahead = start_ahead}, SharedPool{*pool}, counter{troubles}};
    }
    ThreadPool* pool;
    std::atomic<int>* troubles;
    std::chrono::milliseconds start_ahead;
};

class process_with_jobs {
public:
    process_with_jobs(std::string servers, std::string name_space, lateness& late,
                      std::chrono::milliseconds start_ahead = {})
        : late_{late},
          group_{connector{std::move(servers), std::move(name_space), &loop_}, maker{&pool_, &troubles_, start_ahead}} {
    }

    /// `plan(n, config)` sets the schedule of job n.
    template <class Plan>
    void start(int count, Plan plan) {
        std::atomic<int> next{0};
        std::vector<std::thread> starters;
        for (int t = 0; t < 16; ++t)
            starters.emplace_back([&] {
                for (int n; (n = next++) < count;) {
                    job_config c{.name = "job-" + std::to_string(n), .sharding_total_count = 1};
                    plan(n, c);
                    auto job =
                        group_.schedule(std::move(c), [this](sharding_context const& run) { late_.note(run.due); });
                    if (!job) throw std::runtime_error{to_string(job.error())};
                    std::lock_guard const lock{mutex_};
                    jobs_.push_back(*std::move(job));
                }
            });
        for (auto& s : starters) s.join();
    }

    void leave() { group_.leave_all(); }

    std::size_t sessions() { return group_.sessions(); }
    int troubles() const { return troubles_; }

private:
    std::atomic<int> troubles_{0};
    lateness& late_;
    event_loop loop_;
    ThreadPool pool_{{.threads = 4}};
    scheduler_group<connector, maker> group_;
    std::mutex mutex_;
    std::vector<decltype(group_)::handle> jobs_;
};

void measure_idle(test::zk_server& server, int count) {
    lateness late;
    auto const memory_before = resident();
    auto all = std::make_unique<process_with_jobs>(server.endpoint(), "idle", late);
    auto sent = requests(server);
    auto begin = steady::now();
    all->start(count, [](int, job_config& c) { c.cron = "0 0 0 1 1 ? 2099"; });
    auto took = seconds_since(begin);
    wait_for_silence(server, 50);
    std::printf("started %d jobs in %.1f s, %zu sessions, %.1f requests for each job\n", count, took, all->sessions(),
                static_cast<double>(requests(server) - sent) / count);
    std::printf("memory of an idle job: %.1f kB resident\n", static_cast<double>(resident() - memory_before) / count);

    sent = requests(server);
    std::this_thread::sleep_for(20s);
    std::printf("%ld requests in 20 idle seconds\n", requests(server) - sent);

    auto const watched = watches(server);
    server.kill();
    std::this_thread::sleep_for(server_gone);
    server.start();
    took = wait_until([&] { return watches(server) >= watched; }, "not every watch is set again");
    wait_for_silence(server, 50);
    sent = requests(server);
    std::printf("the server died and came back: all %ld watches again after %.1f s, with %ld requests\n", watched, took,
                sent);

    begin = steady::now();
    auto const troubles = all->troubles();
    all->leave();
    all.reset();
    std::printf("left in %.1f s, %.1f requests for each job; %d troubles\n", seconds_since(begin),
                static_cast<double>(requests(server) - sent) / count, troubles);
}

/// Starts jobs, and waits until there are as many runs.
template <class Plan>
void start_until_they_run(process_with_jobs& all, lateness& late, int count, char const* due, Plan plan) {
    auto const begin = steady::now();
    all.start(count, plan);
    auto const started = seconds_since(begin);
    wait_until([&] { return late.count() >= static_cast<std::size_t>(count); }, "not every job runs");
    std::printf("started %d jobs that are due %s in %.1f s; as many runs after %.1f s; %d troubles\n", count, due,
                started, seconds_since(begin), all.troubles());
    std::fflush(stdout);
}

void measure_first_runs(test::zk_server& server, int count) {
    lateness late;
    process_with_jobs all{server.endpoint(), "new", late};
    start_until_they_run(all, late, count, "at once",
                         [](int, job_config& c) { c.schedules = {job_schedule::once_now()}; });
    all.leave();
}

void print_lateness(std::vector<double> spans) {
    std::ranges::sort(spans);
    auto const at = [&](std::size_t permille) { return spans.at((spans.size() - 1) * permille / 1000); };
    std::printf("late by %.2f ms (median), %.2f ms (90 %%), %.2f ms (99 %%), %.2f ms (99.9 %%), %.2f ms (most)",
                at(500), at(900), at(990), at(999), spans.back());
}

/// Returns the number of sessions.
std::size_t measure_due(test::zk_server& server, int count, std::chrono::milliseconds start_ahead) {
    lateness late;
    process_with_jobs all{server.endpoint(), "due-" + std::to_string(start_ahead.count()), late, start_ahead};
    start_until_they_run(all, late, count, "each minute",
                         [](int n, job_config& c) { c.cron = std::to_string(n % 60) + " * * * * ?"; });
    std::this_thread::sleep_for(5s);
    (void)late.take();
    auto const sent = requests(server);
    std::this_thread::sleep_for(60s);
    auto const sent_in_minute = requests(server) - sent;
    auto const spans = late.take();
    std::printf("%zu runs in a minute, started %ld ms ahead: ", spans.size(), static_cast<long>(start_ahead.count()));
    print_lateness(spans);
    std::printf("; %.1f requests for each; %d troubles\n",
                static_cast<double>(sent_in_minute) / static_cast<double>(spans.size()), all.troubles());
    std::fflush(stdout);
    auto const sessions = all.sessions();
    all.leave();
    return sessions;
}

void measure_bare(test::zk_server& server, std::size_t sessions, int count) {
    bench::bare_starts bare{server.endpoint(), "/bare", sessions, count};
    (void)bare.measure(5);
    auto const spans = bare.measure(60);
    std::printf("%zu starts in a minute without a scheduler, %zu sessions: ", spans.size(), sessions);
    print_lateness(spans);
    std::printf("\n");
}

} // namespace

int main(int count, char** words) {
    int const jobs = count > 1 ? std::max(1, std::atoi(words[1])) : 1000;
    test::zk_server_options o;
    o.tick_ms = 2000;
    o.session_timeout_min_ms = 4000;
    o.heap_mb = 2048;
    o.is_measured = true;
    test::zk_server server{o};
    measure_idle(server, jobs);
    std::fflush(stdout);
    measure_first_runs(server, jobs);
    std::size_t sessions = 1;
    for (auto const start_ahead : {0ms, 100ms}) sessions = measure_due(server, jobs, start_ahead);
    measure_bare(server, sessions, jobs);
    return 0;
}
