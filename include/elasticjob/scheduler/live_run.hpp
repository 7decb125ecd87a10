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
#include <elasticjob/execution/run_book.hpp>
#include <elasticjob/execution/run_record.hpp>
#include <elasticjob/execution/sharding_context.hpp>
#include <elasticjob/execution/stop_reason.hpp>
#include <elasticjob/registry/registry.hpp>
#include <elasticjob/scheduler/item_state.hpp>
#include <elasticjob/scheduler/job_site.hpp>

#include <optional>
#include <stop_token>
#include <string>
#include <utility>

namespace elasticjob::detail {

/// The stop request of a run, its lease, and its checkpoints. A body that is given up outlives its run and keeps this
/// object, but can no longer reach the item. Threads: the loop's, except for the requests of a body.
template <class Environment>
struct live_run : run_port {
    using site = job_site<Environment>;
    using item_state = detail::item_state<Environment>;
    using Loop = typename Environment::loop_type;
    using hold = typename Environment::lease_type::hold;

    /// `h` is null if the job is not monitored.
    live_run(site& s, item_state& e, hold const* h);

    site& here;
    stop_order order;
    item_state* item; ///< null if the run has been given up
    hold const* lease;
    int saving = 0; ///< checkpoints in progress, and calls for them; the run is not over before they have ended

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
    static bool submit_work(run_port& port, work& w) { return self(port).here.env.pool.try_submit(w); }

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

    /// Waits until it is known whether the checkpoint is in the registry, unless that is hopeless; then the write
    /// continues without the body.
    task<result<void>> write_checkpoint(std::string text);
    task<void> save_and_tell(std::string text, std::shared_ptr<awaited_save> waiter);

    /// Whether the run has been asked to stop and waiting for the registry would keep it beyond its lease. Asks it to
    /// stop if the lease is over and this has not been noticed yet, because the machine has just been resumed.
    bool is_hopeless();

    /// Continues under the next session if necessary, because the version of the record is unknown before. `news`
    /// belongs to the item, which may no longer be reachable, but exists while `saving` is not 0.
    task<result<void>> save_until_known(event_count<Loop>& news, run_end what);

    result<void> check_checkpoint(std::string const& text) const;
    error no_longer_ours() const;

    task_scope saves_; ///< last: its tasks use all of the above
};

template <class Environment>
live_run<Environment>::live_run(site& s, item_state& e, hold const* h)
    : run_port{order, h ? &save : nullptr, h ? &write : nullptr, &submit_work},
      here{s},
      item{&e},
      lease{h} {}

template <class Environment>
task<result<void>> live_run<Environment>::write(run_port& port, std::string text) {
    return self(port).write_checkpoint(std::move(text));
}

template <class Environment>
result<void> live_run<Environment>::save_checkpoint(std::string text) {
    ELASTICJOB_CHECK(check_checkpoint(text));
    if (!here.loop().on_loop()) return block_on(here.loop(), write_checkpoint(std::move(text)));
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
                        here.name.str()};
    ++saving; // counts the write: until it ends, the run is not over, even if it has been given up
    unanswered const call{*this, *item};
    auto const waiter = std::make_shared<awaited_save>(here.loop());
    saves_.spawn(save_and_tell(std::move(text), waiter));
    auto const wake = [&] {
        if (here.loop().on_loop()) waiter->news.notify();
    };
    std::stop_callback const on_stop{order.token(), wake};
    for (;;) {
        auto const seen = waiter->news.edition();
        if (waiter->outcome) co_return *waiter->outcome;
        if (is_hopeless())
            co_return error{errc::unknown_outcome,
                            "the run has been asked to stop before it was known whether the checkpoint is saved",
                            here.name.str()};
        co_await waiter->news.newer_than(seen, here.now() + site::retry_pause);
    }
}

template <class Environment>
bool live_run<Environment>::is_hopeless() {
    bool const is_over = !lease->is_valid();
    if (is_over) order.give(stop_reason::lease_over);
    auto const why = order.why();
    if (why == stop_reason::none) return false;
    if (is_over || why == stop_reason::session_lost || why == stop_reason::taken_over) return true;
    return here.registry.session().state != session_state::connected;
}

template <class Environment>
task<void> live_run<Environment>::save_and_tell(std::string text, std::shared_ptr<awaited_save> waiter) {
    auto& e = *item;
    co_await e.write_access();
    auto record = e.life.record();
    record.checkpoint = std::move(text);
    auto what = e.life.over_known(record);
    auto const saved = co_await save_until_known(e.woken, std::move(what));
    if (saved) {
        e.life.checkpointed(std::move(record));
    } else if (saved.error() == errc::fenced && e.live) {
        e.live->order.give(stop_reason::taken_over);
    }
    --saving;
    e.release();
    waiter->outcome.emplace(saved);
    waiter->news.notify();
}

template <class Environment>
task<result<void>> live_run<Environment>::save_until_known(event_count<Loop>& news, run_end what) {
    for (;;) {
        auto const seen = news.edition();
        auto const session = here.registry.session();
        if (session.state == session_state::connected) {
            auto const saved = co_await here.book.save(session.generation, what);
            if (saved || !is_transient(saved.error())) co_return saved;
        } else if (here.gives_up) {
            co_return error{errc::session_lost, "the session is over, and the job is being shut down", here.name.str()};
        }
        auto const until = here.now() + site::retry_pause;
        co_await news.newer_than(seen, until);
    }
}

template <class Environment>
result<void> live_run<Environment>::check_checkpoint(std::string const& text) const {
    if (text.size() <= run_record::checkpoint_bytes_max) return success();
    return error{errc::too_large,
                 "a checkpoint must be at most " + std::to_string(run_record::checkpoint_bytes_max) +
                     " bytes long, but has " + std::to_string(text.size()),
                 here.name.str()};
}

template <class Environment>
error live_run<Environment>::no_longer_ours() const {
    return {errc::fenced, "the run has been given up, for it took longer than give_up_after", here.name.str()};
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_LIVE_RUN_HPP
