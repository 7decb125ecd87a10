// SPDX-License-Identifier: Apache-2.0
/// \file \brief A file descriptor that is closed by its owner; and pairs of them.
#ifndef ELASTICJOB_EXECUTION_DESCRIPTOR_HPP
#define ELASTICJOB_EXECUTION_DESCRIPTOR_HPP

#include <elasticjob/core/result.hpp>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace elasticjob::detail {

/// Every descriptor here is closed by exec, so that no process gets what is not meant for it.
class descriptor {
public:
    descriptor() = default;
    explicit descriptor(int number) noexcept : number_{number} {}
    descriptor(descriptor&& other) noexcept : number_{std::exchange(other.number_, -1)} {}
    descriptor& operator=(descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~descriptor() { close(); }

    void close() noexcept {
        if (number_ >= 0) ::close(std::exchange(number_, -1));
    }

    int get() const noexcept { return number_; }
    explicit operator bool() const noexcept { return number_ >= 0; }

private:
    int number_ = -1;
};

/// `what`, and why the system refused it.
inline error refused(std::string what, int why) {
    return error{errc::job_failed, std::move(what) + ": " + std::generic_category().message(why)};
}

struct pipe_ends {
    descriptor read;
    descriptor write;
};

/// Errors: job_failed, as for all that the system refuses to a run.
inline result<pipe_ends> make_pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return refused("no pipe", errno);
    return pipe_ends{descriptor{ends[0]}, descriptor{ends[1]}};
}

/// Readable from the first `set` on. Threads: any.
class wake_up {
public:
    static result<wake_up> make() {
        descriptor d{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
        if (!d) return refused("no eventfd", errno);
        return wake_up{std::move(d)};
    }
    void set() const noexcept { (void)!::eventfd_write(event_.get(), 1); }
    int get() const noexcept { return event_.get(); }

private:
    explicit wake_up(descriptor d) noexcept : event_{std::move(d)} {}
    descriptor event_;
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_EXECUTION_DESCRIPTOR_HPP
