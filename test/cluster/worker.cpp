// SPDX-License-Identifier: Apache-2.0
// One process of a test: an instance of some jobs on a ZooKeeper server. It prints a line for each thing that happens,
//
//     <steady clock, microseconds> <job> <verb> <words>
//
// and leaves in order when it gets a SIGTERM or when its standard input ends. A line on its standard input is a number:
// how many milliseconds the bodies take that begin from now on; it answers with `takes`. Or it is a word, most of which
// are about its death: see `obey`. The verbs, and who says them:
//
//     joined ID SESSION · leads · leads-not · sharded EPOCH ITEMS INSTANCES MOVED · owns ITEM… · left     the events
//     skipped ITEM DUE WHY · failed ITEM DUE ERROR · trouble ERROR                                        the events
//     fenced ITEM DUE TOKEN                                                                               the events
//     runs ITEM DUE MARK TOKEN ATTEMPT · ran ITEM DUE done|stopped TOKEN                                    the body
//     ready · takes MS · guarded yes|no · starts PID · refused ERROR · gone                                          main
//
// DUE is in milliseconds since 1970. MARK is `marked` if the item's node `running` stands there and belongs to the
// session of this process, `unmarked` if not, and `-` where nobody has asked for it.
#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/elasticjob.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/session_guardian.hpp>

#include <support/zk_schedulers.hpp>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace elasticjob;
using std::chrono::milliseconds;

struct arguments {
    zk_options registry{};
    scheduler_options scheduler{};
    std::vector<std::string> configs{}; ///< as they stand in the registry
    int copies = 1;                     ///< of each job; with more than one, their names get numbers
    milliseconds body{0};
    bool looks_at_marks = false;
    bool has_guardian = false;
    int idle_sessions = 0;               ///< besides the one of the jobs
    std::optional<milliseconds> retry{}; ///< first attempts fail, and are made again after so long
};

std::optional<arguments> parse(int count, char** words) {
    arguments a;
    if (count % 2 == 0) return std::nullopt;
    for (int i = 1; i < count; i += 2) {
        std::string_view const key = words[i];
        std::string const value = words[i + 1];
        auto const number = [&] { return std::stoi(value); };
        if (key == "--servers")
            a.registry.servers = value;
        else if (key == "--namespace")
            a.registry.name_space = value;
        else if (key == "--digest")
            a.registry.digest = value;
        else if (key == "--session-ms")
            a.registry.session_timeout = milliseconds{number()};
        else if (key == "--server-ip")
            a.scheduler.server_ip = value;
        else if (key == "--drain-ms")
            a.scheduler.drain_timeout = milliseconds{number()};
        else if (key == "--linger-ms")
            a.scheduler.completion_linger = milliseconds{number()};
        else if (key == "--ahead-ms")
            a.scheduler.start_ahead = milliseconds{number()};
        else if (key == "--config")
            a.configs.push_back(value);
        else if (key == "--copies")
            a.copies = number();
        else if (key == "--body-ms")
            a.body = milliseconds{number()};
        else if (key == "--retry-ms")
            a.retry = milliseconds{number()};
        else if (key == "--guardian")
            a.has_guardian = number() != 0;
        else if (key == "--idle-sessions")
            a.idle_sessions = number();
        else if (key == "--look-at-marks")
            a.looks_at_marks = number() != 0;
        else
            return std::nullopt;
    }
    return a;
}

/// One write for each line, so that lines of several threads do not mix.
void say(std::string_view job, std::string const& what) {
    auto const now = std::chrono::steady_clock::now().time_since_epoch();
    auto line = std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
    line.append(" ").append(job).append(" ").append(what).append("\n");
    for (std::string_view rest = line; !rest.empty();) {
        auto const n = ::write(STDOUT_FILENO, rest.data(), rest.size());
        if (n <= 0) return;
        rest.remove_prefix(static_cast<std::size_t>(n));
    }
}

std::string item_and_due(item_index item, wall_time due) {
    auto const ms = std::chrono::duration_cast<milliseconds>(due.time_since_epoch()).count();
    return std::to_string(item) + " " + std::to_string(ms);
}

class teller {
public:
    explicit teller(ZkRegistry& r) : registry_{&r} {}

    void operator()(events::joined const& e) {
        char session[20];
        std::snprintf(session, sizeof session, "0x%llx", static_cast<unsigned long long>(registry_->session().id));
        say(e.from.job, "joined " + e.from.instance.str() + " " + session);
    }
    void operator()(events::left const& e) { say(e.from.job, "left"); }
    void operator()(events::leadership_changed const& e) { say(e.from.job, e.leads ? "leads" : "leads-not"); }
    void operator()(events::resharded const& e) {
        say(e.from.job, "sharded " + std::to_string(e.epoch) + " " + std::to_string(e.items) + " " +
                            std::to_string(e.instances) + " " + std::to_string(e.moved));
    }
    void operator()(events::share_changed const& e) {
        std::string text = "owns";
        for (auto const i : e.items) text += " " + std::to_string(i);
        say(e.from.job, text);
    }
    void operator()(events::item_started const&) {} // the body prints it
    void operator()(events::item_finished const& e) {
        if (e.failure) say(e.from.job, "failed " + item_and_due(e.item, e.due) + " " + to_string(*e.failure));
    }
    void operator()(events::item_fenced const& e) {
        say(e.from.job, "fenced " + item_and_due(e.item, e.due) + " " + std::to_string(e.token));
    }
    void operator()(events::item_misfired const& e) { say(e.from.job, "misfired " + item_and_due(e.item, e.due)); }
    void operator()(events::item_skipped const& e) {
        say(e.from.job, "skipped " + item_and_due(e.item, e.due) + " " + std::string{name_of(e.why)});
    }
    void operator()(events::trouble const& e) { say(e.from.job, "trouble " + to_string(e.what)); }

private:
    ZkRegistry* registry_;
};

task<result<bool>> is_marked(ZkRegistry& r, node_path mark) {
    auto const found = co_await r.exists(std::move(mark));
    if (!found) co_return found.error();
    co_return *found && (*found)->owner == r.session().id;
}

/// Takes its time, unless it is asked to stop.
class body {
public:
    body(ZkRegistry& r, arguments const& a, std::atomic<int> const& span_ms)
        : registry_{&r},
          span_ms_{&span_ms},
          looks_at_marks_{a.looks_at_marks},
          fails_first_{a.retry.has_value()} {}

    result<void> operator()(sharding_context const& c) const {
        auto const which = item_and_due(c.item, c.due);
        milliseconds const span{span_ms_->load()};
        std::string mark = "-";
        if (looks_at_marks_) {
            job_layout const at{*job_name::parse(c.job_name)};
            auto const marked = block_on(registry_->loop(), is_marked(*registry_, at.item_running(c.item)));
            mark = marked && *marked ? "marked" : "unmarked";
        }
        auto const token = " " + std::to_string(c.token);
        say(c.job_name, "runs " + which + " " + mark + token + " " + std::to_string(c.attempt));
        std::mutex m;
        std::condition_variable_any stopped;
        std::unique_lock lock{m};
        stopped.wait_for(lock, c.stop, span, [] { return false; });
        say(c.job_name, "ran " + which + (c.stop.stop_requested() ? " stopped" : " done") + token);
        if (fails_first_ && c.attempt == 1) return error{errc::job_failed, "as it was told to"};
        return success();
    }

private:
    ZkRegistry* registry_;
    std::atomic<int> const* span_ms_;
    bool looks_at_marks_, fails_first_;
};

int refuse(error const& e) {
    say("-", "refused " + to_string(e));
    return 1;
}

/// A long-lived program that inherits the descriptor unless it is -1.
void start_program(int inherited) {
    char name[] = "sleep", seconds[] = "600";
    char* words[] = {name, seconds, nullptr};
    pid_t id = 0;
    if (inherited >= 0) inherited = ::fcntl(inherited, F_DUPFD, 100);
    if (::posix_spawnp(&id, name, nullptr, nullptr, words, environ) != 0) std::abort();
    if (inherited >= 0) ::close(inherited);
    say("-", "starts " + std::to_string(id));
}

void obey(std::string const& word, SessionGuardian const* guardian) {
    if (word == "abort") std::abort();
    if (word == "_exit") ::_exit(0);
    if (word == "exec") ::execlp("sleep", "sleep", "600", nullptr);
    if (word == "end-main-thread") ::syscall(SYS_exit, 0); // pthread_exit would make the instance leave the job first
    if (word == "starve") {
        rlimit const little{1 << 20, 1 << 20}; // less than it uses
        ::setrlimit(RLIMIT_AS, &little);
        for (;;) std::make_unique<char[]>(1 << 20).release()[0] = 1;
    }
    if (word == "guarded?") say("-", guardian && guardian->is_alive() ? "guarded yes" : "guarded no");
    if (word == "start-program") start_program(-1);
    if (word == "start-worker") start_program(guardian->life_line());
}

/// Obeys until the end.
void listen(int signals, std::atomic<int>& span_ms, SessionGuardian const* guardian) {
    for (std::string heard;;) {
        pollfd ends[] = {{signals, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
        if (::poll(ends, 2, -1) < 0) continue;
        if (ends[0].revents != 0) return;
        char byte = 0;
        if (::read(STDIN_FILENO, &byte, 1) <= 0) return;
        if (byte != '\n') {
            heard.push_back(byte);
            continue;
        }
        auto const line = std::exchange(heard, {});
        if (line.find_first_not_of("0123456789") != line.npos) {
            obey(line, guardian);
        } else {
            span_ms = std::stoi(line);
            say("-", "takes " + line);
        }
    }
}

/// Opens a session with a single node, `/idle-<process>-<number>`.
result<ZkRegistry> open_idle_session(zk_options const& o, int number) {
    ELASTICJOB_TRY(auto registry, ZkRegistry::connect(o));
    auto const path = node_path::parse("/idle-" + std::to_string(::getpid()) + "-" + std::to_string(number));
    ELASTICJOB_CHECK(block_on(registry.loop(), registry.create(*path, "", create_mode::ephemeral)));
    return registry;
}

int live(arguments const& a, int signals, SessionGuardian const* guardian) {
    std::vector<ZkRegistry> idle;
    for (int n = 0; n < a.idle_sessions; ++n) {
        auto one = open_idle_session(a.registry, n);
        if (!one) return refuse(one.error());
        idle.push_back(std::move(*one));
    }
    auto registry = ZkRegistry::connect(a.registry);
    if (!registry) return refuse(registry.error());
    std::atomic<int> span_ms{static_cast<int>(a.body.count())};
    using scheduler_type = elasticjob::test::zk_scheduler<SimpleExecutor>;
    scheduler_type scheduler{*registry, a.scheduler, teller{*registry}};
    std::vector<scheduler_type::handle> jobs;
    for (auto const& text : a.configs) {
        auto config = from_json(text);
        if (!config) return refuse(config.error());
        for (int n = 0; n < a.copies; ++n) {
            auto one = **config;
            if (a.copies > 1) one.name += std::to_string(n);
            if (a.retry) one.retry = {.attempts_max = 2, .pause = *a.retry, .spread_percent = 0};
            auto job = scheduler.schedule(std::move(one), body{*registry, a, span_ms});
            if (!job) return refuse(job.error());
            jobs.push_back(std::move(*job));
        }
    }
    say("-", "ready");
    listen(signals, span_ms, guardian);
    return 0;
}

} // namespace

int main(int count, char** words) {
    auto a = parse(count, words);
    if (!a) {
        std::fprintf(stderr, "cluster_worker: cannot read the arguments\n");
        return 2;
    }
    sigset_t term;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &term, nullptr); // before any thread is started
    std::optional<SessionGuardian> guardian;
    if (a->has_guardian) {
        auto started = SessionGuardian::start();
        if (!started) return refuse(started.error());
        a->registry.guardian = guardian.emplace(std::move(*started)).sessions();
    }
    auto const code = live(*a, ::signalfd(-1, &term, SFD_CLOEXEC), guardian ? &*guardian : nullptr);
    say("-", "gone");
    return code;
}
