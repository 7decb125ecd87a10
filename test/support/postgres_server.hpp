// SPDX-License-Identifier: Apache-2.0
/// \file \brief A PostgreSQL server for one test, on a Unix socket in a directory of its own.
#ifndef ELASTICJOB_TEST_SUPPORT_POSTGRES_SERVER_HPP
#define ELASTICJOB_TEST_SUPPORT_POSTGRES_SERVER_HPP

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace elasticjob::test {

/// The server refuses to run as root, so root starts it as user postgres. It ends with the test.
class postgres_server {
public:
    /// The directory of its programs; empty if it is not installed.
    static std::string find_programs() {
        std::vector<std::string> found;
        std::error_code ignored;
        for (auto const& version : std::filesystem::directory_iterator{"/usr/lib/postgresql", ignored})
            if (std::filesystem::exists(version.path() / "bin/initdb")) found.push_back(version.path() / "bin/");
        if (found.empty() || (geteuid() == 0 && getpwnam("postgres") == nullptr)) return {};
        return *std::max_element(found.begin(), found.end());
    }

    /// Creates an empty database without starting it. Precondition: the server is installed.
    postgres_server() {
        char name[] = "/tmp/elasticjob-pg-XXXXXX";
        directory_ = mkdtemp(name);
        if (geteuid() == 0) {
            auto const* who = getpwnam("postgres");
            (void)!chown(name, who->pw_uid, who->pw_gid);
        }
        is_made_ = wait_for(spawn({"initdb", "-D", directory_ + "/data", "-A", "trust", "-U", "jobs", "-N", "-E",
                                   "UTF8", "--locale=C.UTF-8"})) == 0;
    }
    ~postgres_server() {
        stop();
        std::filesystem::remove_all(directory_);
    }
    postgres_server(postgres_server const&) = delete;

    /// False if it does not answer within half a minute.
    bool start() {
        if (!is_made_) return false;
        server_ = spawn({"postgres", "-D", directory_ + "/data", "-c", "listen_addresses=", "-k", directory_, "-c",
                         "fsync=off", "-c", "max_connections=20", "-c", "shared_buffers=8MB"});
        auto const deadline = std::chrono::steady_clock::now() + std::chrono::seconds{30};
        while (std::chrono::steady_clock::now() < deadline)
            if (wait_for(spawn({"pg_isready", "-q", "-t", "1", "-h", directory_})) == 0) return true;
        return false;
    }
    void stop() {
        if (server_ <= 0) return;
        kill(server_, SIGQUIT); // at once, connections or not
        (void)wait_for(std::exchange(server_, -1));
    }
    std::string connection() const { return "host=" + directory_ + " dbname=postgres user=jobs"; }

private:
    pid_t spawn(std::vector<std::string> command) const {
        command[0].insert(0, find_programs());
        std::vector<std::string> all;
        if (geteuid() == 0)
            all = {"setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--pdeathsig=KILL"};
        all.insert(all.end(), command.begin(), command.end());
        std::vector<char*> arguments;
        for (auto& a : all) arguments.push_back(a.data());
        arguments.push_back(nullptr);
        pid_t const child = fork();
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            (void)!chdir("/");
            int const log = open((directory_ + "/log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
            dup2(log, 1);
            dup2(log, 2);
            execvp(arguments[0], arguments.data());
            _exit(127);
        }
        return child;
    }
    static int wait_for(pid_t child) {
        int status = -1;
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

    std::string directory_;
    bool is_made_ = false;
    pid_t server_ = -1;
};

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SUPPORT_POSTGRES_SERVER_HPP
