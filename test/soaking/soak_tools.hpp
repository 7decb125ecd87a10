// SPDX-License-Identifier: Apache-2.0
/// \file \brief A soak's tools besides processes: a clock that jumps, a full disk, and a thread for commands.
#ifndef ELASTICJOB_TEST_SOAKING_SOAK_TOOLS_HPP
#define ELASTICJOB_TEST_SOAKING_SOAK_TOOLS_HPP

#include <support/places.hpp>

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace elasticjob::test {

/// A failure that makes the soak, or its servers, impossible.
struct no_soak : std::runtime_error {
    explicit no_soak(std::string const& why, int code = 3) : std::runtime_error{why}, exit_code{code} {}
    int exit_code;
};

/// The wall clock of one worker: see stepped_clock.cpp.
class clock_offset {
public:
    explicit clock_offset(std::filesystem::path path) : path_{std::move(path)} {
        int const file = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (file < 0 || ::ftruncate(file, sizeof(std::int64_t)) != 0) throw no_soak{"cannot write " + path_.string()};
        void* const mapped = ::mmap(nullptr, sizeof(std::int64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        ::close(file);
        if (mapped == MAP_FAILED) throw no_soak{"cannot map " + path_.string()};
        value_ = static_cast<std::atomic<std::int64_t>*>(mapped);
        set({});
    }
    clock_offset(clock_offset const&) = delete;
    clock_offset& operator=(clock_offset const&) = delete;
    ~clock_offset() { ::munmap(value_, sizeof(std::int64_t)); }

    void set(std::chrono::milliseconds by) { value_->store(by.count()); }
    std::vector<std::string> variables() const {
        return {"LD_PRELOAD=" + built_path("libsoak_stepped_clock.so"), "ELASTICJOB_CLOCK_OFFSET=" + path_.string()};
    }

private:
    std::filesystem::path path_;
    std::atomic<std::int64_t>* value_;
};

/// A file system of some megabytes that only this process and its children see. Construct it while there is one thread.
class small_disk {
public:
    static constexpr int size_mb = 256;

    explicit small_disk(std::filesystem::path where) : where_{std::move(where)} {
        std::filesystem::create_directories(where_);
        auto const size = "size=" + std::to_string(size_mb) + "m";
        is_there_ = (::unshare(CLONE_NEWNS) == 0 || enter_namespace_of_user()) &&
                    ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                    ::mount("tmpfs", where_.c_str(), "tmpfs", 0, size.c_str()) == 0;
        if (!is_there_)
            std::cout << "skipped: fill_disk, because no file system can be mounted here: "
                      << std::generic_category().message(errno) << std::endl;
    }
    explicit operator bool() const noexcept { return is_there_; }
    std::filesystem::path data() const { return is_there_ ? where_ / "data" : std::filesystem::path{}; }

    void fill() const {
        int const file = ::open(filler().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        std::string const block(1 << 20, '\0');
        for (int mb = 0; mb<2 * size_mb&& ::write(file, block.data(), block.size())> 0;) ++mb;
        ::close(file);
    }
    void free() const {
        std::error_code ignored;
        std::filesystem::remove(filler(), ignored);
    }

private:
    /// In it, who is not root may mount.
    static bool enter_namespace_of_user() {
        auto const user = std::to_string(::getuid()), group = std::to_string(::getgid());
        if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
        std::ofstream{"/proc/self/setgroups"} << "deny";
        std::ofstream{"/proc/self/uid_map"} << user << ' ' << user << " 1";
        std::ofstream{"/proc/self/gid_map"} << group << ' ' << group << " 1";
        return true;
    }

    std::filesystem::path filler() const { return where_ / "filler"; }
    std::filesystem::path where_;
    bool is_there_ = false;
};

/// Carries out one command after the other, on its own thread, because a command waits while the servers are away.
/// Threads: any.
class command_thread {
public:
    static constexpr std::size_t waiting_max = 8;

    command_thread() : thread_{[this] { work(); }} {}
    command_thread(command_thread const&) = delete;
    command_thread& operator=(command_thread const&) = delete;
    ~command_thread() {
        {
            std::lock_guard const lock{mutex_};
            is_closing_ = true;
        }
        changed_.notify_all();
        thread_.join();
    }

    /// False if too many wait already.
    bool try_post(std::function<void()> f) {
        std::lock_guard const lock{mutex_};
        if (waiting_.size() >= waiting_max) return false;
        waiting_.push_back(std::move(f));
        changed_.notify_all();
        return true;
    }
    bool is_idle() {
        std::lock_guard const lock{mutex_};
        return waiting_.empty() && !is_working_;
    }

private:
    void work() {
        std::unique_lock lock{mutex_};
        for (;;) {
            changed_.wait(lock, [this] { return is_closing_ || !waiting_.empty(); });
            if (is_closing_) return;
            auto const f = std::move(waiting_.front());
            waiting_.pop_front();
            is_working_ = true;
            lock.unlock();
            f();
            lock.lock();
            is_working_ = false;
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> waiting_;
    bool is_working_ = false, is_closing_ = false;
    std::thread thread_;
};

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SOAKING_SOAK_TOOLS_HPP
