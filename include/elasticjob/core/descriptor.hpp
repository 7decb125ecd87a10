// SPDX-License-Identifier: Apache-2.0
/// \file \brief Owners of file descriptors, pipes, and an event descriptor.
#ifndef ELASTICJOB_CORE_DESCRIPTOR_HPP
#define ELASTICJOB_CORE_DESCRIPTOR_HPP

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

/// Closes its descriptor. All descriptors here are close-on-exec, so that no child inherits them by mistake.
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

/// An error that names the refused operation `what` and the system's reason.
error refused(std::string what, int why);

struct pipe_ends {
    descriptor read;
    descriptor write;
};

/// Errors: job_failed.
result<pipe_ends> make_pipe();

/// Readable from a `set` up to the next `clear`. Threads: any, and signal handlers.
class event_descriptor {
public:
    static result<event_descriptor> make();
    void set() const noexcept { set(get()); }
    void clear() const noexcept;

    /// The same for a caller that has only the number from `get`.
    static void set(int number) noexcept;
    int get() const noexcept { return event_.get(); }

private:
    explicit event_descriptor(descriptor d) noexcept : event_{std::move(d)} {}
    descriptor event_;
};

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/core/descriptor.ipp>
#endif
#endif // ELASTICJOB_CORE_DESCRIPTOR_HPP
