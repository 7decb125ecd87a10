// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONSOLE_GUARDED_FILE_IPP
#define ELASTICJOB_IMPL_CONSOLE_GUARDED_FILE_IPP

#include <elasticjob/console/guarded_file.hpp>
#include <elasticjob/core/descriptor.hpp>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace elasticjob::detail {

ELASTICJOB_DECL result<std::string> read_guarded_file(std::string const& file, std::string const& what,
                                                      guarded_against guard) {
    constexpr std::size_t size_max = 1'048'576;
    auto const cannot = [&](std::string const& why) {
        return error{errc::invalid_argument, what + " cannot be read: " + why, file};
    };
    descriptor const f{::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)}; // a pipe must not block
    struct stat about {};
    if (!f || ::fstat(f.get(), &about) != 0) return cannot(std::strerror(errno));
    if (!S_ISREG(about.st_mode)) return cannot("it is no file");
    if (guard == guarded_against::writing && (about.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return cannot("others than its owner may write it: chmod go-w");
    if (guard == guarded_against::reading && (about.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return cannot("others than its owner may read it: chmod 600");
    std::string text;
    std::array<char, 4'096> block;
    for (;;) {
        auto const count = ::read(f.get(), block.data(), block.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return cannot(std::strerror(errno));
        if (count == 0) return text;
        text.append(block.data(), static_cast<std::size_t>(count));
        if (text.size() > size_max) return cannot("it is longer than 1 MiB");
    }
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CONSOLE_GUARDED_FILE_IPP
