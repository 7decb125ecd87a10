// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/core/standard_error.hpp>

#include <support/standard_error.hpp>

#include <doctest/doctest.h>

#include <string>

#include <signal.h>
#include <sys/wait.h>

using namespace elasticjob::test;
using elasticjob::detail::tell_standard_error;

namespace {

/// How a process ended in which standard error is the end of a pipe or socket without a reader.
template <class Make>
int status_without_reader(Make make_ends) {
    auto const process = ::fork();
    REQUIRE(process >= 0);
    if (process == 0) {
        ::signal(SIGPIPE, SIG_DFL);
        int ends[2];
        if (make_ends(ends) != 0) ::_exit(1);
        ::dup2(ends[1], STDERR_FILENO);
        for (int const end : ends) ::close(end);
        for (int n = 0; n < 3; ++n) tell_standard_error(std::string{"nobody reads this"});
        ::_exit(SIG_DFL == ::signal(SIGPIPE, SIG_DFL) ? 0 : 2);
    }
    int status = -1;
    REQUIRE(::waitpid(process, &status, 0) == process);
    return status;
}

} // namespace

TEST_CASE("core.standard_error: a reader that has gone does not end the process") {
    CHECK(status_without_reader([](int* ends) { return ::pipe(ends); }) == 0);
    CHECK(status_without_reader([](int* ends) { return ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends); }) == 0);
}

TEST_CASE("core.standard_error: SIGPIPE stays pending if it was before") {
    sigset_t sigpipe, before, pending;
    ::sigemptyset(&sigpipe);
    ::sigaddset(&sigpipe, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &sigpipe, &before);
    ::raise(SIGPIPE);
    (void)written_by([] { tell_standard_error(std::string{"a line"}); });
    ::sigpending(&pending);
    CHECK(::sigismember(&pending, SIGPIPE) == 1);
    timespec const at_once{};
    CHECK(::sigtimedwait(&sigpipe, nullptr, &at_once) == SIGPIPE);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST_CASE("core.standard_error: a line that was accepted in part is closed, counted, and spoils no other line") {
    std::string part, next, last;
    {
        unread_stream unread{STDERR_FILENO};
        (void)unread.read_all(); // now there is room
        tell_standard_error(std::string(1'000'000, 'x'));
        part = unread.read_all();
        tell_standard_error(std::string{"next"});
        next = unread.read_all();
        tell_standard_error(std::string{"last"});
        last = unread.read_all();
    }
    CHECK_FALSE(part.empty());
    CHECK(part == std::string(part.size(), 'x'));
    CHECK(next == "\nelasticjob: lines missing here, because nobody read in time: 1\nnext\n");
    CHECK(last == "last\n");
}
