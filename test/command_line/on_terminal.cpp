// SPDX-License-Identifier: Apache-2.0
// The program itself, in a pseudo-terminal and on a real server. The refresh intervals are long, so every update that a
// test sees comes from a watch.
#include <elasticjob/command_line/terminal.hpp>
#include <elasticjob/core/block_on.hpp>
#include <elasticjob/core/descriptor.hpp>
#include <elasticjob/registry/zk_registry.hpp>

#include <support/zk_server.hpp>

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace std::chrono_literals;

namespace {

std::string const program = ELASTICJOB_PROGRAM;
std::string const leaves_screen = "\x1b[?25h\x1b[?1049l";

/// A ZooKeeper server with a job without members, whose server node is left over.
struct shop {
    zk_server server{};
    ZkRegistry registry = connect(server.endpoint());

    shop() {
        add_job("settle");
        add("/settle/servers");
        add("/settle/servers/10.0.0.9");
    }
    static ZkRegistry connect(std::string endpoint) {
        zk_options options;
        options.servers = std::move(endpoint);
        auto registry = ZkRegistry::connect(std::move(options));
        REQUIRE(registry);
        return *std::move(registry);
    }
    void add(std::string const& path, std::string data = {}) {
        REQUIRE(block_on(registry.loop(),
                         registry.create(node_path::parse(path).value(), std::move(data), create_mode::persistent)));
    }
    void add_job(std::string const& name) {
        add("/" + name);
        add("/" + name + "/config",
            R"({"jobName":")" + name +
                R"(","jobClass":"a.B","jobType":"SIMPLE","cron":"0 0 0 1 1 ? 2099","shardingTotalCount":2})");
    }
    bool has(std::string const& path) {
        auto const there = block_on(registry.loop(), registry.exists(node_path::parse(path).value()));
        return there.value().has_value();
    }
};

/// The terminal of a process that runs the program.
class call {
public:
    call(shop const& s, std::vector<std::string> words, std::map<std::string, std::string> variables = {}) {
        words.insert(words.begin(), {program, "--servers", s.server.endpoint()});
        std::vector<char*> arguments;
        for (auto& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        int ends[2];
        REQUIRE(::openpty(&ends[0], &ends[1], nullptr, nullptr, nullptr) == 0);
        REQUIRE(::tcgetattr(ends[1], &before_) == 0);
        ::close(ends[0]);
        ::close(ends[1]);
        ::winsize const size{24, 100, 0, 0};
        variables.insert({{"TERM", "xterm"}, {"USER", "ann"}});
        process_ = ::forkpty(&master_, nullptr, &before_, &size);
        REQUIRE(process_ >= 0);
        if (process_ == 0) {
            ::unsetenv("NO_COLOR");
            for (auto const& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
            ::execv(arguments[0], arguments.data());
            ::_exit(127);
        }
    }
    call(call const&) = delete;
    call& operator=(call const&) = delete;
    ~call() {
        if (process_ > 0) {
            ::kill(process_, SIGKILL);
            ::waitpid(process_, nullptr, 0);
        }
        ::close(master_);
    }

    void type(std::string_view keys) {
        REQUIRE(::write(master_, keys.data(), keys.size()) == static_cast<ssize_t>(keys.size()));
    }

    /// Whether the terminal shows the text within half a minute. If so, drops the output up to and including the text.
    bool shows(std::string const& text) {
        while (seen_.find(text) == seen_.npos)
            if (!read_some()) return false;
        seen_.erase(0, seen_.find(text) + text.size());
        return true;
    }

    /// The remaining output up to the end of the process; then `status`.
    std::string rest() {
        while (read_some()) {
        }
        REQUIRE(::waitpid(std::exchange(process_, -1), &status, 0) > 0);
        return std::exchange(seen_, {});
    }
    int status = 0;

    /// Waits until the process is stopped (suspended).
    bool stops() const {
        int how = 0;
        return ::waitpid(process_, &how, WUNTRACED) == process_ && WIFSTOPPED(how);
    }
    void go_on() const { ::kill(process_, SIGCONT); }

    /// Whether the terminal is as it was before.
    bool is_restored() const {
        ::termios now{};
        REQUIRE(::tcgetattr(master_, &now) == 0);
        return now.c_lflag == before_.c_lflag && now.c_iflag == before_.c_iflag && now.c_oflag == before_.c_oflag;
    }

private:
    bool read_some() {
        ::pollfd on{master_, POLLIN, 0};
        if (::poll(&on, 1, 30'000) <= 0) return false;
        std::array<char, 4096> block;
        auto const got = ::read(master_, block.data(), block.size());
        if (got <= 0) return false; // the last process has closed its end
        seen_.append(block.data(), static_cast<std::size_t>(got));
        return true;
    }

    ::termios before_{};
    ::pid_t process_ = -1;
    int master_ = -1;
    std::string seen_{};
};

shop& the_shop() {
    static shop s;
    return s;
}

} // namespace

TEST_CASE("command_line.terminal: a command that stops work shows its effect, and the user must type the name") {
    auto& s = the_shop();
    std::vector<std::string> const words{"servers", "remove", "10.0.0.9", "--job", "settle"};
    call wrong{s, words};
    CHECK(wrong.shows("planned: the server is removed"));
    CHECK(wrong.shows("To do this, type 10.0.0.9: "));
    wrong.type("10.0.0.8\n");
    CHECK(wrong.rest().find("that is not 10.0.0.9, so nothing was done") != std::string::npos);
    CHECK(WEXITSTATUS(wrong.status) == 6);
    CHECK(s.has("/settle/servers/10.0.0.9"));

    call none{s, words};
    CHECK(none.shows("To do this, type"));
    none.type("\x04"); // the end of the input
    none.rest();
    CHECK(WEXITSTATUS(none.status) == 6);

    call right{s, words};
    CHECK(right.shows("To do this, type"));
    right.type("10.0.0.9\n");
    CHECK(right.rest().find("done: the server is removed") != std::string::npos);
    CHECK(WEXITSTATUS(right.status) == 0);
    CHECK_FALSE(s.has("/settle/servers/10.0.0.9"));
}

TEST_CASE("command_line.terminal: a terminal gets colours, unless the user turns them off") {
    auto& s = the_shop();
    std::string const red = "\x1b[31mCRASHED\x1b[0m";
    CHECK(call{s, {"jobs", "list"}}.shows(red));
    for (auto const& [name, value] : std::map<std::string, std::string>{{"NO_COLOR", "1"}, {"TERM", "dumb"}}) {
        call plain{s, {"jobs", "list"}, {{name, value}}};
        auto const text = plain.rest();
        CHECK(text.find("CRASHED") != std::string::npos);
        CHECK(text.find('\x1b') == std::string::npos);
    }
}

TEST_CASE("command_line.terminal: top follows changes, and leaves the terminal as it was") {
    auto& s = the_shop();
    call top{s, {"top", "--interval", "1h"}};
    CHECK(top.shows("\x1b[?1049h"));
    CHECK(top.shows("settle"));
    CHECK_FALSE(top.is_restored());
    s.add_job("followed");
    CHECK(top.shows("followed"));
    top.type("\x1a"); // stop
    CHECK(top.stops());
    CHECK(top.is_restored());
    CHECK(top.shows(leaves_screen));
    top.go_on();
    CHECK(top.shows("settle"));
    top.type("q");
    CHECK(top.rest().ends_with(leaves_screen));
    CHECK(top.status == 0);
    CHECK(top.is_restored());

    for (char const* key : {"\x03", "\x1c"}) { // interrupt, quit
        call ended{s, {"top", "settle", "--interval", "1h"}};
        CHECK(ended.shows("items of settle"));
        ended.type(key);
        CHECK(ended.rest().ends_with(leaves_screen));
        CHECK(WIFSIGNALED(ended.status));
        CHECK(ended.is_restored());
    }
}

TEST_CASE("command_line.terminal: a change of size between two waits of a live view is not lost") {
    using kind = cli::screen_news::kind;
    int ends[2];
    REQUIRE(::openpty(&ends[0], &ends[1], nullptr, nullptr, nullptr) == 0);
    elasticjob::detail::descriptor const master{ends[0]};
    elasticjob::detail::descriptor const slave{ends[1]};
    cli::terminal t{environment_variable, slave.get(), slave.get(), slave.get()};
    cli::live_screen screen{t, elasticjob::detail::event_descriptor::make().value()};
    REQUIRE(::raise(SIGWINCH) == 0);
    CHECK(screen.wait(-1, 30s).what == kind::stale);
    CHECK(screen.wait(-1, 0s).what == kind::interval);
}

TEST_CASE("command_line.terminal: a watch prints only changes") {
    auto& s = the_shop();
    call watch{s, {"jobs", "list", "--watch", "--interval", "1h", "-o", "jsonl"}};
    CHECK(watch.shows("{\"job\":\"settle\""));
    CHECK(watch.shows("}\r\n"));
    s.add_job("watched");
    CHECK(watch.shows("{\"job\":\"watched\""));
    CHECK(watch.shows("}\r\n"));
    block_on(s.registry.loop(), s.registry.remove(node_path::parse("/watched/config").value())).value();
    block_on(s.registry.loop(), s.registry.remove(node_path::parse("/watched").value())).value();
    CHECK(watch.shows("{\"job\":\"watched\",\"gone\":true}\r\n"));
    watch.type("\x03");
    CHECK(watch.rest().find("settle") == std::string::npos);
    CHECK(WTERMSIG(watch.status) == SIGINT);
    CHECK(watch.is_restored());
}

TEST_CASE("command_line.terminal: bash completes commands, and jobs of the registry") {
    auto& s = the_shop();
    auto const completed = [&](std::string const& words, int last) {
        auto const script = "eval \"$('" + program + "' completion bash)\"; COMP_WORDS=(" + words +
                            "); COMP_CWORD=" + std::to_string(last) + "; _elasticjob; echo \"${COMPREPLY[*]}\"";
        std::string const line = "ELASTICJOB_SERVERS=" + s.server.endpoint() + " bash -c '" + [&] {
            std::string quoted;
            for (char const c : script) quoted += c == '\'' ? std::string{"'\\''"} : std::string{c};
            return quoted;
        }() + "'";
        std::unique_ptr<std::FILE, int (*)(std::FILE*)> const out{::popen(line.c_str(), "r"), &::pclose};
        REQUIRE(out);
        std::array<char, 4096> text{};
        return std::string{std::fgets(text.data(), text.size(), out.get()) ? text.data() : ""};
    };
    CHECK(completed(program + " jobs sh", 2) == "show shut-down\n");
    CHECK(completed(program + " jobs show sett", 3) == "settle\n");
}
