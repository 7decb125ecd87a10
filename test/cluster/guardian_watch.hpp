// SPDX-License-Identifier: Apache-2.0
/// \file \brief Inspects guardian processes from outside, through /proc.
#ifndef ELASTICJOB_TEST_CLUSTER_GUARDIAN_WATCH_HPP
#define ELASTICJOB_TEST_CLUSTER_GUARDIAN_WATCH_HPP

#include <cluster/cluster.hpp>

#include <sys/syscall.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace elasticjob::test {

/// The name of a process's program; empty if there is none.
inline std::string command_of(pid_t id) {
    std::ifstream file{"/proc/" + std::to_string(id) + "/comm"};
    std::string name;
    std::getline(file, name);
    return name;
}

/// The guardian of this worker: a process with that name that has a pidfd of the worker.
inline pid_t find_guardian(pid_t worker) {
    for (auto const& process : std::filesystem::directory_iterator{"/proc"}) {
        auto const name = process.path().filename().string();
        if (name.find_first_not_of("0123456789") != name.npos) continue;
        auto const id = static_cast<pid_t>(std::stoi(name));
        if (command_of(id) != "ej-guardian") continue;
        std::ifstream file{process.path() / "fdinfo" / "3"};
        for (std::string word; file >> word;) {
            pid_t of = 0;
            if (word == "Pid:" && file >> of && of == worker) return id;
        }
    }
    throw std::runtime_error{"process " + std::to_string(worker) + " has no guardian"};
}

/// Detects the end of a process that is not our child.
class ended_process {
public:
    explicit ended_process(pid_t id) : watch_{static_cast<int>(::syscall(SYS_pidfd_open, id, 0U))} {
        if (watch_ < 0) throw std::system_error(errno, std::generic_category(), "pidfd_open");
    }
    ended_process(ended_process const&) = delete;
    ended_process& operator=(ended_process const&) = delete;
    ~ended_process() { ::close(watch_); }

    bool within(std::chrono::milliseconds limit) const {
        pollfd end{watch_, POLLIN, 0};
        return ::poll(&end, 1, static_cast<int>(limit.count())) == 1;
    }

private:
    int watch_;
};

inline void kill_and_wait(pid_t id) {
    ended_process const end{id};
    ::kill(id, SIGKILL);
    if (!end.within(20s)) throw std::runtime_error{"a killed process lives on"};
}

/// Whether the first thread of the process has ended.
inline bool is_zombie(pid_t id) {
    std::ifstream file{"/proc/" + std::to_string(id) + "/status"};
    for (std::string word; file >> word;)
        if (word == "State:" && file >> word) return word == "Z";
    return false;
}

inline std::size_t count_descriptors(pid_t id) {
    auto const all = std::filesystem::directory_iterator{"/proc/" + std::to_string(id) + "/fd"};
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

inline pid_t only_child(pid_t parent) {
    auto const id = std::to_string(parent);
    std::ifstream file{"/proc/" + id + "/task/" + id + "/children"};
    pid_t child = 0;
    if (!(file >> child)) throw std::runtime_error{"process " + id + " has no child"};
    return child;
}

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_CLUSTER_GUARDIAN_WATCH_HPP
