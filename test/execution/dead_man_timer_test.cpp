// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/execution/dead_man_timer.hpp>

#include <elasticjob/core/block_on.hpp>
#include <elasticjob/registry/memory_registry.hpp>

#include <doctest/doctest.h>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <stdexcept>

using namespace elasticjob;
using namespace std::chrono_literals;

namespace {

/// A copy of this process, which has no other threads now, that runs `f(timer)` and then sleeps for good. Dies with the
/// object.
class child {
public:
    template <class F>
    explicit child(F f) : pid_{::fork()} {
        if (pid_ < 0) throw std::runtime_error{"fork"};
        if (pid_ == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            auto timer = DeadManTimer::create();
            if (!timer) ::_exit(2);
            f(*timer);
            for (;;) ::pause();
        }
        watch_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0U));
    }
    child(child const&) = delete;
    child& operator=(child const&) = delete;
    ~child() {
        ::close(watch_);
        if (pid_ == 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }

    /// Whether it stops before it ends, and soon.
    bool stops() {
        int status = 0;
        for (auto const limit = SystemClock{}.now() + 10s; SystemClock{}.now() < limit;) {
            if (::waitpid(pid_, &status, WUNTRACED | WNOHANG) == pid_) {
                if (!WIFSTOPPED(status)) pid_ = 0;
                return WIFSTOPPED(status);
            }
            ::poll(nullptr, 0, 2); // the kernel reports it only on request
        }
        return false;
    }

    /// The signal that ended it, or 0 if it lives on.
    int died_of(std::chrono::milliseconds limit) {
        pollfd ended{watch_, POLLIN, 0};
        if (::poll(&ended, 1, static_cast<int>(limit.count())) != 1) return 0;
        int status = 0;
        REQUIRE(::waitpid(pid_, &status, 0) == pid_);
        pid_ = 0;
        return WIFSIGNALED(status) ? WTERMSIG(status) : -1;
    }

private:
    pid_t pid_;
    int watch_ = -1;
};

mono_time in(std::chrono::milliseconds span) { return SystemClock{}.now() + span; }

} // namespace

TEST_CASE("execution.dead_man_timer: a process that is stopped dies on time") {
    auto const begin = SystemClock{}.now();
    child c{[](DeadManTimer& t) {
        t.until(in(300ms));
        ::raise(SIGSTOP);
    }};
    REQUIRE(c.stops());
    CHECK(c.died_of(10s) == SIGKILL);
    auto const took = SystemClock{}.now() - begin;
    CHECK(took >= 300ms);
    CHECK(took < 2s);
}

TEST_CASE("execution.dead_man_timer: only the last deadline counts, whichever way it was moved") {
    child earlier{[](DeadManTimer& t) {
        t.until(in(1h));
        t.until(in(100ms));
    }};
    child later{[](DeadManTimer& t) {
        t.until(in(100ms));
        t.until(in(1h));
    }};
    CHECK(earlier.died_of(10s) == SIGKILL);
    CHECK(later.died_of(300ms) == 0);
}

TEST_CASE("execution.dead_man_timer: a deadline that has passed kills at once") {
    child c{[](DeadManTimer& t) { t.until(in(-1ms)); }};
    CHECK(c.died_of(10s) == SIGKILL);
    child long_past{[](DeadManTimer& t) { t.until(mono_time{}); }};
    CHECK(long_past.died_of(10s) == SIGKILL);
}

TEST_CASE("execution.dead_man_timer: nothing happens before it is armed, once it is disarmed, or when it is gone") {
    child unarmed{[](DeadManTimer&) {}};
    child disarmed{[](DeadManTimer& t) {
        t.until(in(100ms));
        t.disarm();
    }};
    child gone{[](DeadManTimer& t) {
        t.until(in(100ms));
        auto const other = std::move(t);
    }};
    CHECK(unarmed.died_of(300ms) == 0);
    CHECK(disarmed.died_of(1ms) == 0);
    CHECK(gone.died_of(1ms) == 0);
}

TEST_CASE("execution.dead_man_timer: it may be moved while it is armed") {
    child c{[](DeadManTimer& t) {
        t.until(in(100ms));
        static auto other = std::move(t);
    }};
    CHECK(c.died_of(10s) == SIGKILL);
}

namespace {

/// Holds a lease until behind the deadline that it had at the beginning; then stops.
task<result<void>> hold_and_stop(MemoryRegistry& r, DeadManTimer timer, bool lets_go) {
    auto const me = node_path::parse("/me").value();
    ELASTICJOB_CO_CHECK(co_await r.create(me, {}, create_mode::ephemeral));
    session_lease<MemoryRegistry, DeadManTimer> lease{r, std::move(timer)};
    {
        auto const hold = lease.keep(r.session().generation, me, r.loop().now());
        auto const due = r.loop().now() + r.session().timeout * 45 / 100;
        co_await sleep_until(r.loop(), due);
        if (!lets_go) ::raise(SIGSTOP);
    }
    ::raise(SIGSTOP);
    co_return success();
}

auto holder(bool lets_go) {
    return [lets_go](DeadManTimer& t) {
        event_loop loop;
        basic_memory_server<event_loop> server{loop, {.session_timeout = 2s}};
        MemoryRegistry registry{server};
        (void)block_on(loop, hold_and_stop(registry, std::move(t), lets_go));
    };
}

} // namespace

TEST_CASE("execution.dead_man_timer: fed by a lease, it kills a holder that is stopped, and no other process") {
    child holds{holder(false)};
    child let_go{holder(true)};
    CHECK(holds.stops());
    CHECK(let_go.stops());
    CHECK(holds.died_of(10s) == SIGKILL);
    CHECK(let_go.died_of(500ms) == 0);
}
