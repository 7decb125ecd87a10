// SPDX-License-Identifier: Apache-2.0
/// \file \brief Runs scripts without a scheduler, and detects the end of a run's last process.
#ifndef ELASTICJOB_TEST_SUPPORT_SCRIPT_WORLD_HPP
#define ELASTICJOB_TEST_SUPPORT_SCRIPT_WORLD_HPP

#include <elasticjob/execution/script_executor.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace elasticjob::test {

/// A directory for scripts, removed with this object.
class script_directory {
public:
    script_directory() {
        char name[] = "/tmp/elasticjob_script_XXXXXX";
        REQUIRE(::mkdtemp(name) != nullptr);
        path_ = name;
    }
    script_directory(script_directory const&) = delete;
    script_directory& operator=(script_directory const&) = delete;
    ~script_directory() {
        for (auto const& f : files_) ::unlink(f.c_str());
        ::rmdir(path_.c_str());
    }

    std::string const& path() const { return path_; }

    std::string file(std::string const& name, std::string const& text, mode_t mode = 0700) {
        files_.push_back(path_ + "/" + name);
        std::ofstream{files_.back()} << text;
        REQUIRE(::chmod(files_.back().c_str(), mode) == 0);
        return files_.back();
    }
    std::string fifo(std::string const& name) {
        files_.push_back(path_ + "/" + name);
        REQUIRE(::mkfifo(files_.back().c_str(), 0600) == 0);
        return files_.back();
    }

private:
    std::string path_;
    std::vector<std::string> files_;
};

/// A named pipe that the processes of a run open for writing, as in `exec 9>$LIFE`.
class life_sign {
public:
    explicit life_sign(script_directory& d)
        : path_{d.fifo("life")},
          read_{::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)} {}

    std::string const& path() const { return path_; }

    /// Whether all processes that have opened the pipe end within ten seconds. Precondition: a process has opened it.
    bool all_are_gone() const {
        pollfd p{.fd = read_.get(), .events = POLLIN, .revents = 0};
        return ::poll(&p, 1, 10'000) == 1 && (p.revents & POLLHUP) != 0;
    }
    /// Whether a process writes this text within half a minute. Precondition: all earlier text has been read.
    bool says(std::string const& what) const {
        pollfd p{.fd = read_.get(), .events = POLLIN, .revents = 0};
        std::string heard(what.size(), ' ');
        return ::poll(&p, 1, 30'000) == 1 && ::read(read_.get(), heard.data(), heard.size()) > 0 && heard == what;
    }
    /// Whether a process has opened the pipe now.
    bool somebody_lives() const {
        pollfd p{.fd = read_.get(), .events = POLLIN, .revents = 0};
        return ::poll(&p, 1, 0) == 0;
    }

private:
    std::string path_;
    detail::descriptor read_;
};

/// A run of item 3 of the job `report`, and its outcome.
struct hand_made_run {
    job_config config;
    detail::stop_order order;
    detail::run_port port{order, [](detail::run_port&, std::string) -> result<void> { return success(); }};
    sharding_context ctx;
    std::vector<std::string> out, err;
    std::size_t dropped = 0;

    explicit hand_made_run(std::string command_line) {
        config.name = "report";
        config.script_command_line = std::move(command_line);
        ctx.job_name = "report";
        ctx.task_id = "fake_task_id";
        ctx.sharding_total_count = 4;
        ctx.item = 3;
        ctx.parameter = "D";
        ctx.config = &config;
        ctx.stop = order.token();
        ctx.port = &port;
    }
    hand_made_run(hand_made_run const&) = delete;
    hand_made_run& operator=(hand_made_run const&) = delete;

    template <class OnLine>
    result<void> with(script_options options, OnLine on_line) {
        script body{std::move(options), [&](script_line const& line) {
                        (line.stream == script_stream::out ? out : err).emplace_back(line.text);
                        dropped += line.dropped;
                        on_line(line);
                    }};
        return ScriptExecutor{}(body, ctx);
    }
    result<void> with(script_options options = {}) {
        return with(std::move(options), [](script_line const&) {});
    }
};

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SUPPORT_SCRIPT_WORLD_HPP
