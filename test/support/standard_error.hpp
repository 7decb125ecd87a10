// SPDX-License-Identifier: Apache-2.0
/// \file \brief Captures the output of a piece of code on standard error.
#ifndef ELASTICJOB_TEST_SUPPORT_STANDARD_ERROR_HPP
#define ELASTICJOB_TEST_SUPPORT_STANDARD_ERROR_HPP

#include <cstddef>
#include <cstdio>
#include <fcntl.h>
#include <string>
#include <unistd.h> // dup2

namespace elasticjob::test {

/// The output of the call on standard error, up to 4 KiB.
template <class F>
std::string written_by(F f) {
    std::fflush(stderr);
    std::FILE* const file = std::tmpfile();
    int const kept = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    f();
    std::fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    std::rewind(file);
    std::string text(4096, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file));
    std::fclose(file);
    return text;
}

/// During its lifetime, a stream of the process is a full pipe without a reader.
class unread_stream {
public:
    explicit unread_stream(int stream) : stream_{stream} {
        (void)!pipe2(ends_, O_CLOEXEC);
        fcntl(ends_[0], F_SETFL, O_NONBLOCK);
        fcntl(ends_[1], F_SETFL, O_NONBLOCK);
        while (write(ends_[1], ".", 1) == 1) {
        }
        fcntl(ends_[1], F_SETFL, 0);
        std::fflush(nullptr);
        kept_ = dup(stream_);
        dup2(ends_[1], stream_);
    }
    unread_stream(unread_stream const&) = delete;
    ~unread_stream() {
        dup2(kept_, stream_);
        for (int const fd : {kept_, ends_[1]}) close(fd);
        fcntl(ends_[0], F_SETFL, 0);
        (void)read_all(); // until no writer waits for it
        close(ends_[0]);
    }

    /// The contents of the pipe.
    std::string read_all() {
        std::string all;
        char part[4096];
        for (ssize_t n; (n = read(ends_[0], part, sizeof part)) > 0;) all.append(part, static_cast<std::size_t>(n));
        return all;
    }

private:
    int stream_;
    int ends_[2]{};
    int kept_ = -1;
};

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SUPPORT_STANDARD_ERROR_HPP
