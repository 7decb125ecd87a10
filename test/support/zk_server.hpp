// SPDX-License-Identifier: Apache-2.0
/// \file \brief `zk_server`: a real ZooKeeper server on loopback for one test; it ends with the object.
#ifndef ELASTICJOB_TEST_SUPPORT_ZK_SERVER_HPP
#define ELASTICJOB_TEST_SUPPORT_ZK_SERVER_HPP

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm> // min
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace elasticjob::test {

/// The settings that may differ between tests.
struct zk_server_options {
    int tick_ms = 200;                ///< the interval at which the server checks sessions
    int session_timeout_min_ms = 400; ///< the server limits requested time-outs to these two
    int session_timeout_max_ms = 60'000;
    std::chrono::seconds start_timeout{30};
    int heap_mb = 256;                ///< at most
    bool insists_on_digest = false;   ///< serves only sessions that have introduced themselves
    bool is_measured = false;         ///< the virtual machine has its own defaults instead of starting fast
};

/// A standalone server with its own process, port and data directory. It accepts sessions once it is constructed.
///
/// `stop`, `kill` and `start` keep the port and the data, so sessions and their ephemeral nodes survive a short
/// restart. All failures throw `std::runtime_error`, with the end of the server's log.
///
/// Needs `java` in PATH (or JAVA_HOME), and the server's jar in the place of Debian's libzookeeper-java.
/// ZOOKEEPER_CLASSPATH names another class path.
///
/// Threads: one at a time. Construct and `start` it on a thread that lives as long as the server, best the main thread:
/// the kernel kills the server when that thread ends, so that no crashed test leaves a server behind.
class zk_server {
public:
    explicit zk_server(zk_server_options options = {}) : options_{options}, directory_{make_directory()} {
        try {
            // The port is free between its choice and the server's bind. If another process takes it in between, choose
            // another one.
            for (int attempts_left = 5;; --attempts_left) {
                port_ = find_free_port();
                write_config();
                if (try_start()) return;
                if (attempts_left == 1 || log().find("Address already in use") == std::string::npos)
                    throw failure("the server ended before it was ready");
            }
        } catch (...) {
            discard();
            throw;
        }
    }
    zk_server(zk_server const&) = delete;
    zk_server& operator=(zk_server const&) = delete;
    ~zk_server() { discard(); }

    /// `127.0.0.1:<port>`, to which clients connect.
    std::string endpoint() const { return "127.0.0.1:" + std::to_string(port_); }
    std::uint16_t port() const noexcept { return port_; }
    bool is_running() const noexcept { return pid_ != 0; }

    /// Starts the server again and waits until it accepts sessions. Precondition: it is not running.
    void start() {
        if (is_running()) throw std::logic_error("zk_server: start of a running server");
        if (!try_start()) throw failure("the server ended before it was ready");
    }

    /// Stops the server in order, so that it closes its sockets, and waits for its end.
    void stop() {
        resume();
        signal_and_reap(SIGTERM);
    }

    /// Ends the server at once, like a power cut.
    void kill() { signal_and_reap(SIGKILL); }

    /// Freezes the server: connections stay open, but no replies come. Returns when it is frozen.
    void pause() {
        if (!is_running()) throw std::logic_error("zk_server: pause of a server that is not running");
        ::kill(pid_, SIGSTOP);
        int status = 0;
        while (::waitpid(pid_, &status, WUNTRACED) < 0 && errno == EINTR) {
        }
        if (!WIFSTOPPED(status)) {
            pid_ = 0;
            throw failure("the server ended instead of being paused");
        }
    }

    void resume() {
        if (is_running()) ::kill(pid_, SIGCONT);
    }

    /// The answer to a four-letter word (`srvr`, `cons`, `wchs`, ...); empty if none comes in time.
    std::string ask(std::string_view word, std::chrono::milliseconds timeout = std::chrono::seconds{2}) const {
        descriptor const socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
        auto const address = loopback(port_);
        // On loopback a connect is accepted or refused at once, so only the reading needs a limit.
        if (::connect(socket.fd, reinterpret_cast<sockaddr const*>(&address), sizeof address) != 0) return {};
        if (::send(socket.fd, word.data(), word.size(), MSG_NOSIGNAL) < 0) return {};
        std::string answer;
        char buffer[4096];
        for (auto const deadline = clock::now() + timeout;;) {
            auto const left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock::now()).count();
            pollfd readable{socket.fd, POLLIN, 0};
            if (left <= 0 || ::poll(&readable, 1, static_cast<int>(left)) <= 0) return {};
            auto const size = ::recv(socket.fd, buffer, sizeof buffer, 0);
            if (size < 0) return {};
            if (size == 0) return answer;
            answer.append(buffer, static_cast<std::size_t>(size));
        }
    }

    /// The output of the server so far.
    std::string log() const {
        std::ifstream file{directory_ / "server.log"};
        return {std::istreambuf_iterator<char>{file}, {}};
    }

private:
    using clock = std::chrono::steady_clock;

    struct descriptor {
        int fd;
        explicit descriptor(int opened) : fd{opened} {
            if (fd < 0) throw std::system_error(errno, std::generic_category(), "zk_server");
        }
        descriptor(descriptor const&) = delete;
        descriptor& operator=(descriptor const&) = delete;
        ~descriptor() { ::close(fd); }
    };

    static sockaddr_in loopback(std::uint16_t port) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return address;
    }

    static std::uint16_t find_free_port() {
        descriptor const socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
        auto address = loopback(0);
        socklen_t size = sizeof address;
        if (::bind(socket.fd, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
            ::getsockname(socket.fd, reinterpret_cast<sockaddr*>(&address), &size) != 0)
            throw std::system_error(errno, std::generic_category(), "zk_server: no free port");
        return ntohs(address.sin_port);
    }

    static std::filesystem::path make_directory() {
        auto name = (std::filesystem::temp_directory_path() / "elasticjob-zk-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr)
            throw std::system_error(errno, std::generic_category(), "zk_server: mkdtemp " + name);
        return name;
    }

    void write_config() const {
        std::filesystem::create_directories(directory_ / "data");
        std::ofstream{directory_ / "zoo.cfg"} << "dataDir=" << (directory_ / "data").string() << '\n'
                                              << "clientPortAddress=127.0.0.1\n"
                                              << "clientPort=" << port_ << '\n'
                                              << "tickTime=" << options_.tick_ms << '\n'
                                              << "minSessionTimeout=" << options_.session_timeout_min_ms << '\n'
                                              << "maxSessionTimeout=" << options_.session_timeout_max_ms << '\n'
                                              << "maxClientCnxns=0\n"
                                              << "admin.enableServer=false\n"
                                              << "4lw.commands.whitelist=*\n";
    }

    static std::string find_java() {
        if (char const* home = std::getenv("JAVA_HOME"))
            if (auto java = std::string{home} + "/bin/java"; ::access(java.c_str(), X_OK) == 0) return java;
        char const* const path = std::getenv("PATH");
        for (std::string_view rest = path != nullptr ? path : ""; !rest.empty();) {
            auto const end = rest.find(':');
            auto java = std::string{rest.substr(0, end)} + "/java";
            if (::access(java.c_str(), X_OK) == 0) return java;
            rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
        }
        throw std::runtime_error("zk_server: no java in PATH (on Debian: apt-get install default-jre-headless)");
    }

    static std::string find_classpath() {
        if (char const* given = std::getenv("ZOOKEEPER_CLASSPATH")) return given;
        std::string const jar = "/usr/share/java/zookeeper.jar";
        if (::access(jar.c_str(), R_OK) != 0)
            throw std::runtime_error("zk_server: " + jar +
                                     " is missing (on Debian: apt-get install libzookeeper-java); "
                                     "ZOOKEEPER_CLASSPATH may name the server's jars elsewhere");
        return jar + ":/usr/share/java/slf4j-simple.jar"; // with slf4j-simple the log is not thrown away
    }

    /// The server replies before its data is on disk. Unless it is measured, it also starts fast and stays small.
    std::vector<std::string> make_command() const {
        std::string const insists = options_.insists_on_digest ? "true" : "false";
        std::vector<std::string> command{find_java()};
        if (!options_.is_measured)
            for (auto const* o : {"-Xms16m", "-Xss512k", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                                  "-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote"})
                command.emplace_back(o);
        std::string const others[]{"-Dzookeeper.enforce.auth.enabled=" + insists,
                                   "-Dzookeeper.enforce.auth.schemes=digest",
                                   "-Xmx" + std::to_string(options_.heap_mb) + "m",
                                   "-XX:-UsePerfData",
                                   "-Dzookeeper.jmx.log4j.disable=true",
                                   "-Dzookeeper.extendedTypesEnabled=true",
                                   "-Dznode.container.checkIntervalMs=1000",
                                   "-Dzookeeper.forceSync=no",
                                   "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                                   "-cp",
                                   find_classpath(),
                                   "org.apache.zookeeper.server.ZooKeeperServerMain",
                                   (directory_ / "zoo.cfg").string()};
        command.insert(command.end(), std::begin(others), std::end(others));
        return command;
    }

    void spawn() {
        auto command = make_command();
        std::vector<char*> arguments;
        for (auto& argument : command) arguments.push_back(argument.data());
        arguments.push_back(nullptr);
        descriptor const output{
            ::open((directory_ / "server.log").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
        descriptor const input{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
        auto const parent = ::getpid();

        auto const child = ::fork();
        if (child < 0) throw std::system_error(errno, std::generic_category(), "zk_server: fork");
        if (child == 0) {
            // Between fork and exec, only calls that are safe in a signal handler: other threads may have held any
            // lock.
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (::getppid() != parent) ::_exit(127); // the parent died before the line above
            ::dup2(input.fd, 0);
            ::dup2(output.fd, 1);
            ::dup2(output.fd, 2);
            ::close_range(3, ~0U, 0);
            sigset_t none;
            ::sigemptyset(&none);
            ::sigprocmask(SIG_SETMASK, &none, nullptr);
            ::execv(arguments[0], arguments.data());
            ::_exit(127);
        }
        pid_ = child;
    }

    /// Returns false if the server ended by itself before it was ready.
    bool try_start() {
        spawn();
        for (auto const deadline = clock::now() + options_.start_timeout; clock::now() < deadline;) {
            if (has_ended()) return false;
            if (is_ready()) return true;
            ::poll(nullptr, 0, 10); // only the port shows when the server is ready
        }
        signal_and_reap(SIGKILL);
        throw failure("the server was not ready in time");
    }

    /// `ruok` answers imok too early; `Mode:` appears only when sessions are accepted. The data directory in `conf`
    /// distinguishes our server from another one on the same port.
    bool is_ready() const {
        constexpr std::chrono::milliseconds patience{200}; // a starting server may accept a connection and not answer
        return ask("srvr", patience).find("Mode:") != std::string::npos &&
               ask("conf", patience).find("dataDir=" + (directory_ / "data").string() + '/') != std::string::npos;
    }

    bool has_ended() {
        if (::waitpid(pid_, nullptr, WNOHANG) != pid_) return false;
        pid_ = 0;
        return true;
    }

    void signal_and_reap(int signal) {
        if (!is_running()) return;
        ::kill(pid_, signal);
        for (auto const deadline = clock::now() + std::chrono::seconds{5}; clock::now() < deadline;) {
            if (has_ended()) return;
            ::poll(nullptr, 0, 5);
        }
        ::kill(pid_, SIGKILL); // it did not react to SIGTERM
        while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
        }
        pid_ = 0;
    }

    void discard() noexcept {
        signal_and_reap(SIGKILL);
        std::error_code ignored;
        std::filesystem::remove_all(directory_, ignored);
    }

    std::runtime_error failure(std::string const& what) const {
        auto const text = log();
        return std::runtime_error("zk_server: " + what + "\n" + text.substr(text.size() - std::min(text.size(), kept)));
    }

    static constexpr std::size_t kept = 2000; // bytes of log in an exception

    zk_server_options options_;
    std::filesystem::path directory_;
    std::uint16_t port_ = 0;
    ::pid_t pid_ = 0; // 0: not running
};

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SUPPORT_ZK_SERVER_HPP
