// SPDX-License-Identifier: Apache-2.0
/// \file \brief `zk_ensemble`: three ZooKeeper servers for one test, the first of which can be cut off from the others.
#ifndef ELASTICJOB_TEST_INTEGRATION_ENSEMBLE_LAB_HPP
#define ELASTICJOB_TEST_INTEGRATION_ENSEMBLE_LAB_HPP

#include <integration/zk_proxy.hpp>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace elasticjob::test {

/// Options that differ between tests.
struct ensemble_options {
    /// Whether all traffic between servers goes through proxies, elections included. If not, only the traffic between
    /// the first server and its leader does.
    bool has_all_wires = false;
    /// In ticks. The default is so long that servers notice a cut only after the session has ended.
    int sync_limit = 16;
    /// The servers' directory; empty: a new one, which is removed afterwards.
    std::filesystem::path directory{};
    /// The third server's data directory; empty: with the rest.
    std::filesystem::path third_data{};
};

/// Servers 1, 2 and 3 on loopback. The third leads and the first follows, because it is the last to start. The
/// traffic between the first and its leader goes through a proxy; clients reach each server directly.
///
/// After construction all three accept sessions. Failures throw `std::runtime_error`. Needs `java` and
/// the jar as support/zk_server.hpp does. Threads: one, which lives as long as the object; the servers die with it.
class zk_ensemble {
public:
    static constexpr std::chrono::milliseconds tick{500};

    explicit zk_ensemble(ensemble_options o = {}) : options_{std::move(o)}, directory_{options_.directory} {
        if (directory_.empty()) {
            auto name = (std::filesystem::temp_directory_path() / "elasticjob-ensemble-XXXXXX").string();
            if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error{"zk_ensemble: mkdtemp"};
            directory_ = name;
        }
        try {
            // Another process may take a port before its server does: then retry with other ports.
            for (int attempts_left = 3; !try_start(); --attempts_left)
                if (attempts_left == 1) throw std::runtime_error{"zk_ensemble: it did not start\n" + logs()};
        } catch (...) {
            discard();
            throw;
        }
    }
    zk_ensemble(zk_ensemble const&) = delete;
    zk_ensemble& operator=(zk_ensemble const&) = delete;
    ~zk_ensemble() { discard(); }

    /// The address of server 1, 2 or 3.
    std::string endpoint(int server) const { return "127.0.0.1:" + std::to_string(at(server).client_port); }

    std::uint16_t port(int server) const { return at(server).client_port; }

    /// The addresses of all three, for a client to choose from.
    std::string endpoints() const { return endpoint(1) + "," + endpoint(2) + "," + endpoint(3); }

    /// The number of the current leader; 0: none.
    int leader() const {
        for (int n = 1; n <= 3; ++n)
            if (mode(n) == "leader") return n;
        return 0;
    }
    /// Ends a server's process at once.
    void kill(int server) { stop(at(server)); }
    /// Restarts it with its old data once the others have a leader, and returns when it follows that leader.
    void start(int server) {
        for (auto const deadline = clock::now() + std::chrono::seconds{20}; leader() == 0;) {
            if (clock::now() >= deadline) throw std::runtime_error{"zk_ensemble: nobody leads\n" + logs()};
            ::poll(nullptr, 0, 20); // as below
        }
        spawn(server);
        if (!becomes(server, "follower")) throw std::runtime_error{"zk_ensemble: no leader to follow\n" + logs()};
    }

    /// The same, without waiting for it.
    void start_soon(int server) { spawn(server); }
    /// Whether its process runs.
    bool is_running(int server) {
        auto& m = at(server);
        if (m.pid != 0 && ::waitpid(m.pid, nullptr, WNOHANG) == m.pid) m.pid = 0;
        return m.pid != 0;
    }
    /// Whether it has reported since its start that it cannot write its log.
    bool has_failed(int server) const {
        std::ifstream file{log_of(server)};
        file.seekg(at(server).log_begin);
        std::string const text{std::istreambuf_iterator<char>{file}, {}};
        return text.find("Severe unrecoverable error") != text.npos;
    }
    /// Whether all three run, under one leader.
    bool is_whole() const {
        int leaders = 0, followers = 0;
        for (int n = 1; n <= 3; ++n) {
            auto const is = mode(n);
            leaders += is == "leader";
            followers += is == "follower";
        }
        return leaders == 1 && followers == 2;
    }

    /// From now on no bytes pass between a server and the others, and no connection breaks. Without `has_all_wires`,
    /// only the first can be cut off.
    void cut_off(int server) {
        for (auto& w : wires_)
            if (w.joins(server)) {
                w.proxy->set_requests(wire::held);
                w.proxy->set_replies(wire::held);
            }
    }
    /// Drops the held bytes; the server finds its leader again.
    void join(int server) {
        for (auto& w : wires_)
            if (w.joins(server)) w.proxy->cut_and_repair();
    }
    /// Delays the traffic between a server and the others by this much.
    void slow_down(int server, std::chrono::milliseconds delay) {
        for (auto& w : wires_)
            if (w.joins(server)) w.proxy->set_delay(delay);
    }
    /// Freezes or resumes a server.
    void pause(int server) { ::kill(at(server).pid, SIGSTOP); }
    void resume(int server) { ::kill(at(server).pid, SIGCONT); }

    /// Its own report: `leader`, `follower`, or empty.
    std::string mode(int server) const { return status(server, "Mode: "); }

    /// The id of the last transaction that a server has committed; empty if it does not serve.
    std::string last_commit(int server) const { return status(server, "Zxid: "); }

    /// The last output of the servers.
    std::string logs() const {
        std::string all;
        for (int n = 1; n <= 3; ++n) {
            std::ifstream file{log_of(n)};
            std::string const text{std::istreambuf_iterator<char>{file}, {}};
            all += "server " + std::to_string(n) + ":\n" +
                   text.substr(text.size() - std::min<std::size_t>(text.size(), 1500));
        }
        return all;
    }

private:
    using clock = std::chrono::steady_clock;

    struct member {
        std::uint16_t client_port = 0, quorum_port = 0, election_port = 0;
        ::pid_t pid = 0;
        std::streamoff log_begin = 0; ///< of the present process
    };

    member& at(int server) { return members_[static_cast<std::size_t>(server - 1)]; }
    member const& at(int server) const { return members_[static_cast<std::size_t>(server - 1)]; }

    std::filesystem::path log_of(int server) const { return directory_ / std::to_string(server) / "server.log"; }

    /// A field of its report; empty if it does not serve.
    std::string status(int server, std::string_view name) const {
        auto const answer = ask(at(server).client_port, "srvr");
        auto const line = answer.find(name);
        if (line == answer.npos) return {};
        auto const begin = line + name.size();
        return answer.substr(begin, answer.find('\n', begin) - begin);
    }

    bool try_start() {
        stop_all();
        choose_ports();
        wires_.clear();
        for (int from = 1; from <= (options_.has_all_wires ? 3 : 1); ++from)
            for (int to = 1; to <= 3; ++to) {
                if (to == from) continue;
                add_wire(from, to, at(to).quorum_port);
                if (options_.has_all_wires) add_wire(from, to, at(to).election_port);
            }
        for (int n = 1; n <= 3; ++n) write_config(n);
        spawn(2);
        spawn(3);
        if (!becomes(3, "leader")) return false;
        spawn(1);
        return becomes(1, "follower") && becomes(2, "follower");
    }

    bool becomes(int server, std::string_view wanted) {
        for (auto const deadline = clock::now() + std::chrono::seconds{10}; clock::now() < deadline;) {
            for (auto& m : members_) {
                if (m.pid == 0 || ::waitpid(m.pid, nullptr, WNOHANG) != m.pid) continue;
                m.pid = 0;
                return false;
            }
            if (mode(server) == wanted) return true;
            ::poll(nullptr, 0, 20); // there is nothing to wait for but the port
        }
        return false;
    }

    void choose_ports() {
        std::vector<int> sockets; // all at once, so that they differ
        for (auto& m : members_) {
            for (auto* port : {&m.client_port, &m.quorum_port, &m.election_port}) {
                int const s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
                auto address = loopback(0);
                socklen_t size = sizeof address;
                if (s < 0 || ::bind(s, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
                    ::getsockname(s, reinterpret_cast<sockaddr*>(&address), &size) != 0)
                    throw std::runtime_error{"zk_ensemble: no free port"};
                *port = ntohs(address.sin_port);
                sockets.push_back(s);
            }
        }
        for (int const s : sockets) ::close(s);
    }

    void write_config(int self) const {
        auto const home = directory_ / std::to_string(self);
        std::filesystem::remove_all(home);
        auto const data = self == 3 && !options_.third_data.empty() ? options_.third_data : home / "data";
        std::filesystem::create_directories(home);
        std::filesystem::create_directories(data);
        for (auto const& old : std::filesystem::directory_iterator{data}) std::filesystem::remove_all(old);
        std::ofstream{data / "myid"} << self << '\n';
        std::ofstream config{home / "zoo.cfg"};
        config << "dataDir=" << data.string() << '\n'
               << "clientPortAddress=127.0.0.1\n"
               << "clientPort=" << at(self).client_port << '\n'
               << "tickTime=" << tick.count() << '\n'
               << "initLimit=8\n"
               << "syncLimit=" << options_.sync_limit << '\n'
               << "minSessionTimeout=1000\n"
               << "maxSessionTimeout=60000\n"
               << "maxClientCnxns=0\n"
               << "admin.enableServer=false\n"
               << "standaloneEnabled=false\n"
               << "autopurge.purgeInterval=1\n"
               << "4lw.commands.whitelist=*\n";
        for (int n = 1; n <= 3; ++n) {
            config << "server." << n << "=127.0.0.1:" << port_seen_by(self, at(n).quorum_port) << ':'
                   << port_seen_by(self, at(n).election_port) << ":participant\n";
        }
    }

    /// From one server to a port of another.
    struct server_wire {
        int from, to;
        std::uint16_t target;
        std::unique_ptr<tcp_proxy> proxy;
        bool joins(int server) const { return from == server || to == server; }
    };
    void add_wire(int from, int to, std::uint16_t port) {
        wires_.push_back({from, to, port, std::make_unique<tcp_proxy>(port, std::chrono::seconds{2})});
    }
    std::uint16_t port_seen_by(int self, std::uint16_t port) const {
        for (auto const& w : wires_)
            if (w.from == self && w.target == port) return w.proxy->port();
        return port;
    }

    static std::string java() {
        if (char const* home = std::getenv("JAVA_HOME")) return std::string{home} + "/bin/java";
        return "java";
    }
    static std::string classpath() {
        if (char const* given = std::getenv("ZOOKEEPER_CLASSPATH")) return given;
        return "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar";
    }

    void spawn(int server) {
        auto const home = directory_ / std::to_string(server);
        std::vector<std::string> command{java(),
                                         "-Xms16m",
                                         "-Xmx128m",
                                         "-Xss512k",
                                         "-XX:+UseSerialGC",
                                         "-XX:TieredStopAtLevel=1",
                                         "-XX:-UsePerfData",
                                         "-Dzookeeper.jmx.log4j.disable=true",
                                         "-Dzookeeper.forceSync=no",
                                         "-Dzookeeper.preAllocSize=4096", // kilobytes
                                         "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                                         "-cp",
                                         classpath(),
                                         "org.apache.zookeeper.server.quorum.QuorumPeerMain",
                                         (home / "zoo.cfg").string()};
        std::vector<char*> arguments;
        for (auto& a : command) arguments.push_back(a.data());
        arguments.push_back(nullptr);
        int const output = ::open(log_of(server).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        at(server).log_begin = ::lseek(output, 0, SEEK_END);
        int const input = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
        auto const parent = ::getpid();
        auto const child = ::fork();
        if (child == 0) {
            // Only async-signal-safe calls: other threads may have held any lock.
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (::getppid() != parent) ::_exit(127);
            ::dup2(input, 0);
            ::dup2(output, 1);
            ::dup2(output, 2);
            ::close_range(3, ~0U, 0);
            sigset_t none;
            ::sigemptyset(&none);
            ::sigprocmask(SIG_SETMASK, &none, nullptr);
            ::execvp(arguments[0], arguments.data());
            ::_exit(127);
        }
        ::close(output);
        ::close(input);
        if (child < 0) throw std::runtime_error{"zk_ensemble: fork"};
        at(server).pid = child;
    }

    static sockaddr_in loopback(std::uint16_t port) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return address;
    }

    /// A four letter word; empty when there is no answer soon.
    static std::string ask(std::uint16_t port, std::string_view word) {
        int const s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        auto const address = loopback(port);
        std::string answer;
        if (::connect(s, reinterpret_cast<sockaddr const*>(&address), sizeof address) == 0 &&
            ::send(s, word.data(), word.size(), MSG_NOSIGNAL) > 0) {
            char buffer[4096];
            for (pollfd readable{s, POLLIN, 0}; ::poll(&readable, 1, 300) == 1;) {
                auto const size = ::recv(s, buffer, sizeof buffer, 0);
                if (size <= 0) break;
                answer.append(buffer, static_cast<std::size_t>(size));
            }
        }
        ::close(s);
        return answer;
    }

    static void stop(member& m) {
        if (m.pid == 0) return;
        ::kill(m.pid, SIGKILL);
        while (::waitpid(m.pid, nullptr, 0) < 0 && errno == EINTR) {
        }
        m.pid = 0;
    }
    void stop_all() {
        for (auto& m : members_) stop(m); // their data is thrown away
    }
    void discard() noexcept {
        stop_all();
        wires_.clear();
        std::error_code ignored;
        if (options_.directory.empty()) std::filesystem::remove_all(directory_, ignored);
    }

    ensemble_options options_;
    std::filesystem::path directory_;
    std::array<member, 3> members_;
    std::vector<server_wire> wires_;
};

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_INTEGRATION_ENSEMBLE_LAB_HPP
