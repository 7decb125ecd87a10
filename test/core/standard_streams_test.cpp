// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/core/standard_streams.hpp>

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace elasticjob;

TEST_CASE("core.standard_streams: closed streams are occupied, and open ones stay what they are") {
    auto const child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        int pipe[2];
        if (::pipe(pipe) != 0) ::_exit(1);
        ::dup2(pipe[1], STDOUT_FILENO);
        ::close(STDIN_FILENO);
        ::close(STDERR_FILENO);
        detail::occupy_standard_streams();
        int const next = ::open("/dev/null", O_RDONLY);
        if (next <= STDERR_FILENO) ::_exit(2);
        if (::write(STDERR_FILENO, "x", 1) != 1) ::_exit(3);
        struct stat out {};
        if (::fstat(STDOUT_FILENO, &out) != 0 || !S_ISFIFO(out.st_mode)) ::_exit(4);
        ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
}
