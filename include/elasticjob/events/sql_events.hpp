// SPDX-License-Identifier: Apache-2.0
/// \file \brief A sink that keeps a record of all runs in a database.
#ifndef ELASTICJOB_EVENTS_SQL_EVENTS_HPP
#define ELASTICJOB_EVENTS_SQL_EVENTS_HPP

#include <elasticjob/core/guarded_call.hpp>
#include <elasticjob/core/standard_error.hpp>
#include <elasticjob/events/event_database.hpp>
#include <elasticjob/events/event_sink.hpp>
#include <elasticjob/events/queue_thread.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob {

/// The options of SqlEvents: queue, retries, and how long rows are kept.
struct sql_events_options {
    queue_options queue{};
    std::chrono::milliseconds retry_first{200}; ///< the first pause after a failure; each further one is twice as long
    std::chrono::milliseconds retry_max{30'000};
    std::chrono::hours keep_for{0}; ///< older rows are deleted; 0: no row is deleted
    std::chrono::milliseconds cleanup_interval{600'000};
    std::uint64_t cleanup_rows_max = 10'000; ///< rows deleted by one statement; new events are written in between
};

namespace detail {

template <event_database Database>
class sql_worker {
public:
    sql_worker(Database db, sql_events_options o) : db_{std::move(db)}, options_{o} {
        if (options_.keep_for.count() > 0) next_cleanup_ = now();
    }

    /// Writes the whole batch in one transaction. While the database is unavailable, it tries again, and new events
    /// wait in the queue, which drops its oldest if it is full.
    template <class Queue>
    void work(events::event_ring const& batch, Queue& queue) {
        if (batch.size() > 0) (void)deal_with(batch, 0, batch.size(), queue);
        if (now() >= next_cleanup_) clean_up(queue);
    }
    mono_time next_look() const noexcept { return next_cleanup_; }

private:
    enum class outcome { written, refused, given_up };

    static mono_time now() { return std::chrono::steady_clock::now(); }

    /// If the database refuses a part, writes each half separately, until the refused event is found. False: the time
    /// is over.
    template <class Queue>
    bool deal_with(events::event_ring const& batch, std::size_t begin, std::size_t end, Queue& queue) {
        auto const written = write(batch, begin, end, queue);
        if (written == outcome::refused && end - begin > 1) {
            auto const middle = begin + (end - begin) / 2;
            if (deal_with(batch, begin, middle, queue)) return deal_with(batch, middle, end, queue);
            queue.account().dropped += end - middle;
            return false;
        }
        (written == outcome::written ? queue.account().done : queue.account().dropped) += end - begin;
        return written != outcome::given_up;
    }

    template <class Queue>
    outcome write(events::event_ring const& batch, std::size_t begin, std::size_t end, Queue& queue) {
        rows_.clear();
        auto const add = [&](auto&& row) { rows_.emplace_back(std::move(row)); };
        for (auto n = begin; n < end; ++n) batch[n].tell([&](auto const& e) { trace_(e, add); });
        if (rows_.empty()) return outcome::written;
        if (queue.is_abandoned()) return outcome::given_up;
        for (auto pause = options_.retry_first;; pause = std::min(pause * 2, options_.retry_max)) {
            auto const written = guarded_call([&] { return db_.write(rows_); });
            if (written) {
                if (std::exchange(is_away_, false)) say("is there again", "");
                return outcome::written;
            }
            ++queue.account().failed;
            if (written.error() == errc::invalid_argument) {
                if (end - begin == 1 && !std::exchange(has_refused_, true))
                    say("refuses events, which are dropped", to_string(written.error()));
                return outcome::refused;
            }
            if (!std::exchange(is_away_, true)) say("is away; events wait for it", to_string(written.error()));
            // If the queue is to end, there is no further attempt, but each batch has been tried at least once.
            if (!queue.sleep_until(now() + pause)) return outcome::given_up;
        }
    }

    /// Deletes a part of the old rows. If there may be more, the next part follows after the waiting events.
    template <class Queue>
    void clean_up(Queue& queue) {
        auto const count_max = std::max<std::uint64_t>(options_.cleanup_rows_max, 1);
        bool is_all = true;
        auto const removed = guarded_call([&]() -> result<void> {
            ELASTICJOB_TRY(auto const count,
                           db_.remove_before(std::chrono::system_clock::now() - options_.keep_for, count_max));
            is_all = count < count_max;
            return success();
        });
        next_cleanup_ = is_all ? now() + options_.cleanup_interval : now();
        if (!removed) ++queue.account().failed;
        if (std::exchange(cannot_clean_, !removed) || removed) return;
        say("does not let go of what is old; that is tried again later", to_string(removed.error()));
    }

    static void say(std::string const& what, std::string const& why) {
        auto const line = why.substr(0, why.find('\n'));
        tell_standard_error("elasticjob: the database of events " + what + (line.empty() ? "" : ": ") + line);
    }

    Database db_;
    sql_events_options options_;
    trace::tracer trace_{};
    std::vector<trace::entry> rows_;
    mono_time next_cleanup_ = mono_time::max();
    bool is_away_ = false, has_refused_ = false, cannot_clean_ = false;
};

} // namespace detail

/// Writes execution events and status trace events (events/trace.hpp) into the two tables of ElasticJob, on a thread of
/// its own, a batch in each transaction, in order.
///
/// While the database is unavailable (unreachable, locked, full), the current batch is tried again after growing
/// pauses. New events wait in the queue; if it is full, its oldest event is dropped and counted. An event that the
/// database refuses for good is dropped and counted, and does not affect the others. Standard error reports the first
/// failure, the first success after it, the first refusal, and the first of several failed removals of old rows in a
/// row. The destructor tries to write the waiting events once, for at most `drain_timeout`. `account()`: `done` and
/// `dropped` count events, `failed` counts attempts. Movable. Threads: events on the loop.
template <event_database Database>
class SqlEvents {
public:
    /// Throws std::system_error if no thread can be started. That thread connects to the database later.
    explicit SqlEvents(Database db, sql_events_options options = {})
        : queue_{detail::sql_worker<Database>{std::move(db), options}, options.queue} {}

    template <class E>
    void operator()(E const& e) {
        // The tables have no columns for other events.
        constexpr bool has_columns = !std::same_as<E, events::script_output> && !std::same_as<E, events::item_progressed>;
        if constexpr (requires { e.item; } && has_columns) queue_.push(e);
    }

    /// Stays valid, and true, when this is moved into a scheduler.
    std::shared_ptr<queue_account const> account() const { return queue_.account(); }

private:
    detail::queue_thread<detail::sql_worker<Database>> queue_;
};

} // namespace elasticjob
#endif // ELASTICJOB_EVENTS_SQL_EVENTS_HPP
