// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CORE_DESCRIPTOR_IPP
#define ELASTICJOB_IMPL_CORE_DESCRIPTOR_IPP

#include <elasticjob/core/descriptor.hpp>

#include <cstdint>

namespace elasticjob::detail {

ELASTICJOB_DECL descriptor& descriptor::operator=(descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
}

ELASTICJOB_DECL void descriptor::close() noexcept {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
}

ELASTICJOB_DECL error refused(std::string what, int why) {
    return error{errc::job_failed, std::move(what) + ": " + std::generic_category().message(why)};
}

ELASTICJOB_DECL result<pipe_ends> make_pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return refused("no pipe", errno);
    return pipe_ends{descriptor{ends[0]}, descriptor{ends[1]}};
}

ELASTICJOB_DECL result<event_descriptor> event_descriptor::make() {
    descriptor d{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    if (!d) return refused("no eventfd", errno);
    return event_descriptor{std::move(d)};
}

ELASTICJOB_DECL void event_descriptor::set(int number) noexcept {
    std::uint64_t const one = 1; // written by `write`, which signal handlers may call
    (void)!::write(number, &one, sizeof one);
}

ELASTICJOB_DECL void event_descriptor::clear() const noexcept {
    std::uint64_t count = 0;
    (void)!::read(get(), &count, sizeof count); // does not block, and resets the count
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CORE_DESCRIPTOR_IPP
