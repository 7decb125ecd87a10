// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/events/queued.hpp>

#include <events/kinds.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <semaphore>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace std::chrono_literals;

namespace {

/// A sink's observations and instructions; outlives it.
struct witness {
    std::vector<std::uint64_t> numbers{}; ///< of the runs, in the order told
    std::thread::id thread{};
    std::binary_semaphore enters{0}, goes_on{0};
    std::atomic<int> flushes{0};
    bool holds = false;
};
struct testify {
    witness* w;
    template <class E>
    void operator()(E const&) const {}
    void operator()(events::item_started const& e) const {
        if (e.run.number == 13) throw std::runtime_error{"no"};
        if (w->holds) {
            w->enters.release();
            w->goes_on.acquire();
        }
        w->thread = std::this_thread::get_id();
        w->numbers.push_back(e.run.number);
    }
    void flush() const { ++w->flushes; }
};

} // namespace

TEST_CASE("events.queued: delivers all events in order, on another thread, before its end") {
    happenings const h;
    witness w;
    std::shared_ptr<queue_account const> account;
    {
        Queued sink{testify{&w}};
        account = sink.account();
        auto moved = std::move(sink);
        for (std::uint64_t n = 1; n <= 1000; ++n) moved(h.started(n));
    }
    CHECK(w.numbers.size() == 999);
    CHECK(std::is_sorted(w.numbers.begin(), w.numbers.end()));
    CHECK(w.thread != std::this_thread::get_id());
    CHECK(w.flushes > 0);
    CHECK(account->done == 999);
    CHECK(account->failed == 1); // 13
    CHECK(account->dropped == 0);
}

TEST_CASE("events.queued: limits of 0 count as 1") {
    happenings const h;
    witness w;
    {
        Queued sink{testify{&w}, {.depth_max = 0, .batch_max = 0, .drain_timeout = std::chrono::hours{1}}};
        sink(h.started(1));
    }
    CHECK(w.numbers == std::vector<std::uint64_t>{1});
}

TEST_CASE("events.queued: a blocked sink keeps no caller waiting; the oldest events are dropped and counted") {
    happenings const h;
    witness w;
    w.holds = true;
    std::shared_ptr<queue_account const> account;
    {
        Queued sink{testify{&w}, {.depth_max = 4, .drain_timeout = 60s}};
        account = sink.account();
        sink(h.started(1));
        w.enters.acquire(); // it has taken the first event, and hangs
        for (std::uint64_t n = 2; n <= 10; ++n) sink(h.started(n));
        CHECK(account->dropped == 5);
        w.holds = false;
        w.goes_on.release();
    }
    CHECK(w.numbers == std::vector<std::uint64_t>{1, 7, 8, 9, 10});
    CHECK(account->done == 5);
}

TEST_CASE("events.queued: its destructor does not wait for ever for a sink that does not return") {
    happenings const h;
    auto const w = std::make_unique<witness>();
    w->holds = true;
    std::shared_ptr<queue_account const> account;
    {
        Queued sink{testify{w.get()}, {.depth_max = 4, .drain_timeout = 20ms}};
        account = sink.account();
        sink(h.started(1));
        w->enters.acquire();
        for (std::uint64_t n = 2; n <= 4; ++n) sink(h.started(n));
    }
    CHECK(account->done == 0);
    CHECK(account->dropped == 0); // not known yet: the thread may still return
    w->holds = false;
    w->goes_on.release();
    while (account->dropped != 3) std::this_thread::yield();
    CHECK(w->numbers == std::vector<std::uint64_t>{1});
    CHECK(account->done == 1);
    while (account.use_count() > 1) std::this_thread::yield(); // until the thread has released its share
}
