// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/core/stop_signals.hpp>

#include <doctest/doctest.h>

#include <csignal>
#include <optional>

#include <sys/time.h>

using namespace elasticjob;
using namespace std::chrono_literals;

namespace {

bool is_blocked(int number) {
    ::sigset_t now;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
    return ::sigismember(&now, number) == 1;
}

int others = 0;

} // namespace

TEST_CASE("core.stop_signals: a wait receives a requested signal, which does not end the process") {
    {
        stop_signals const signals;
        CHECK(is_blocked(SIGINT));
        CHECK(is_blocked(SIGTERM));
        CHECK(signals.wait_for(1ms) == std::nullopt);
        std::raise(SIGTERM);
        CHECK(signals.wait() == SIGTERM);
        std::raise(SIGINT);
        CHECK(signals.wait_for(10s) == SIGINT);
        CHECK(signals.wait_for(0ms) == std::nullopt);
    }
    CHECK(!is_blocked(SIGINT));
    CHECK(!is_blocked(SIGTERM));
}

TEST_CASE("core.stop_signals: other signals neither end the wait nor are blocked") {
    auto const before = std::signal(SIGUSR2, [](int) { ++others; });
    stop_signals const signals{SIGUSR1};
    CHECK(!is_blocked(SIGTERM));
    std::raise(SIGUSR2);
    CHECK(others == 1);
    CHECK(signals.wait_for(1ms) == std::nullopt);
    std::raise(SIGUSR1);
    CHECK(signals.wait() == SIGUSR1);
    (void)std::signal(SIGUSR2, before);
}

TEST_CASE("core.stop_signals: two of them may end in any order, and each unblocks its own signals") {
    std::optional<stop_signals> first{std::in_place, std::initializer_list<int>{SIGUSR1}};
    std::optional<stop_signals> second{std::in_place, std::initializer_list<int>{SIGUSR2}};
    first.reset();
    CHECK(!is_blocked(SIGUSR1));
    CHECK(is_blocked(SIGUSR2));
    second.reset();
    CHECK(!is_blocked(SIGUSR2));
}

TEST_CASE("core.stop_signals: the longest wait does not end before a signal") {
    stop_signals const signals{SIGALRM};
    ::itimerval soon{};
    soon.it_value.tv_usec = 20'000;
    REQUIRE(::setitimer(ITIMER_REAL, &soon, nullptr) == 0);
    CHECK(signals.wait_for(std::chrono::milliseconds::max()) == SIGALRM);
}
