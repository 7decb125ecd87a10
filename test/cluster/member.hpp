// SPDX-License-Identifier: Apache-2.0
/// \file \brief `member`: one worker process of a test, which reads its lines and which it does not outlive.
#ifndef ELASTICJOB_TEST_CLUSTER_MEMBER_HPP
#define ELASTICJOB_TEST_CLUSTER_MEMBER_HPP

#include <support/places.hpp>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace elasticjob::test {

/// A worker's output: see worker.cpp.
struct line {
    std::int64_t at_us; ///< steady clock, which is the same for all processes
    std::string job, verb;
    std::vector<std::string> words;
    std::string text;

    unsigned item() const { return static_cast<unsigned>(std::stoul(words.at(0))); }
    std::int64_t due_ms() const { return std::stoll(words.at(1)); }
    std::int64_t token() const { return std::stoll(words.at(verb == "fenced" ? 2 : 3)); } ///< of runs, ran, fenced
    unsigned attempt() const { return static_cast<unsigned>(std::stoul(words.at(4))); }   ///< of runs
};

/// How a member's process differs from the others'.
struct member_options {
    std::string program = built_path("cluster_worker");
    std::vector<std::string> under{};     ///< a program that runs it, with its arguments
    std::vector<std::string> variables{}; ///< of its environment, besides those of the test: `NAME=value`
    std::string errors{};                 ///< the file to which its standard error is added; empty: that of the test
};

/// Threads: one; the one that starts it must outlive it, for the kernel kills the process with it.
class member {
public:
    member(std::string name, std::vector<std::string> arguments, member_options const& o = {})
        : name_{std::move(name)} {
        spawn(std::move(arguments), o);
    }
    member(member const&) = delete;
    member& operator=(member const&) = delete;
    ~member() {
        kill();
        for (int const fd : {input_, output_})
            if (fd >= 0) ::close(fd);
    }

    std::string const& name() const noexcept { return name_; }
    pid_t pid() const noexcept { return pid_; }
    int output() const noexcept { return output_; } ///< -1 once it has ended

    std::vector<line> const& lines() const noexcept { return lines_; }

    /// Moves the lines out and keeps none.
    std::vector<line> take_lines() { return std::exchange(lines_, {}); }

    std::vector<line> all(std::string_view verb, std::string_view job = {}) const {
        std::vector<line> found;
        for (auto const& l : lines_)
            if (l.verb == verb && (job.empty() || l.job == job)) found.push_back(l);
        return found;
    }
    std::size_t count(std::string_view verb) const { return all(verb).size(); }
    bool has(std::string_view verb) const { return count(verb) != 0; }

    /// The id in its only job, from its last `joined`. Precondition: it has joined.
    std::string id() const { return all("joined").back().words.at(0); }
    std::int64_t session() const { return std::stoll(all("joined").back().words.at(1), nullptr, 16); }

    /// The items of its last `owns`.
    std::vector<unsigned> share(std::string_view job = {}) const {
        std::vector<unsigned> items;
        auto const owns = all("owns", job);
        if (!owns.empty())
            for (auto const& w : owns.back().words) items.push_back(static_cast<unsigned>(std::stoul(w)));
        return items;
    }
    bool leads() const {
        auto const last = std::find_if(lines_.rbegin(), lines_.rend(),
                                       [](line const& l) { return l.verb == "leads" || l.verb == "leads-not"; });
        return last != lines_.rend() && last->verb == "leads";
    }

    void terminate() { send(SIGTERM); }
    void freeze() { send(SIGSTOP); }
    void thaw() { send(SIGCONT); }
    void close_input() { ::close(std::exchange(input_, -1)); }

    /// Sets the duration of bodies; the worker confirms it with `takes`.
    void set_body(std::chrono::milliseconds span) { tell(std::to_string(span.count())); }

    /// Writes one line to its standard input.
    void tell(std::string line) {
        auto const text = std::move(line) + "\n";
        if (::write(input_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
            throw std::runtime_error{"member: " + name_ + " does not listen"};
    }

    /// Kills it, if it still runs.
    void kill() {
        if (pid_ == 0) return;
        ::kill(pid_, SIGKILL);
        while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
        }
        pid_ = 0;
        was_killed_ = true;
    }

    /// From now on, it may end in any way.
    void expect_death() { was_killed_ = true; }

    /// Whether it has ended in a way that no worker should; a refusal is 1.
    bool has_crashed() { return has_ended() && !was_killed_ && exit_code_ != 0 && exit_code_ != 1; }

    /// Whether it has ended; `exit_code` has the status.
    bool has_ended() {
        if (pid_ == 0) return true;
        int status = 0;
        if (::waitpid(pid_, &status, WNOHANG) != pid_) return false;
        pid_ = 0;
        exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        ended_by_ = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        return true;
    }
    int exit_code() const noexcept { return exit_code_; } ///< -1 unless it has ended by itself
    std::string how_it_ended() const {
        return ended_by_ != 0 ? "signal " + std::to_string(ended_by_) : "exit code " + std::to_string(exit_code_);
    }

    /// Reads its output. Precondition: there is something to read.
    void read() {
        char buffer[65'536];
        auto const n = ::read(output_, buffer, sizeof buffer);
        if (n <= 0) {
            if (n < 0 && errno == EINTR) return;
            ::close(std::exchange(output_, -1));
            return;
        }
        rest_.append(buffer, static_cast<std::size_t>(n));
        for (auto end = rest_.find('\n'); end != rest_.npos; end = rest_.find('\n')) {
            take(rest_.substr(0, end));
            rest_.erase(0, end + 1);
        }
    }

private:
    void send(int signal) {
        if (pid_ == 0 || ::kill(pid_, signal) != 0) throw std::logic_error{"member: " + name_ + " has ended"};
    }

    void take(std::string text) {
        line l{};
        std::istringstream in{text};
        in >> l.at_us >> l.job >> l.verb;
        for (std::string w; in >> w;) l.words.push_back(w);
        l.text = std::move(text);
        lines_.push_back(std::move(l));
    }

    void spawn(std::vector<std::string> arguments, member_options const& o) {
        arguments.insert(arguments.begin(), o.program);
        arguments.insert(arguments.begin(), o.under.begin(), o.under.end());
        std::vector<char*> words;
        for (auto& a : arguments) words.push_back(a.data());
        words.push_back(nullptr);
        auto variables = o.variables;
        std::vector<char*> environment;
        for (auto& v : variables) environment.push_back(v.data());
        for (char** v = environ; *v != nullptr; ++v) environment.push_back(*v);
        environment.push_back(nullptr);
        int const errors =
            o.errors.empty() ? -1 : ::open(o.errors.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        int in[2], out[2];
        if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0)
            throw std::system_error(errno, std::generic_category(), "member: pipe");
        ::fcntl(out[0], F_SETPIPE_SZ, 1 << 20); // a worker must not block while the test does not read
        auto const parent = ::getpid();
        // The child begins with a blocked SIGTERM, so one that comes before the program waits for it does not end it.
        ::sigset_t term, before;
        ::sigemptyset(&term);
        ::sigaddset(&term, SIGTERM);
        ::pthread_sigmask(SIG_BLOCK, &term, &before);
        pid_ = ::fork();
        if (pid_ != 0) ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
        if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "member: fork");
        if (pid_ == 0) {
            // Between fork and exec only async-signal-safe calls: other threads may have held any lock.
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (::getppid() != parent) ::_exit(127); // the parent died before the line above
            ::dup2(in[0], 0);
            ::dup2(out[1], 1);
            if (errors >= 0) ::dup2(errors, 2);
            ::close_range(3, ~0U, 0);
            ::execvpe(words[0], words.data(), environment.data());
            ::_exit(127);
        }
        ::close(in[0]);
        ::close(out[1]);
        if (errors >= 0) ::close(errors);
        input_ = in[1];
        output_ = out[0];
    }

    std::string name_;
    pid_t pid_ = 0; ///< 0: ended
    int exit_code_ = -1;
    int ended_by_ = 0;        ///< a signal
    bool was_killed_ = false; ///< by us, or as we wanted
    int input_ = -1, output_ = -1;
    std::string rest_;
    std::vector<line> lines_;
};

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_CLUSTER_MEMBER_HPP
