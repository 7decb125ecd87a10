// SPDX-License-Identifier: Apache-2.0
// The sink over a database that the test controls; database_laws.hpp tests it over real ones.
#include <elasticjob/events/sql_events.hpp>

#include <events/kinds.hpp>
#include <support/standard_error.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <semaphore>
#include <stdexcept>
#include <thread>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace std::chrono_literals;

namespace {

struct script {
    std::atomic<bool> is_away{false}, throws{false}, keeps{false};
    std::atomic<std::uint64_t> old{0}; ///< rows
    std::atomic<int> attempts{0}, cleanups{0};
    std::counting_semaphore<> tried{0};
    std::mutex mutex{};
    std::vector<std::string> ids{};     ///< of the runs that begin
    std::vector<std::string> states{};
    std::size_t entries_max = 1'000;    ///< more at once are refused
    std::vector<std::size_t> batches{}; ///< rows in each
    wall_time removed_before{};
    std::function<void()> on_removal{};
};
struct FakeDatabase {
    script* s;
    result<void> write(std::span<trace::entry const> entries) const {
        ++s->attempts;
        s->tried.release();
        if (s->throws) throw std::runtime_error{"driver"};
        if (s->is_away) return error{errc::unreachable, "away"};
        if (entries.size() > s->entries_max) return error{errc::invalid_argument, "too many"};
        std::lock_guard const lock{s->mutex};
        s->batches.push_back(entries.size());
        for (auto const& e : entries)
            if (auto const* x = std::get_if<0>(&e))
                s->ids.push_back(x->id);
            else
                s->states.emplace_back(std::get<1>(e).state);
        return success();
    }
    result<std::uint64_t> remove_before(wall_time t, std::uint64_t count_max) const {
        s->removed_before = t;
        ++s->cleanups;
        s->tried.release();
        if (s->keeps && s->throws) throw std::runtime_error{"driver"};
        if (s->keeps) return error{errc::unreachable, "statement timeout"};
        if (s->on_removal) s->on_removal();
        auto const removed = std::min<std::uint64_t>(s->old, count_max);
        s->old -= removed;
        std::lock_guard const lock{s->mutex};
        s->batches.push_back(removed);
        return removed;
    }
};
static_assert(event_database<FakeDatabase>);

std::string id_of(events::item_started const& e) {
    std::string id;
    trace::tracer{}(e, [&](auto const& row) { id = row.id; }); // the run's row comes last
    return id;
}

} // namespace

TEST_CASE(
    "events.sql_events: while the database is away the oldest are dropped, and nothing is lost without being counted") {
    happenings const h;
    script s;
    s.is_away = true;
    std::shared_ptr<queue_account const> account;
    {
        SqlEvents sink{FakeDatabase{&s}, {.queue = {.depth_max = 5}, .retry_first = 1ms, .retry_max = 4ms}};
        account = sink.account();
        sink(h.started(1));
        for (int n = 0; n < 4; ++n) s.tried.acquire(); // the sink tries again and again
        for (std::uint64_t n = 2; n <= 10; ++n) sink(h.started(n));
        CHECK(account->dropped == 4);
        CHECK(account->failed >= 3);
        s.is_away = false;
        while (account->done < 6) std::this_thread::yield();
    }
    std::vector<std::string> expected{id_of(h.started(1))};
    for (std::uint64_t n = 6; n <= 10; ++n) expected.push_back(id_of(h.started(n)));
    CHECK(s.ids == expected);
    CHECK(s.batches == std::vector<std::size_t>{3, 15}); // the waiting events are written together
    CHECK(account->done == 6);
    CHECK(account->dropped == 4);
}

TEST_CASE("events.sql_events: its destructor tries the waiting events once") {
    happenings const h;
    script s;
    s.is_away = true;
    std::shared_ptr<queue_account const> account;
    {
        SqlEvents sink{FakeDatabase{&s}, {.queue = {.batch_max = 2, .drain_timeout = 60s}, .retry_first = 3600s}};
        account = sink.account();
        sink(h.started(1));
        s.tried.acquire();
        for (std::uint64_t n = 2; n <= 5; ++n) sink(h.started(n));
    } // event 1 is being written, 2 to 5 wait: two batches
    CHECK(s.attempts == 3);
    CHECK(account->dropped == 5);
    CHECK(account->done == 0);
}

TEST_CASE("events.sql_events: a firing counts its runs once, however often its rows are tried") {
    happenings const h;
    script s;
    s.entries_max = 3; // a batch with the starts of both items is refused, and then written row by row
    std::shared_ptr<queue_account const> account;
    {
        SqlEvents sink{FakeDatabase{&s}, {.status_rows = status_rows::per_firing, .retry_first = 1ms}};
        account = sink.account();
        auto const tell = [&](auto e, item_index item) {
            e.item = item;
            sink(e);
        };
        auto const wait_for = [&](std::uint64_t events) {
            while (account->done + account->dropped < events) std::this_thread::yield();
        };
        for (item_index const i : {0U, 1U}) tell(h.started(i + 1), i);
        wait_for(2);
        s.is_away = true;
        for (item_index const i : {0U, 1U}) tell(h.succeeded(i + 1), i);
        for (auto const before = account->failed.load(); account->failed < before + 3;) std::this_thread::yield();
        s.is_away = false;
        wait_for(4);
    }
    CHECK(account->dropped == 0);
    CHECK(s.states == std::vector<std::string>{"TASK_STAGING", "TASK_RUNNING", "TASK_FINISHED"});
    CHECK(s.ids.size() == 4);
}

TEST_CASE("events.sql_events: script output and progress take no room in the queue") {
    happenings const h;
    script s;
    std::shared_ptr<queue_account const> account;
    {
        SqlEvents sink{FakeDatabase{&s}};
        account = sink.account();
        sink(h.wrote());
        sink(h.progressed());
        sink(h.started(1));
    }
    CHECK(account->done == 1);
    CHECK(s.ids.size() == 1);
}

TEST_CASE("events.sql_events: a driver that throws counts as an absent database") {
    happenings const h;
    script s;
    s.throws = true;
    {
        SqlEvents sink{FakeDatabase{&s}, {.retry_first = 1ms}};
        auto const account = sink.account();
        sink(h.started(1));
        while (account->failed == 0) std::this_thread::yield();
        s.throws = false;
        while (account->done == 0) std::this_thread::yield();
    }
    CHECK(s.ids.size() == 1);
}

TEST_CASE("events.sql_events: what is too old is removed at the beginning, and from time to time, also while nothing "
          "happens") {
    script s;
    {
        SqlEvents sink{FakeDatabase{&s}, {.keep_for = std::chrono::hours{48}, .cleanup_interval = 1ms}};
        for (int n = 0; n < 3; ++n) s.tried.acquire();
    }
    CHECK(s.attempts == 0);
    CHECK(s.cleanups >= 3);
    auto const age = std::chrono::system_clock::now() - s.removed_before;
    CHECK(age >= 48h);
    CHECK(age < 49h);
    script kept;
    {
        happenings const h;
        SqlEvents sink{FakeDatabase{&kept}};
        sink(h.started());
    }
    CHECK(kept.cleanups == 0); // by default nothing is removed
}

TEST_CASE("events.sql_events: rows that are kept for longer than time has been counted are not removed") {
    for (auto const keep_for : {std::chrono::hours{400 * 365 * 24}, std::chrono::hours::max()}) {
        script s;
        {
            happenings const h;
            SqlEvents sink{FakeDatabase{&s}, {.keep_for = keep_for, .cleanup_interval = 1ms}};
            for (std::uint64_t n = 1; n <= 3; ++n) {
                sink(h.started(n));
                s.tried.acquire();
            }
        }
        CHECK(s.attempts >= 1);
        CHECK(s.cleanups == 0);
    }
}

TEST_CASE("events.sql_events: expired rows are removed in pieces, and events do not wait for all of them") {
    happenings const h;
    script s;
    s.old = 25;
    std::optional<SqlEvents<FakeDatabase>> sink;
    std::counting_semaphore<> is_there{0};
    s.on_removal = [&] {
        if (s.old != 25) return;
        is_there.acquire();
        (*sink)(h.started()); // while the first piece is removed
    };
    sink.emplace(FakeDatabase{&s}, sql_events_options{.keep_for = std::chrono::hours{48}, .cleanup_rows_max = 10});
    is_there.release();
    while (s.cleanups < 3) s.tried.acquire();
    sink.reset();
    CHECK(s.cleanups == 3); // the rest follows at once, and then nothing before the next interval
    CHECK(s.batches == std::vector<std::size_t>{10, 3, 10, 5});
}

TEST_CASE("events.sql_events: a failed removal of expired rows is reported once, until it succeeds") {
    script s;
    s.keeps = true;
    auto const told = written_by([&] {
        SqlEvents sink{FakeDatabase{&s}, {.keep_for = std::chrono::hours{48}, .cleanup_interval = 1ms}};
        auto const two_more = [&] { // two have ended when the third has begun
            for (int const before = s.cleanups; s.cleanups < before + 3;) s.tried.acquire();
        };
        two_more();
        s.keeps = false;
        two_more();
        s.throws = true; // an exception does no more harm than an error
        s.keeps = true;
        two_more();
        CHECK(sink.account()->failed > 2);
    });
    std::string const line =
        "elasticjob: the database of events cannot remove old rows; the removal is tried again later: ";
    CHECK(told == line + "unreachable: statement timeout\n" + line + "job_threw: driver\n");
}
