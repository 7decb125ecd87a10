// SPDX-License-Identifier: Apache-2.0
/// \file \brief Carries out a run between its recorded start and its recorded end: calls the body, hooks and handlers.
#ifndef ELASTICJOB_SCHEDULER_BODY_CALLS_HPP
#define ELASTICJOB_SCHEDULER_BODY_CALLS_HPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/hash.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/core/run_on.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/events/event.hpp>
#include <elasticjob/execution/after_run.hpp>
#include <elasticjob/execution/coroutine_context.hpp>
#include <elasticjob/execution/error_handlers.hpp> // failed_run
#include <elasticjob/execution/run_record.hpp>
#include <elasticjob/scheduler/element_counts.hpp>
#include <elasticjob/scheduler/item_state.hpp>
#include <elasticjob/scheduler/job_body.hpp>
#include <elasticjob/scheduler/line_relay.hpp>
#include <elasticjob/scheduler/live_batch.hpp>
#include <elasticjob/scheduler/live_run.hpp>
#include <elasticjob/scheduler/rounds.hpp>
#include <elasticjob/scheduler/run_context.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob::detail {

/// Calls the job's body. Threads: the loop's; bodies, hooks and handlers run on the pool.
template <class Environment>
class body_calls {
    using Loop = typename Environment::loop_type;
    using item_state = detail::item_state<Environment>;
    using live_run = detail::live_run<Environment>;
    using live_batch = detail::live_batch<Environment>;
    using hold = typename Environment::lease_type::hold;

public:
    /// Everything but the body must outlive this object.
    /// `rounds` is null if there are no round hooks.
    body_calls(run_context<Environment>& s, job_body<Loop> body, rounds<Environment>* rounds,
               element_counts<Environment>& counts);

    /// Carries out the run that is live in the item's record. `h` is null if the job is not monitored. The result
    /// decides what becomes of the run; the record does not contain it yet.
    task<body_end> call(item_state& e, std::shared_ptr<valid_config const> config, hold const* h);

    /// Whether no abandoned body is still running.
    bool is_idle() const noexcept { return given_up_ == 0; }

    /// A run that begins from now on is asked to stop at once.
    void drain() noexcept { is_draining_ = true; }

private:
    struct body_call;

    /// Reports a script's output as events, until its run is given up.
    struct line_teller {
        body_call& call;
        void operator()(script_stream stream, std::string_view text, std::size_t dropped, std::uint64_t lost) const;
    };

    /// A call of the body, which may outlast its run.
    struct body_call {
        body_call(run_context<Environment>& s, item_state& e, hold const* h, std::shared_ptr<valid_config const> c);
        live_run live;
        std::shared_ptr<valid_config const> config;
        coroutine_context<Loop> ctx; ///< other bodies see only its base
        line_relay<Loop, line_teller> lines;
        enum class phase : std::uint8_t {
            waiting, ///< for a thread of the pool
            called,
            unneeded, ///< not called: the run was given up or asked to stop before that
        };
        std::atomic<phase> is{phase::waiting};
        std::optional<result<void>> outcome{}; ///< the loop's
        std::shared_ptr<body_call> joined{};   ///< the call before this one in its batch
        std::optional<result<void>> answer{};  ///< from a batch; the pool's until the batch has returned

        bool was_called() const noexcept { return is.load() == phase::called; }
        /// A thread of the pool is about to call the body. Nothing: it may. An error: the run has been given up, or
        /// asked to stop, so another instance may soon run the item. A simulated pool calls twice: when the run begins,
        /// and when it ends.
        std::optional<error> refuse();
    };

    /// Fills in the context that the body receives.
    void describe(body_call& call, item_state const& e, run_begin const& what) const;

    /// How long a run that was requested early has to wait until it begins as its record says. 0 if that is too long:
    /// then the clock has been put back.
    std::chrono::nanoseconds time_until(wall_time begin) const;

    /// Waits for it. Runs of the same instant go on in the same turn, so they can share a batch.
    task<void> wait_until(wall_time begin);

    static task<void> stop_after(Loop& l, std::chrono::milliseconds limit, stop_order& order);

    /// Calls the body: once for all runs that begin in this turn if it takes batches.
    task<void> carry_out(std::shared_ptr<body_call> call);
    result<void> call_body(body_call& last) const;
    void call_batch(body_call& last) const;

    /// Waits until the body has ended or its run is given up. A body that was given up no longer affects the item. A
    /// `limit` of 0 means no limit.
    task<void> wait_for_body(item_state& e, body_call& call, std::chrono::milliseconds limit);
    static result<void> given_up(std::chrono::milliseconds limit, bool was_called);

    /// Returns the name of the run in events.
    events::run_name tell_start(item_state const& e, body_call& call, run_begin const& what);

    /// The end of a call that has an outcome or has been given up.
    static body_end end_of(body_call const& call, std::chrono::milliseconds give_up_after, stop_reason stopped_by,
                           events::run_name run);

    /// The caller keeps the arguments alive until the handlers have returned.
    task<void> ask_handlers(sharding_context const& ctx, body_end const& ended, std::chrono::nanoseconds took);

    void tell_end(item_state const& e, run_begin const& what, body_end const& ended, std::chrono::nanoseconds took);
    static std::optional<wall_time> retry_at(body_end const& ended);

    run_context<Environment>& context_;
    job_body<Loop> body_;
    rounds<Environment>* rounds_;
    element_counts<Environment>& counts_;
    retry_budget retries_;
    event_count<Loop> begin_news_;     ///< notified when a run that was requested early begins
    std::shared_ptr<body_call> batch_; ///< the last of the calls that are joining
    int given_up_ = 0;                 ///< the number of abandoned bodies that still run
    std::uint64_t runs_begun_ = 0;
    bool is_draining_ = false;
    task_scope tasks_; ///< last: its tasks use all of the above
};

template <class Environment>
body_calls<Environment>::body_calls(run_context<Environment>& s, job_body<Loop> body,
                                    detail::rounds<Environment>* rounds, element_counts<Environment>& counts)
    : context_{s},
      body_{std::move(body)},
      rounds_{rounds},
      counts_{counts},
      begin_news_{s.loop()} {}

template <class Environment>
auto body_calls<Environment>::call(item_state& e, std::shared_ptr<valid_config const> config, hold const* h)
    -> task<body_end> {
    auto const what = *e.life.record().running;
    auto const call = std::make_shared<body_call>(context_, e, h, std::move(config));
    auto& live = call->live;
    auto& ctx = call->ctx;
    describe(*call, e, what);
    live.is_to_yield = !context_.terms.may_stream;
    e.live = &live;
    if (is_draining_) live.order.give(stop_reason::draining);
    if (!e.life.is_ours()) live.order.give(stop_reason::reassigned);
    if (h && time_until(what.begun).count() > 0) {
        co_await wait_until(what.begun);
        if (!h->is_valid()) live.order.give(stop_reason::lease_over);
    }
    if (rounds_ && what.source != run_source::trigger) co_await rounds_->begin(e.item(), what.due);
    if (e.run->together) co_await live_batch::begin(e);
    auto const run = tell_start(e, *call, what);
    if (context_.env.listeners.hear_before()) {
        auto const hear = [&] { return context_.env.listeners.before(ctx); };
        co_await context_.call(hear);
    }
    task_scope limit;
    if (context_.terms.time_limit.count() > 0)
        limit.spawn(stop_after(context_.loop(), context_.terms.time_limit, live.order));
    auto const began = context_.now();
    auto const give_up_after = context_.terms.give_up_after;
    if (give_up_after.count() == 0 && !body_.takes_batches()) {
        co_await carry_out(call);
    } else {
        tasks_.spawn(carry_out(call));
        co_await wait_for_body(e, *call, give_up_after);
    }
    auto const stopped_by = live.order.why_it_ends(); // before another reason can be set
    auto const took = context_.now() - began;
    while (live.saving > 0) co_await e.woken.newer_than(e.woken.edition()); // checkpoints that no body waits for
    live.end_progress();
    auto ended = end_of(*call, give_up_after, stopped_by, run);
    if (context_.env.listeners.hear_after() && call->was_called()) {
        auto const hear = [&] { return context_.env.listeners.after(ctx, ended.outcome); };
        co_await context_.call(hear);
    }
    if (e.run->together) co_await live_batch::end(e);
    auto const seed = mix_bits(fnv_1a(context_.name.str()) + e.item());
    ended.again = context_.aftermath().retry_of(e.life.record(), ended, seed, retries_);
    if (context_.env.error_handlers.are_there() && ended.has_failed()) co_await ask_handlers(ctx, ended, took);
    counts_.take(e);
    tell_end(e, what, ended, took);
    while (live.relaying > 0) co_await e.woken.newer_than(e.woken.edition());
    e.live = nullptr;
    co_return ended;
}

template <class Environment>
events::run_name body_calls<Environment>::tell_start(item_state const& e, body_call& call, run_begin const& what) {
    events::run_name const run{++runs_begun_, *e.run->task_id, what.source, what.attempt, context_.wall_now()};
    context_.env.sink(
        events::item_started{context_.origin(), e.item(), what.due, what.source, what.attempt, e.life.token(), run});
    call.live.name = run;
    call.live.name.task_id = call.ctx.task_id; // `ctx` lives as long as the call
    return run;
}

template <class Environment>
body_end body_calls<Environment>::end_of(body_call const& call, std::chrono::milliseconds give_up_after,
                                         stop_reason stopped_by, events::run_name run) {
    bool const is_given_up = !call.live.item;
    bool const was_refused = !is_given_up && call.is.load() == body_call::phase::waiting;
    auto outcome = is_given_up ? given_up(give_up_after, call.was_called()) : *call.outcome;
    return {std::move(outcome), was_refused, stopped_by, run};
}

template <class Environment>
void body_calls<Environment>::line_teller::operator()(script_stream stream, std::string_view text, std::size_t dropped,
                                                      std::uint64_t lost) const {
    if (!call.live.item) return;
    auto& context = call.live.context;
    context.env.sink(events::script_output{context.origin(), call.ctx.item, call.ctx.due, stream, text, dropped, lost,
                                           call.live.name});
}

template <class Environment>
body_calls<Environment>::body_call::body_call(run_context<Environment>& s, item_state& e, hold const* h,
                                              std::shared_ptr<valid_config const> c)
    : live{s, e, h},
      config{std::move(c)},
      ctx{s.loop()},
      lines{s.loop(), line_teller{*this}} {
    ctx.lines = &lines;
    ctx.port = &live;
}

template <class Environment>
std::optional<error> body_calls<Environment>::body_call::refuse() {
    auto was = phase::waiting;
    auto const why = live.order.why();
    is.compare_exchange_strong(was, why == stop_reason::none ? phase::called : phase::unneeded);
    if (was_called()) return std::nullopt;
    return error{errc::job_failed,
                 "the run was asked to stop (" + std::string{name_of(why)} + ") before its body was called",
                 std::string{ctx.job_name}};
}

template <class Environment>
void body_calls<Environment>::describe(body_call& call, item_state const& e, run_begin const& what) const {
    auto& ctx = call.ctx;
    ctx.config = &call.config->config();
    ctx.job_name = context_.name.str();
    ctx.task_id = *e.run->task_id;
    ctx.sharding_total_count = static_cast<std::uint32_t>(ctx.config->sharding_total_count);
    ctx.job_parameter = ctx.config->job_parameter;
    ctx.item = e.item();
    ctx.parameter = call.config->parameters().find(e.item()).value_or("");
    ctx.due = what.due;
    if (what.source != run_source::trigger) ctx.after = context_.terms.due->round_at(what.due);
    ctx.stop = call.live.order.token();
    ctx.source = what.source;
    ctx.attempt = what.attempt;
    ctx.token = e.life.token();
    ctx.last_checkpoint = e.life.record().checkpoint;
    ctx.fetch_count = context_.terms.dataflow.fetch_count;
    ctx.process_threads = context_.terms.dataflow.threads;
}

template <class Environment>
std::chrono::nanoseconds body_calls<Environment>::time_until(wall_time begin) const {
    std::chrono::nanoseconds const early = begin - context_.loop().wall_now();
    return early <= start_ahead_max ? early : std::chrono::nanoseconds{0};
}

template <class Environment>
task<void> body_calls<Environment>::wait_until(wall_time begin) {
    auto const limit = context_.now() + 2 * start_ahead_max; // the clock may be put back
    for (auto early = time_until(begin); early.count() > 0 && context_.now() < limit; early = time_until(begin))
        co_await begin_news_.newer_than(begin_news_.edition(), std::min<mono_time>(context_.now() + early, limit));
    begin_news_.notify();
}

template <class Environment>
task<void> body_calls<Environment>::stop_after(Loop& l, std::chrono::milliseconds limit, stop_order& order) {
    co_await sleep_until(l, l.now() + limit);
    order.give(stop_reason::time_limit);
}

template <class Environment>
task<void> body_calls<Environment>::carry_out(std::shared_ptr<body_call> call) {
    result<void> called = success();
    if (body_.is_coroutine()) {
        if (auto refusal = call->refuse())
            called = *std::move(refusal);
        else
            called = co_await body_.start(call->ctx);
    } else {
        if (body_.takes_batches()) {
            call->joined = std::exchange(batch_, call);
            if (call->joined) co_return; // the first call of the batch calls the body for all
            co_await yield(context_.loop());
            call = std::exchange(batch_, nullptr);
        }
        auto const act = [&] { return call_body(*call); };
        called = co_await run_on(context_.env.pool, context_.loop(), act);
    }
    for (; call; call = std::exchange(call->joined, nullptr)) {
        // Threads that the body has left behind may still call the loop. After the outcome the item may be gone.
        while (call->live.is_loop_called()) co_await yield(context_.loop());
        call->outcome.emplace(call->answer ? *std::move(call->answer) : called);
        if (call->live.is_to_leave) context_.stand_down();
        if (call->live.item) {
            call->live.item->woken.notify();
        } else {
            --given_up_;
            context_.idle_news.notify();
        }
    }
}

template <class Environment>
result<void> body_calls<Environment>::call_body(body_call& last) const {
    calling_threads::mark const here_now{&context_.job.callers};
    if (!body_.takes_batches()) {
        if (auto refusal = last.refuse()) return *std::move(refusal);
        return body_(last.ctx);
    }
    call_batch(last);
    return success();
}

template <class Environment>
void body_calls<Environment>::call_batch(body_call& last) const {
    std::vector<body_call*> calls;
    std::vector<sharding_context const*> contexts;
    for (auto* one = &last; one; one = one->joined.get()) {
        if (auto refusal = one->refuse())
            one->answer.emplace(*std::move(refusal));
        else
            calls.push_back(one);
    }
    std::sort(calls.begin(), calls.end(), [](auto* a, auto* b) { return a->ctx.item < b->ctx.item; });
    for (auto const* one : calls) contexts.push_back(&one->ctx);
    if (calls.empty()) return;
    auto outcomes = body_(item_contexts{contexts});
    for (std::size_t n = 0; n < calls.size(); ++n) {
        if (n < outcomes.size())
            calls[n]->answer.emplace(std::move(outcomes[n]));
        else
            calls[n]->answer.emplace(error{errc::job_failed,
                                           "the executor returned " + std::to_string(outcomes.size()) +
                                               " results for a batch of " + std::to_string(calls.size()) + " items",
                                           context_.name.str()});
    }
}

template <class Environment>
task<void> body_calls<Environment>::wait_for_body(item_state& e, body_call& call, std::chrono::milliseconds limit) {
    auto const deadline = limit.count() == 0 ? mono_time::max() : context_.now() + limit;
    while (!call.outcome && context_.now() < deadline) {
        auto const seen = e.woken.edition();
        co_await e.woken.newer_than(seen, deadline);
    }
    if (call.outcome) co_return;
    call.live.item = nullptr;
    ++given_up_;
    auto waiting = body_call::phase::waiting;
    call.is.compare_exchange_strong(waiting, body_call::phase::unneeded);
    call.live.order.give(stop_reason::time_limit);
}

template <class Environment>
result<void> body_calls<Environment>::given_up(std::chrono::milliseconds limit, bool was_called) {
    auto const span = "give_up_after, " + std::to_string(limit.count()) + " ms";
    return error{errc::timed_out,
                 was_called ? "the run took longer than " + span + ", and was given up; its body may still go on"
                            : "no thread of the pool was free for the run within " + span,
                 ""};
}

template <class Environment>
task<void> body_calls<Environment>::ask_handlers(sharding_context const& ctx, body_end const& ended,
                                                 std::chrono::nanoseconds took) {
    auto const& failure = ended.outcome.error();
    failed_run const run{ctx.job_name, ctx.item,  ctx.task_id,   ctx.parameter, ctx.due, ctx.source,
                         ctx.attempt,  ctx.token, context_.self, failure,       took,    retry_at(ended)};
    bool stops_job = false;
    auto const ask = [&]() -> result<void> {
        auto answer = context_.env.error_handlers(run);
        stops_job = answer.stops_job;
        return std::move(answer.trouble);
    };
    co_await context_.call(ask);
    if (stops_job) context_.stand_down();
}

template <class Environment>
void body_calls<Environment>::tell_end(item_state const& e, run_begin const& what, body_end const& ended,
                                       std::chrono::nanoseconds took) {
    if (ended.was_refused && !ended.again) {
        context_.tell_skipped(e.item(), what.due, events::skip_reason::overloaded, 1, ended.run);
        return;
    }
    std::optional<error> failure;
    if (!ended.outcome) failure = ended.outcome.error();
    context_.env.sink(events::item_finished{context_.origin(), e.item(), what.due, took, failure, e.life.token(),
                                            ended.run, retry_at(ended)});
}

template <class Environment>
std::optional<wall_time> body_calls<Environment>::retry_at(body_end const& ended) {
    if (!ended.again) return std::nullopt;
    return ended.again->at;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_BODY_CALLS_HPP
