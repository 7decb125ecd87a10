// SPDX-License-Identifier: Apache-2.0
/// \file \brief A live run on this instance, and the requests of its body.
#ifndef ELASTICJOB_SCHEDULER_LIVE_RUN_HPP
#define ELASTICJOB_SCHEDULER_LIVE_RUN_HPP

#include <elasticjob/core/block_on.hpp>
#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/loop.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/events/event.hpp>
#include <elasticjob/execution/progress_mailbox.hpp>
#include <elasticjob/execution/run_book.hpp>
#include <elasticjob/execution/run_record.hpp>
#include <elasticjob/execution/sharding_context.hpp>
#include <elasticjob/execution/stop_reason.hpp>
#include <elasticjob/registry/registry.hpp>
#include <elasticjob/registry/retry_pauses.hpp>
#include <elasticjob/scheduler/item_state.hpp>
#include <elasticjob/scheduler/run_context.hpp>

#include <atomic>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

namespace elasticjob::detail {

/// The stop request of a run, its lease, its checkpoints and its progress. A body that is given up outlives its run and
/// keeps this object, but can no longer reach the item. Threads: the loop's, except for the requests of a body.
template <class Environment>
struct live_run : run_port, private work {
    using item_state = detail::item_state<Environment>;
    using Loop = typename Environment::loop_type;
    using hold = typename Environment::lease_type::hold;

    /// `h` is null if the job is not monitored.
    live_run(run_context<Environment>& s, item_state& e, hold const* h);
    live_run(live_run const&) = delete;
    ~live_run();

    run_context<Environment>& context;
    stop_order order;
    item_state* item; ///< null if the run has been given up
    hold const* lease;
    int saving = 0;   ///< checkpoints that are being written, and calls for them; the run is not over before they end
    int relaying = 0; ///< writes of progress; the end of the run is reported before they end, and recorded afterwards
    events::run_name name{}; ///< once its start has been reported

    /// After the body has ended: reports its last progress, and ignores later calls.
    void end_progress();

    /// Whether a call of the loop for the body's progress is still pending: then this object must stay.
    bool is_loop_called() const noexcept { return is_loop_called_; }

private:
    /// The state of a checkpoint for which the body waits. It outlives the wait.
    struct awaited_save {
        explicit awaited_save(Loop& l) : news{l} {}
        event_count<Loop> news;
        std::optional<result<void>> outcome;
    };

    static live_run& self(run_port& port) { return static_cast<live_run&>(port); }
    static result<void> save(run_port& port, std::string text) { return self(port).save_checkpoint(std::move(text)); }
    static task<result<void>> write(run_port& port, std::string text);
    static bool submit_work(run_port& port, work& w) { return self(port).context.env.pool.try_submit(w); }
    static void report(run_port& port, std::uint64_t done, std::uint64_t total);

    /// Called by the body.
    void report_progress(std::uint64_t done, std::uint64_t total);

    /// Runs on the loop, after another thread has called it.
    static void act_on(work& w, work_action action);

    /// Called by the body. On the loop's own thread it does not wait: the end of the run records the checkpoint.
    result<void> save_checkpoint(std::string text);

    /// A call that has not returned. The run is not over before it has, so the body receives the result of its
    /// checkpoint first.
    struct unanswered {
        unanswered(live_run& r, item_state& e) : run{r}, item{e} { ++run.saving; }
        unanswered(unanswered const&) = delete;
        ~unanswered() {
            --run.saving;
            item.woken.notify();
        }
        live_run& run;
        item_state& item;
    };

    /// Waits for the outcome of the checkpoint, unless that is hopeless; then the write continues without the body.
    task<result<void>> write_checkpoint(std::string text);

    /// Writes the record with the latest progress and, if there is a `waiter`, with the checkpoint. Precondition: the
    /// call is counted as `saving` or, without a checkpoint, as `relaying`.
    task<void> save_and_tell(std::string checkpoint, std::shared_ptr<awaited_save> waiter);

    /// Passes on the body's reports, until there has been no new one for a while.
    task<void> relay_progress();
    void tell_progress() const;

    /// Whether the record may be written and lacks the latest progress.
    bool is_progress_worth_writing();

    /// Whether the run has been asked to stop and waiting for the registry would keep it beyond its lease. Asks it to
    /// stop if the lease is over and this has not been noticed yet, because the machine has just been resumed.
    bool is_hopeless();

    /// Continues under the next session if necessary, because the version of the record is unknown before. `news`
    /// belongs to the item, which may no longer be reachable, but exists as long as this is counted.
    task<result<void>> save_until_known(event_count<Loop>& news, run_end what);

    result<void> check_checkpoint(std::string const& text) const;
    error no_longer_ours() const;

    progress_mailbox progress_;
    run_progress reported_{};   ///< the last report taken from the body; its time is 0 before that
    run_progress written_{};    ///< the progress in the record, likewise
    bool is_reporting_ = false; ///< `relay_progress` is running
    std::atomic<bool> is_loop_called_{false};
    task_scope tasks_; ///< last: its tasks use all of the above
};

template <class Environment>
live_run<Environment>::live_run(run_context<Environment>& s, item_state& e, hold const* h)
    : run_port{order, h ? &save : nullptr, h ? &write : nullptr, &submit_work, &report, &s.job.callers},
      work{&act_on},
      context{s},
      item{&e},
      lease{h} {}

template <class Environment>
live_run<Environment>::~live_run() {
    if (is_reporting_) --context.reporting;
}

template <class Environment>
task<result<void>> live_run<Environment>::write(run_port& port, std::string text) {
    return self(port).write_checkpoint(std::move(text));
}

template <class Environment>
result<void> live_run<Environment>::save_checkpoint(std::string text) {
    ELASTICJOB_CHECK(check_checkpoint(text));
    if (!context.loop().on_loop()) return block_on(context.loop(), write_checkpoint(std::move(text)));
    if (!item) return no_longer_ours();
    item->life.keep_checkpoint(std::move(text));
    return success();
}

template <class Environment>
task<result<void>> live_run<Environment>::write_checkpoint(std::string text) {
    ELASTICJOB_CO_CHECK(check_checkpoint(text));
    if (!item) co_return no_longer_ours();
    if (is_hopeless())
        co_return error{errc::session_lost,
                        "the checkpoint is not saved: the run has been asked to stop, and cannot reach the registry",
                        context.name.str()};
    ++saving; // counts the write: until it ends, the run is not over, even if it has been given up
    unanswered const call{*this, *item};
    auto const waiter = std::make_shared<awaited_save>(context.loop());
    tasks_.spawn(save_and_tell(std::move(text), waiter));
    auto const wake = [&] {
        if (context.loop().on_loop()) waiter->news.notify();
    };
    std::stop_callback const on_stop{order.token(), wake};
    for (;;) {
        auto const seen = waiter->news.edition();
        if (waiter->outcome) co_return *waiter->outcome;
        if (is_hopeless())
            co_return error{errc::unknown_outcome,
                            "the run has been asked to stop before it was known whether the checkpoint is saved",
                            context.name.str()};
        co_await waiter->news.newer_than(seen, context.now() + retry_pause);
    }
}

template <class Environment>
bool live_run<Environment>::is_hopeless() {
    bool const is_over = !lease->is_valid();
    if (is_over) order.give(stop_reason::lease_over);
    auto const why = order.why();
    if (why == stop_reason::none) return false;
    if (is_over || why == stop_reason::session_lost || why == stop_reason::taken_over) return true;
    return context.registry.session().state != session_state::connected;
}

template <class Environment>
task<void> live_run<Environment>::save_and_tell(std::string checkpoint, std::shared_ptr<awaited_save> waiter) {
    auto& e = *item;
    co_await e.write_access();
    auto record = e.life.record();
    auto const progress = reported_;
    if (waiter) record.checkpoint = checkpoint;
    auto what = e.life.over_known(record, progress.at == wall_time{} ? nullptr : &progress);
    auto const saved = co_await save_until_known(e.woken, std::move(what));
    if (saved) {
        if (waiter)
            e.life.checkpointed(std::move(checkpoint));
        else
            e.life.written();
        written_ = progress;
    } else if (saved.error() == errc::fenced && e.live) {
        e.live->order.give(stop_reason::taken_over);
    }
    --(waiter ? saving : relaying);
    e.release();
    if (!waiter) co_return;
    waiter->outcome.emplace(saved);
    waiter->news.notify();
}

template <class Environment>
void live_run<Environment>::report(run_port& port, std::uint64_t done, std::uint64_t total) {
    self(port).report_progress(done, total);
}

template <class Environment>
void live_run<Environment>::report_progress(std::uint64_t done, std::uint64_t total) {
    if (!progress_.put(done, total)) return;
    if (context.loop().on_loop()) return tasks_.spawn(relay_progress());
    is_loop_called_ = true;
    context.loop().post(*this);
}

template <class Environment>
void live_run<Environment>::act_on(work& w, work_action action) {
    auto& run = static_cast<live_run&>(w);
    run.is_loop_called_ = false;
    if (action == work_action::run) run.tasks_.spawn(run.relay_progress());
}

template <class Environment>
task<void> live_run<Environment>::relay_progress() {
    is_reporting_ = true;
    ++context.reporting;
    for (;;) {
        co_await sleep_until(context.loop(), progress_mailbox::next_look(context.now(), context.reporting));
        if (!progress_.take(reported_)) break;
        reported_.at = context.wall_now();
        tell_progress();
        if (!is_progress_worth_writing()) continue;
        ++relaying;
        co_await save_and_tell({}, nullptr);
    }
    --context.reporting;
    is_reporting_ = false;
}

template <class Environment>
void live_run<Environment>::end_progress() {
    if (progress_.close(reported_)) tell_progress();
}

template <class Environment>
void live_run<Environment>::tell_progress() const {
    if (item)
        context.env.sink(events::item_progressed{context.origin(), item->item(), item->life.record().running->due,
                                                 reported_.done, reported_.total, name});
}

template <class Environment>
bool live_run<Environment>::is_progress_worth_writing() {
    bool const is_written =
        written_.at != wall_time{} && written_.done == reported_.done && written_.total == reported_.total;
    return !is_written && item && lease && !is_hopeless();
}

template <class Environment>
task<result<void>> live_run<Environment>::save_until_known(event_count<Loop>& news, run_end what) {
    for (;;) {
        auto const seen = news.edition();
        auto const session = context.registry.session();
        if (session.state == session_state::connected) {
            auto const saved = co_await context.book.save(session.generation, what);
            if (saved || !is_transient(saved.error())) co_return saved;
        } else if (context.gives_up) {
            co_return error{errc::session_lost, "the session is over, and the job is being shut down",
                            context.name.str()};
        }
        auto const until = context.now() + retry_pause;
        co_await news.newer_than(seen, until);
    }
}

template <class Environment>
result<void> live_run<Environment>::check_checkpoint(std::string const& text) const {
    if (text.size() <= run_record::checkpoint_bytes_max) return success();
    return error{errc::too_large,
                 "a checkpoint must be at most " + std::to_string(run_record::checkpoint_bytes_max) +
                     " bytes long, but has " + std::to_string(text.size()),
                 context.name.str()};
}

template <class Environment>
error live_run<Environment>::no_longer_ours() const {
    return {errc::fenced, "the run has been given up, for it took longer than give_up_after", context.name.str()};
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_LIVE_RUN_HPP
