// SPDX-License-Identifier: Apache-2.0
/// \file \brief A file descriptor that is closed by its owner; and pairs of them.
#ifndef ELASTICJOB_EXECUTION_DESCRIPTOR_HPP
#define ELASTICJOB_EXECUTION_DESCRIPTOR_HPP

#include <elasticjob/core/decl.hpp>
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
    descriptor& operator=(descriptor&& other) noexcept;
    ~descriptor() { close(); }

    void close() noexcept;

    int get() const noexcept { return number_; }
    explicit operator bool() const noexcept { return number_ >= 0; }

private:
    int number_ = -1;
};

/// `what`, and why the system refused it.
error refused(std::string what, int why);

struct pipe_ends {
    descriptor read;
    descriptor write;
};

/// Errors: job_failed, as for all that the system refuses to a run.
result<pipe_ends> make_pipe();

/// Readable from a `set` up to the next `clear`. Threads: any, and handlers of signals.
class wake_up {
public:
    static result<wake_up> make();
    void set() const noexcept { set(get()); }
    void clear() const noexcept;

    /// For those who keep no more than what `get` returned.
    static void set(int number) noexcept;
    int get() const noexcept { return event_.get(); }

private:
    explicit wake_up(descriptor d) noexcept : event_{std::move(d)} {}
    descriptor event_;
};

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/descriptor.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_DESCRIPTOR_HPP
