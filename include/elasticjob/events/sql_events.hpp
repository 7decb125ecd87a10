// SPDX-License-Identifier: Apache-2.0
/// \file \brief A sink that records all runs in a database.
#ifndef ELASTICJOB_EVENTS_SQL_EVENTS_HPP
#define ELASTICJOB_EVENTS_SQL_EVENTS_HPP

#include <elasticjob/core/guarded_call.hpp>
#include <elasticjob/core/standard_error.hpp>
#include <elasticjob/events/event_database.hpp>
#include <elasticjob/events/event_sink.hpp>
#include <elasticjob/events/firing_tracer.hpp>
#include <elasticjob/events/queue_thread.hpp>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob {

/// Whether each run of an item has its own status rows, or the items that begin together share them as in 2.1.5
/// (events/firing_tracer.hpp).
enum class status_rows : std::uint8_t { per_run, per_firing };

/// The options of SqlEvents: rows, queue, retries, and the time for which rows are kept.
struct sql_events_options {
    queue_options queue{};

    /// With `per_run`, the rows of a run are written as soon as it ends, independently of the other items, and name a
    /// single item. They need no memory.
    elasticjob::status_rows status_rows = elasticjob::status_rows::per_run;
    std::size_t firing_bytes_max = trace::firing_tracer::bytes_max_default; ///< memory for firings that have not ended

    std::chrono::milliseconds retry_first{200}; ///< the pause after a failure; each further one is twice as long
    std::chrono::milliseconds retry_max{30'000};
    std::chrono::hours keep_for{0}; ///< older rows are deleted; 0: no row is deleted
    std::chrono::milliseconds cleanup_interval{600'000};
    std::uint64_t cleanup_rows_max =
        10'000; ///< the most rows that one statement deletes; events are written in between
};

namespace detail {

template <event_database Database>
class sql_worker {
public:
    sql_worker(Database db, sql_events_options o) : db_{std::move(db)}, options_{o} {
        if (options_.keep_for.count() > 0) next_cleanup_ = now();
        if (options_.status_rows == status_rows::per_firing) firings_.emplace(trace_, options_.firing_bytes_max);
    }

    /// Writes the whole batch in one transaction. While the database is unavailable, repeats the attempt. Meanwhile new
    /// events wait in the queue, which drops its oldest event if it is full.
    template <class Queue>
    void work(events::event_ring const& batch, Queue& queue) {
        make_rows(batch);
        if (batch.size() > 0) (void)deal_with(0, batch.size(), queue);
        if (now() >= next_cleanup_) clean_up(queue);
    }
    mono_time next_look() const noexcept { return next_cleanup_; }

private:
    enum class outcome { written, refused, given_up };

    static mono_time now() { return std::chrono::steady_clock::now(); }

    /// Called once for each event, because a firing counts the ends of its runs.
    void make_rows(events::event_ring const& batch) {
        rows_.clear();
        first_rows_.clear();
        auto const add = [&](auto&& row) { rows_.emplace_back(std::move(row)); };
        auto const convert = [&](auto const& e) {
            if (firings_)
                (*firings_)(e, add);
            else
                trace_(e, add);
        };
        for (std::size_t n = 0; n < batch.size(); ++n) {
            first_rows_.push_back(rows_.size());
            batch[n].tell(convert);
        }
        first_rows_.push_back(rows_.size());
    }

    /// Writes a part of the batch. If the database refuses it, writes each half separately, until the refused event is
    /// found. Returns false if the time has passed.
    template <class Queue>
    bool deal_with(std::size_t begin, std::size_t end, Queue& queue) {
        auto const written = write(begin, end, queue);
        if (written == outcome::refused && end - begin > 1) {
            auto const middle = begin + (end - begin) / 2;
            if (deal_with(begin, middle, queue)) return deal_with(middle, end, queue);
            queue.account().dropped += end - middle;
            return false;
        }
        (written == outcome::written ? queue.account().done : queue.account().dropped) += end - begin;
        return written != outcome::given_up;
    }

    template <class Queue>
    outcome write(std::size_t begin, std::size_t end, Queue& queue) {
        auto const first = first_rows_[begin];
        auto const rows = std::span<trace::entry const>{rows_}.subspan(first, first_rows_[end] - first);
        if (rows.empty()) return outcome::written;
        if (queue.is_abandoned()) return outcome::given_up;
        for (auto pause = options_.retry_first;; pause = std::min(pause * 2, options_.retry_max)) {
            auto const written = guarded_call([&] { return db_.write(rows); });
            if (written) {
                if (std::exchange(is_away_, false)) say("is available again", "");
                return outcome::written;
            }
            ++queue.account().failed;
            if (written.error() == errc::invalid_argument) {
                if (end - begin == 1 && !std::exchange(has_refused_, true))
                    say("refuses events, which are dropped", to_string(written.error()));
                return outcome::refused;
            }
            if (!std::exchange(is_away_, true)) say("is unavailable; events wait for it", to_string(written.error()));
            // If the queue must end, there is no further attempt, but each batch has been tried at least once.
            if (!queue.sleep_until(now() + pause)) return outcome::given_up;
        }
    }

    /// Nothing if no row can be so old.
    std::optional<wall_time> kept_since() const {
        auto const now = std::chrono::system_clock::now();
        if (options_.keep_for >= std::chrono::floor<std::chrono::hours>(now.time_since_epoch())) return std::nullopt;
        return now - options_.keep_for;
    }

    /// Deletes a part of the old rows. If there may be more, the next part follows after the waiting events.
    template <class Queue>
    void clean_up(Queue& queue) {
        auto const count_max = std::max<std::uint64_t>(options_.cleanup_rows_max, 1);
        bool is_all = true;
        auto const removed = guarded_call([&]() -> result<void> {
            auto const since = kept_since();
            if (!since) return success();
            ELASTICJOB_TRY(auto const count, db_.remove_before(*since, count_max));
            is_all = count < count_max;
            return success();
        });
        next_cleanup_ = is_all ? end_of_wait(now(), options_.cleanup_interval) : now();
        if (!removed) ++queue.account().failed;
        if (std::exchange(cannot_clean_, !removed) || removed) return;
        say("cannot remove old rows; the removal is tried again later", to_string(removed.error()));
    }

    static void say(std::string const& what, std::string const& why) {
        auto const line = why.substr(0, why.find('\n'));
        tell_standard_error("elasticjob: the database of events " + what + (line.empty() ? "" : ": ") + line);
    }

    Database db_;
    sql_events_options options_;
    trace::tracer trace_{};
    std::optional<trace::firing_tracer> firings_{};
    std::vector<trace::entry> rows_;        ///< of the batch
    std::vector<std::size_t> first_rows_{}; ///< the index of each event's first row, and the number of rows
    mono_time next_cleanup_ = mono_time::max();
    bool is_away_ = false, has_refused_ = false, cannot_clean_ = false;
};

} // namespace detail

/// Writes execution events and status trace events (events/trace.hpp) into the two tables of ElasticJob, on a thread of
/// its own, a batch in each transaction, in order.
///
/// While the database is unavailable (unreachable, locked, full), the sink repeats the current batch after growing
/// pauses. New events wait in the queue; if it is full, its oldest event is dropped and counted. An event that the
/// database refuses for good is dropped and counted, and does not affect the others. Standard error reports the first
/// failure, the first success after it, the first refusal, and the first of several consecutive failed removals of old
/// rows. The destructor tries to write the waiting events once, for at most `drain_timeout`. `account()`: `done` and
/// `dropped` count events, `failed` counts attempts. Movable. Threads: events on the loop.
template <event_database Database>
class SqlEvents {
public:
    /// Throws std::system_error if no thread can be started. That thread connects to the database later.
    explicit SqlEvents(Database db, sql_events_options options = {})
        : queue_{detail::sql_worker<Database>{std::move(db), options}, options.queue} {}

    template <class E>
    void operator()(E const& e) {
        // The tables have no columns for these events.
        constexpr bool has_columns =
            !std::same_as<E, events::script_output> && !std::same_as<E, events::item_progressed>;
        if constexpr (requires { e.item; } && has_columns) queue_.push(e);
    }

    /// Stays valid and current when this object is moved into a scheduler.
    std::shared_ptr<queue_account const> account() const { return queue_.account(); }

private:
    detail::queue_thread<detail::sql_worker<Database>> queue_;
};

} // namespace elasticjob
#endif // ELASTICJOB_EVENTS_SQL_EVENTS_HPP
