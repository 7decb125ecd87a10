// SPDX-License-Identifier: Apache-2.0
// How do instances share a job?
//
//   three_instances                                          three instances in one process, on the embedded registry
//   three_instances --zookeeper HOST:PORT --name A [--for S] one instance, for S seconds or until it is interrupted
//   three_instances --account < LINES                        shows the lines of several of them, and counts their runs
//
// A job of six items fires every second. The instances share the items. Whenever an instance joins or leaves, the items
// are shared again, between two firings. In the end the runs of all instances are counted. The exit code is 0 only if
// each item ran exactly once at each due instant, from the first firing to the last.
#include <elasticjob/elasticjob.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using namespace elasticjob;
using namespace std::chrono_literals;
using std::chrono::system_clock;

constexpr int item_count = 6;
constexpr int seconds_of_a_day = 86'400;

job_config const settle{.name = "settle",
                        .cron = "0/1 * * * * ?",
                        .sharding_total_count = item_count,
                        .sharding_item_parameters = "0=Beijing,1=Shanghai,2=Guangzhou,3=Shenzhen,4=Hangzhou,5=Chengdu"};

void settle_region(sharding_context const&) { std::this_thread::sleep_for(20ms); }

std::string clock_text(system_clock::time_point t, bool with_milliseconds) {
    auto const whole = std::chrono::floor<std::chrono::seconds>(t);
    std::time_t const seconds = system_clock::to_time_t(whole);
    std::tm local{};
    localtime_r(&seconds, &local);
    char text[32];
    auto const length = std::strftime(text, sizeof text, "%H:%M:%S", &local);
    if (with_milliseconds)
        std::snprintf(text + length, sizeof text - length, ".%03d", static_cast<int>((t - whole) / 1ms));
    return text;
}

/// Prints the lines of all instances, and counts the runs in them.
class account {
public:
    /// A line is `12:00:03.021 A runs 0 1 (due 12:00:03)`, or has another verb.
    void show(std::string const& line) {
        std::cout << line << std::endl;
        std::istringstream words{line};
        std::string time, who, verb, word;
        words >> time >> who >> verb;
        if (verb == "failed") ++failures_;
        if (verb != "runs") return;
        std::vector<unsigned> items;
        while (words >> word && word != "(due") items.push_back(static_cast<unsigned>(std::stoul(word)));
        int hours = 0, minutes = 0, seconds = 0;
        words >> word;
        if (std::sscanf(word.c_str(), "%d:%d:%d", &hours, &minutes, &seconds) != 3) return;
        int const instant = hours * 3600 + minutes * 60 + seconds;
        if (!first_) first_ = instant;
        for (auto const item : items) {
            ++counts_[who][item];
            ++runs_[{(instant - *first_ + seconds_of_a_day) % seconds_of_a_day, item}];
        }
    }

    /// Prints the table. Returns whether every run took place exactly once.
    bool close() const {
        int const instants = runs_.empty() ? 0 : runs_.rbegin()->first.first + 1; // the first firing has the number 0
        auto const twice = std::ranges::count_if(runs_, [](auto const& run) { return run.second > 1; });
        auto const missing = instants * item_count - static_cast<int>(runs_.size());
        std::printf("\nwho ran which item how often\n     ");
        for (unsigned i = 0; i < item_count; ++i) std::printf("%5u", i);
        std::printf("  all\n");
        for (auto const& [who, by_item] : counts_) {
            int all = 0;
            std::printf("%-5s", who.c_str());
            for (unsigned i = 0; i < item_count; ++i) {
                auto const at = by_item.find(i);
                int const n = at == by_item.end() ? 0 : at->second;
                all += n;
                std::printf("%5d", n);
            }
            std::printf("%5d\n", all);
        }
        std::printf("%d due instants of %d items: %lld ran twice, %d did not run, %d failed\n", instants, item_count,
                    static_cast<long long>(twice), missing, failures_);
        return instants > 0 && twice == 0 && missing == 0 && failures_ == 0;
    }

private:
    std::optional<int> first_; ///< due instant, in seconds of the day
    std::map<std::pair<int, unsigned>, int> runs_;
    std::map<std::string, std::map<unsigned, int>> counts_;
    int failures_ = 0;
};

/// The event sink of one instance. Prints items that start together on one line.
class teller {
public:
    teller(std::string who, account& to) : who_{std::move(who)}, to_{&to} {}

    void operator()(events::joined const& e) { tell("joins as " + e.from.instance.str()); }
    void operator()(events::left const&) { tell("has left"); }
    void operator()(events::leadership_changed const& e) { tell(e.leads ? "leads" : "leads no more"); }
    void operator()(events::resharded const& e) {
        tell("shares " + std::to_string(e.items) + " items among " + std::to_string(e.instances) + ", " +
             std::to_string(e.moved) + " of them move");
    }
    void operator()(events::share_changed const& e) {
        std::string text = "owns";
        for (auto const i : e.items) text += " " + std::to_string(i);
        tell(e.items.empty() ? "owns nothing" : text);
    }
    void operator()(events::item_started const& e) {
        started_ += " " + std::to_string(e.item);
        due_ = clock_text(
            system_clock::time_point{std::chrono::duration_cast<system_clock::duration>(e.due.time_since_epoch())},
            false);
    }
    void operator()(events::item_finished const& e) {
        tell_started();
        if (e.failure) tell("failed item " + std::to_string(e.item) + ": " + to_string(*e.failure));
    }
    void operator()(events::item_fenced const& e) {
        tell("ran " + std::to_string(e.item) + " in vain: it was taken over by another instance");
    }
    void operator()(events::item_misfired const& e) {
        tell("still runs " + std::to_string(e.item) + ", and will make up for it");
    }
    void operator()(events::item_skipped const& e) {
        tell("skips " + std::to_string(e.item) + ": " + std::string{name_of(e.why)});
    }
    void operator()(events::trouble const& e) { tell("has trouble: " + to_string(e.what)); }

private:
    void tell(std::string const& what) {
        tell_started();
        to_->show(clock_text(system_clock::now(), true) + " " + who_ + " " + what);
    }
    void tell_started() {
        if (started_.empty()) return;
        auto const what = "runs" + std::exchange(started_, {}) + " (due " + due_ + ")";
        tell(what);
    }

    std::string who_;
    account* to_;
    std::string started_, due_;
};

/// One instance of the job, from its construction to its destruction.
template <registry Registry>
class instance {
public:
    instance(std::string const& who, Registry& r, account& to)
        : scheduler_{r, {}, teller{who, to}}, job_{scheduler_.schedule(settle, settle_region)} {
        if (!job_) std::fprintf(stderr, "%s: %s\n", who.c_str(), to_string(job_.error()).c_str());
    }
    bool is_up() const { return job_.has_value(); }

private:
    using scheduler = job_scheduler<Registry, AverageAllocation, SimpleExecutor, teller>;
    scheduler scheduler_;
    result<typename scheduler::handle> job_;
};

/// SIGINT and SIGTERM end a wait early, and the rest of the program ends in order.
class interruptible {
public:
    /// Created before any thread is started, so that all threads leave the signals to us.
    interruptible() {
        sigemptyset(&signals_);
        sigaddset(&signals_, SIGINT);
        sigaddset(&signals_, SIGTERM);
        pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    }

    /// Returns whether the time came without a signal.
    bool wait_until(system_clock::time_point t) {
        while (!interrupted_ && system_clock::now() < t) {
            auto const rest = std::max<std::chrono::nanoseconds>(t - system_clock::now(), 0ns);
            std::timespec const limit{static_cast<std::time_t>(rest / 1s), static_cast<long>((rest % 1s) / 1ns)};
            interrupted_ = sigtimedwait(&signals_, nullptr, &limit) > 0;
        }
        return !interrupted_;
    }

private:
    sigset_t signals_;
    bool interrupted_ = false;
};

/// Halfway between two firings. An instance that joins or leaves at a due instant may miss it.
system_clock::time_point next_break() {
    return std::chrono::floor<std::chrono::seconds>(system_clock::now() + 500ms) + 500ms;
}

int show_three() {
    interruptible waiting;
    account all;
    bool was_interrupted = false;
    {
        MemoryRegistry registry_a, registry_b{registry_a.server()}, registry_c{registry_a.server()};
        std::optional<instance<MemoryRegistry>> a, b, c;
        std::cout << "A and B share a job of " << item_count << " items, due every second; C joins; A leaves\n";
        auto now = next_break();
        auto after = [&](std::chrono::seconds s) { return waiting.wait_until(now += s); };
        bool is_good = after(0s);
        if (is_good) is_good = a.emplace("A", registry_a, all).is_up() && b.emplace("B", registry_b, all).is_up();
        if (is_good) is_good = after(3s) && c.emplace("C", registry_c, all).is_up();
        if (is_good) is_good = after(3s);
        if (is_good) a.reset();
        if (is_good) is_good = after(3s);
        was_interrupted = !is_good;
    }
    return all.close() && !was_interrupted ? 0 : 1;
}

#ifdef ELASTICJOB_HAS_ZOOKEEPER
int show_one(std::string const& servers, std::string const& who, std::chrono::seconds duration) {
    interruptible waiting;
    account mine;
    auto registry = ZkRegistry::connect({.servers = servers, .name_space = "three_instances", .session_timeout = 10s});
    if (!registry) {
        std::fprintf(stderr, "%s: %s\n", who.c_str(), to_string(registry.error()).c_str());
        return 1;
    }
    auto const begin = next_break();
    if (!waiting.wait_until(begin)) return 1;
    instance<ZkRegistry> here{who, *registry, mine};
    return here.is_up() && waiting.wait_until(begin + duration) ? 0 : 1;
}
#else
int show_one(std::string const&, std::string const&, std::chrono::seconds) {
    std::fprintf(stderr, "this program was built without ZooKeeper's client library\n");
    return 1;
}
#endif

int show_account() {
    interruptible waiting; // the instances are interrupted, and this process reports how they end
    account all;
    for (std::string line; std::getline(std::cin, line);) all.show(line);
    return all.close() ? 0 : 1;
}

int main(int count, char** words) {
    std::vector<std::string_view> const arguments{words + 1, words + count};
    if (arguments.empty()) return show_three();
    if (arguments.size() == 1 && arguments[0] == "--account") return show_account();

    std::string servers, who;
    std::chrono::seconds duration = 24h;
    bool is_good = arguments.size() % 2 == 0;
    for (std::size_t i = 0; is_good && i < arguments.size(); i += 2) {
        std::string const value{arguments[i + 1]};
        if (arguments[i] == "--zookeeper")
            servers = value;
        else if (arguments[i] == "--name")
            who = value;
        else if (int seconds = 0; arguments[i] == "--for" && std::sscanf(value.c_str(), "%d", &seconds) == 1)
            duration = std::chrono::seconds{seconds};
        else
            is_good = false;
    }
    if (is_good && !servers.empty() && !who.empty()) return show_one(servers, who, duration);
    std::fprintf(stderr, "usage: three_instances [--zookeeper HOST:PORT --name NAME [--for SECONDS] | --account]\n");
    return 2;
}
