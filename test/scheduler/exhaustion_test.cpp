// SPDX-License-Identifier: Apache-2.0
// Memory or threads run out while a job is scheduled, fires and ends. docs/errors.md says what happens then: an
// exception for the caller on the caller's own thread, std::terminate on the loop and in the pool, and nothing else.
#include <elasticjob/scheduler/job_scheduler.hpp>

#include <elasticjob/allocation/average.hpp>
#include <elasticjob/execution/simple_executor.hpp>
#include <elasticjob/registry/memory_registry.hpp>

#include <support/counted_new.hpp>
#include <support/full_run.hpp>
#include <support/limited_threads.hpp>

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef ELASTICJOB_TEST_SANITIZED

using namespace elasticjob;

namespace {

using scheduler = job_scheduler<MemoryRegistry, AverageAllocation, SimpleExecutor, NoEvents>;

enum class call { schedule, fire, shutdown };

enum class shortage { of_one_allocation, from_then_on };

/// How a child process ended.
enum ending : int {
    complete,        ///< the call made fewer allocations, or the failure was the run's
    caught,          ///< std::bad_alloc was thrown to the caller; with memory, the same call succeeds
    terminated,      ///< std::terminate, because of std::bad_alloc
    terminated_else, ///< std::terminate for another reason
    wrong,           ///< a call failed with memory
    crashed,
    hung,
    ending_count
};

constexpr std::array<char const*, ending_count> ending_names{
    "complete", "caught", "terminated", "terminated for another reason", "wrong", "crashed", "hung"};

/// Sanitizers and `abort` have exit codes of their own.
constexpr int first_exit_code = 40;

[[noreturn]] void end_process(ending e) { ::_exit(first_exit_code + e); }

[[noreturn]] void on_terminate() {
    try {
        if (auto const thrown = std::current_exception()) std::rethrow_exception(thrown);
    } catch (std::bad_alloc const&) {
        end_process(terminated);
    } catch (...) {
    }
    end_process(terminated_else);
}

/// In a process of its own: schedules a job, runs it and shuts it down. Allocation `n` of the failing call fails.
class child {
public:
    child(call failing, shortage how, long n) : failing_{failing}, how_{how}, n_{n} {}

    [[noreturn]] void run() {
        for (int const signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::signal(signal, SIG_DFL); // not doctest's
        std::set_terminate(&on_terminate);
        ::alarm(30); // seconds; the signal ends the process
        schedule_fire_and_shut_down();
        end_process(was_caught_ ? caught : complete);
    }

private:
    void schedule_fire_and_shut_down();

    template <class Call>
    auto attempt(call which, Call const& make) {
        if (which == failing_) {
            counted_new::fails_from_then_on = how_ == shortage::from_then_on;
            counted_new::calls_until_failure = n_;
        }
        try {
            return checked(make());
        } catch (std::bad_alloc const&) {
            counted_new::calls_until_failure = 0;
            was_caught_ = true;
            return checked(make());
        }
    }

    template <class Result>
    static Result checked(Result done) {
        counted_new::calls_until_failure = 0;
        if (!done) end_process(wrong);
        return done;
    }

    call failing_;
    shortage how_;
    long n_;
    bool was_caught_ = false;
};

void child::schedule_fire_and_shut_down() {
    constexpr int items = 3;
    std::atomic<int> left = items;
    gate all_have_run;
    MemoryRegistry registry;
    scheduler s{registry, {.server_ip = "127.0.0.1", .pool = {.threads = 2}}, NoEvents{}};
    auto job = attempt(call::schedule, [&] {
        auto const note_run = [&] {
            if (--left == 0) all_have_run.open();
        };
        return s.schedule({.name = "settle", .cron = "0 0 0 1 1 ? 2099", .sharding_total_count = items}, note_run);
    });
    (void)attempt(call::fire, [&] {
        auto const ordered = job->trigger();
        if (!ordered) return ordered;
        all_have_run.wait();
        return job->wait_idle();
    });
    (void)attempt(call::shutdown, [&] { return job->shutdown(); });
}

pid_t start(child c) {
    auto const process = ::fork();
    REQUIRE(process >= 0);
    if (process == 0) c.run();
    return process;
}

ending wait_for(pid_t process) {
    int status = 0;
    REQUIRE(::waitpid(process, &status, 0) == process);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) return hung;
    int const code = WIFEXITED(status) ? WEXITSTATUS(status) - first_exit_code : -1;
    return code >= complete && code < crashed ? static_cast<ending>(code) : crashed;
}

/// The endings when the allocations 1, 1 + step, … 1,000 of the call fail, each in a process of its own.
std::array<int, ending_count> endings_of(call failing, shortage how, long step) {
    constexpr long last = 1'000;
    constexpr long at_once = 8; // they mostly wait
    std::array<int, ending_count> counts{};
    for (long first = 1; first <= last; first += at_once * step) {
        std::array<pid_t, at_once> processes{};
        for (long i = 0; i < at_once; ++i)
            processes[static_cast<std::size_t>(i)] = start({failing, how, first + i * step});
        int complete_here = 0;
        for (auto const process : processes) {
            auto const e = wait_for(process);
            ++counts[static_cast<std::size_t>(e)];
            complete_here += e == complete;
        }
        if (complete_here == at_once) break; // the call makes no more allocations
    }
    return counts;
}

void check_endings(shortage how, long step) {
    for (auto const failing : {call::schedule, call::fire, call::shutdown}) {
        auto const counts = endings_of(failing, how, step);
        std::string all;
        for (std::size_t e = 0; e < ending_count; ++e)
            all += std::string{ending_names[e]} + " " + std::to_string(counts[e]) + ", ";
        CAPTURE(all);
        if (how == shortage::of_one_allocation) CHECK(counts[caught] > 0); // otherwise returning may need memory, too
        CHECK(counts[terminated] > 0);
        CHECK(counts[terminated_else] == 0);
        CHECK(counts[wrong] == 0);
        CHECK(counts[crashed] == 0);
        CHECK(counts[hung] == 0);
    }
}

} // namespace

TEST_CASE("scheduler.exhaustion: an allocation that fails throws std::bad_alloc to the caller or ends the process") {
    check_endings(shortage::of_one_allocation, test::is_full_run() ? 1 : 4); // a thousand processes take half a minute
}

TEST_CASE("scheduler.exhaustion: the same holds when every later allocation fails too") {
    check_endings(shortage::from_then_on, 7);
}

TEST_CASE("scheduler.exhaustion: a scheduler whose pool cannot have its threads throws, and can be made later") {
    MemoryRegistry registry;
    auto const make = [&] { scheduler{registry, {.server_ip = "127.0.0.1", .pool = {.threads = 2}}, NoEvents{}}; };
    {
        limited_threads::limit const one{1};
        CHECK_THROWS_AS(make(), std::system_error);
    }
    CHECK_NOTHROW(make());
}

#endif // ELASTICJOB_TEST_SANITIZED
