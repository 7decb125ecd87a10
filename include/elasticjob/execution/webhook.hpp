// SPDX-License-Identifier: Apache-2.0
/// \file \brief Reports failed runs over HTTP. Needs Boost.Beast: see `http_client.hpp`.
#ifndef ELASTICJOB_EXECUTION_WEBHOOK_HPP
#define ELASTICJOB_EXECUTION_WEBHOOK_HPP

#include <elasticjob/config/json_writer.hpp>
#include <elasticjob/core/guarded_call.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/core/start_thread.hpp>
#include <elasticjob/events/queue_thread.hpp>
#include <elasticjob/events/text_forms.hpp>
#include <elasticjob/execution/error_handlers.hpp>
#include <elasticjob/execution/http_client.hpp>
#include <elasticjob/execution/token_bucket.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace elasticjob {

/// Makes the message for a failed run. `left_out`: the number of other failures since the last accepted message that no
/// message has reported. Models: WebhookJson, or a lambda. Threads: one.
template <class F>
concept webhook_format = std::move_constructible<F> && requires(F& f, failed_run const& run, std::uint64_t left_out) {
    { f(run, left_out) } -> std::convertible_to<std::string>;
};

/// `{"event":"run_failed","text":"settle[1] failed on 10.0.0.1@-@7-x: job_failed:
/// …","job":"settle","item":1,…,"leftOut":0}`. Slack and similar services show the member `text`.
struct WebhookJson {
    std::string operator()(failed_run const& run, std::uint64_t left_out) const {
        auto const text = [](std::string const& from) { return detail::clean_text(from, 4'000); };
        auto line = run.job + "[" + std::to_string(run.item) + "] failed on " + run.instance.str() + ": " +
                    to_string(run.failure);
        if (left_out > 0) line.append(", and ").append(std::to_string(left_out)).append(" more have failed");
        auto const ms = std::chrono::floor<std::chrono::milliseconds>(run.took).count();
        json_writer json;
        json.member("event", "run_failed")
            .member("text", text(line))
            .member("job", text(run.job))
            .member("item", run.item)
            .member("taskId", text(run.task_id))
            .member("parameter", text(run.parameter))
            .member("due", detail::format_instant(run.due))
            .member("source", name_of(run.source))
            .member("attempt", run.attempt)
            .member("token", run.token)
            .member("instance", run.instance.str())
            .member("tookMs", ms)
            .member("error", name_of(run.failure.code))
            .member("what", text(run.failure.what))
            .member("where", text(run.failure.where))
            .member("leftOut", left_out);
        if (run.retry_at) json.member("retryAt", detail::format_instant(*run.retry_at));
        return json.finish();
    }
};

/// The rate of messages, and the limits of the queue.
struct webhook_options {
    int per_minute = 30;                            ///< one message every 60 s / `per_minute`, when
    int at_once = 10;                               ///< so many have gone out without a pause
    std::size_t depth_max = 1'000;                  ///< failures that may wait; one more drops the oldest
    std::chrono::milliseconds drain_timeout{5'000}; ///< how long the destructor waits for the waiting messages
};

namespace detail {

struct kept_failure {
    failed_run run;
    void keep(failed_run const& r) { run = r; }
};
using failure_ring = events::basic_event_ring<kept_failure>;

template <class Format>
class webhook_worker {
public:
    webhook_worker(http_request to, Format format, token_bucket rate)
        : to_{std::move(to)},
          format_{std::move(format)},
          rate_{rate} {}

    /// Called with one failure at a time, so that all others wait in the queue.
    template <class Queue>
    void work(failure_ring const& batch, Queue& queue) {
        for (std::size_t n = 0; n < batch.size(); ++n) {
            if (next_) ++queue.account().dropped;
            next_ = batch[n].run;
        }
        if (next_ && !queue.is_abandoned() && rate_.take(std::chrono::steady_clock::now())) send(queue);
    }

    /// When the failure that the rate has held back may be reported.
    mono_time next_look() const noexcept { return next_ ? rate_.next() : mono_time::max(); }

    /// Reports the last failure, whatever the rate.
    template <class Queue>
    void finish(Queue& queue) {
        if (!next_) return;
        if (queue.is_abandoned())
            ++queue.account().dropped;
        else
            send(queue);
    }

private:
    template <class Queue>
    void send(Queue& queue) {
        auto& account = queue.account();
        std::uint64_t const untold = account.dropped + account.failed;
        auto const taken = guarded_call([&]() -> result<void> {
            http_headers headers;
            if (!to_.has_header("Content-Type")) headers.emplace_back("Content-Type", "application/json");
            ELASTICJOB_CHECK(send_http(to_, headers, format_(*next_, untold - told_), queue.abandoned()));
            return success();
        });
        next_.reset();
        ++(taken ? account.done : account.failed);
        if (taken) told_ = untold;
    }

    http_request to_;
    Format format_;
    token_bucket rate_;
    std::optional<failed_run> next_; ///< the newest failure that the rate has held back
    std::uint64_t told_ = 0;         ///< the number of dropped and failed ones that a message has reported
};

} // namespace detail

/// An error handler that sends a POST (or PUT, PATCH) for each failure, on its own thread and through a bounded queue,
/// so that no run waits for a slow or absent receiver. No message is sent twice. The rate limits the number of
/// messages. If there are more failures, the newest one waits for its turn, and its message says how many others were
/// left out. The first accepted message after unaccepted ones does the same.
///
/// The destructor sends the waiting messages for up to `drain_timeout`, and drops the rest. Movable. Threads: any;
/// `account` too.
template <webhook_format Format = WebhookJson>
class Webhook {
public:
    /// `format` makes the body of each message. Errors: invalid_argument if the request cannot have a body or has its
    /// own, or if an option is out of its bounds; overloaded if no thread can be started.
    [[nodiscard]] static result<Webhook> start(http_request to, webhook_options options = {}, Format format = {}) {
        auto const wrong = [](std::string what, std::string where) {
            return error{errc::invalid_argument, std::move(what), std::move(where)};
        };
        if (!to.takes_body() || to.options().body)
            return wrong("the message is the body: must be POST, PUT or PATCH, without a body of its own", "method");
        if (options.per_minute < 1 || options.per_minute > 6'000) return wrong("must be from 1 to 6000", "per_minute");
        if (options.at_once < 1 || options.at_once > 6'000) return wrong("must be from 1 to 6000", "at_once");
        detail::token_bucket const rate{options.at_once,
                                        std::chrono::nanoseconds{std::chrono::minutes{1}} / options.per_minute,
                                        std::chrono::steady_clock::now()};
        return detail::make_with_threads([&] { return Webhook{{std::move(to), std::move(format), rate}, options}; });
    }

    void operator()(failed_run const& run) { queue_.push(run); }

    /// `done`: accepted messages; `failed`: messages that were not accepted, for whatever reason; `dropped`: failures
    /// without a message, because the queue was full or the rate was reached. Stays valid when this object is moved
    /// into a scheduler.
    std::shared_ptr<queue_account const> account() const { return queue_.account(); }

private:
    Webhook(detail::webhook_worker<Format> worker, webhook_options const& o)
        : queue_{std::move(worker), {.depth_max = o.depth_max, .batch_max = 1, .drain_timeout = o.drain_timeout}} {}

    detail::queue_thread<detail::webhook_worker<Format>, detail::failure_ring> queue_;
};

static_assert(error_handler<Webhook<>>);

} // namespace elasticjob
#endif // ELASTICJOB_EXECUTION_WEBHOOK_HPP
