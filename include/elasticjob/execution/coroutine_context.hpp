// SPDX-License-Identifier: Apache-2.0
/// \file \brief The context of a coroutine's run, with the operations that it can await.
#ifndef ELASTICJOB_EXECUTION_COROUTINE_CONTEXT_HPP
#define ELASTICJOB_EXECUTION_COROUTINE_CONTEXT_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/guarded_call.hpp>
#include <elasticjob/core/loop.hpp>
#include <elasticjob/core/run_on.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/execution/sharding_context.hpp>

#include <stop_token>
#include <string>
#include <utility>

namespace elasticjob {

/// The body runs on the loop, like everything else of the job. It must not block, and must do long work on the pool.
/// Valid until the body ends. Threads: the loop's.
template <class Loop>
class coroutine_context : public sharding_context {
public:
    explicit coroutine_context(Loop& l) noexcept : loop_{&l} {}

    Loop& loop() const noexcept { return *loop_; }

    /// Waits for that time, or until the run is asked to stop. Returns whether to continue the work.
    task<bool> sleep_for(std::chrono::nanoseconds span) const {
        event_count<Loop> asked{*loop_};
        std::stop_callback const on_stop{stop, [&] { asked.notify(); }};
        auto const now = loop_->now();
        auto const end = span < mono_time::max() - now ? now + span : mono_time::max();
        while (!stop.stop_requested() && loop_->now() < end) {
            auto const seen = asked.edition();
            co_await asked.newer_than(seen, end);
        }
        co_return !stop.stop_requested();
    }

    /// Calls `f`, which returns nothing or a `result<void>`, on a thread of the job's pool, and waits for its end.
    /// Errors: overloaded if the pool is full; closed; job_threw, with the exception; those of `f`.
    template <class F>
    task<result<void>> on_pool(F f) const {
        auto const guarded = [&] {
            detail::calling_threads::mark const here_now{port ? port->callers : nullptr};
            return detail::guarded_call(f);
        };
        if (!port || !port->submit) co_return guarded();
        pool_of_run pool{port};
        co_return co_await run_on(pool, *loop_, guarded);
    }

    /// The same as `checkpoint`, but asynchronous.
    task<result<void>> save(std::string text) const {
        if (!port || !port->write_checkpoint) co_return detail::no_checkpoints(job_name);
        co_return co_await port->write_checkpoint(*port, std::move(text));
    }

private:
    struct pool_of_run {
        detail::run_port* port;
        bool try_submit(work& w) const { return port->submit(*port, w); }
    };

    Loop* loop_;
};

} // namespace elasticjob
#endif // ELASTICJOB_EXECUTION_COROUTINE_CONTEXT_HPP
