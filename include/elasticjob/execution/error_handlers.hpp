// SPDX-License-Identifier: Apache-2.0
/// \file \brief The handlers that are called after a failed run of an item.
#ifndef ELASTICJOB_EXECUTION_ERROR_HANDLERS_HPP
#define ELASTICJOB_EXECUTION_ERROR_HANDLERS_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/guarded_call.hpp>
#include <elasticjob/core/identity.hpp>
#include <elasticjob/events/log_events.hpp>
#include <elasticjob/execution/sharding_context.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace elasticjob {

/// A run that has failed: a value, which a handler may keep. Its members are those of `sharding_context`.
struct failed_run {
    std::string job;                          ///< the job's name
    item_index item = 0;                      ///< the item that was run
    std::string task_id;                      ///< of the firing
    std::string parameter;                    ///< the item's own
    wall_time due{};                          ///< the instant that the run was for
    run_source source = run_source::schedule; ///< why it was run
    std::uint32_t attempt = 1;                ///< from 1, for the same instant
    std::int64_t token = 0;                   ///< the run's fencing token
    instance_id instance;                     ///< the instance that ran it
    error failure;                            ///< the error or the exception of the body
    std::chrono::nanoseconds took{};          ///< with the listeners' `after`

    /// The time of the retry, by `job_config::retry`; nothing: the run has failed for good.
    std::optional<wall_time> retry_at{};
};

/// What an error handler decides.
enum class error_verdict : std::uint8_t {
    go_on,     ///< the next handler is called
    ends_here, ///< no other handler is called
    stop_job,  ///< this instance leaves the job; the next handler is called
};

namespace detail {

template <class A>
concept handler_answer = std::is_void_v<A> || std::same_as<A, result<void>> || std::same_as<A, error_verdict> ||
    std::same_as<A, result<error_verdict>>;

/// The answer of all handlers together.
struct handlers_answer {
    bool stops_job = false;
    result<void> trouble = success(); ///< the errors of all handlers, joined by `add_outcome`
};

} // namespace detail

/// | expression | returns                                 | is called                                               |
/// |------------|-----------------------------------------|---------------------------------------------------------|
/// | `h(run)`   | nothing, which is `go_on`, or an        | for each run of an item that has failed, on its         |
/// |            | `error_verdict`, or a `result` of these | instance, after the body and the listeners' `after`     |
///
/// An exception or an error of a handler is reported as trouble, and the next handler is called. The end of the run is
/// recorded when all handlers have returned, so a slow handler should use its own thread. Models: LogErrors,
/// IgnoreErrors, StopJob, Webhook, or a lambda.
/// Threads: the pool's, for several items at once, on one object.
template <class H>
concept error_handler = std::move_constructible<H> && requires(H& h, failed_run const& run) {
    { h(run) } -> detail::handler_answer;
};

/// A policy of the scheduler: the handlers are called in this order, until one of them ends the sequence. They are not
/// called for successful runs, for runs that never began, and for runs that the library has made stop (`stop_reason`:
/// session_lost, lease_over, reassigned, draining).
template <error_handler... Hs>
class ErrorHandlers {
public:
    static constexpr bool are_there = sizeof...(Hs) > 0;

    ErrorHandlers() = default;
    explicit ErrorHandlers(Hs... all) requires(sizeof...(Hs) > 0) : all_{std::move(all)...} {}

    using answer = detail::handlers_answer;
    answer operator()(failed_run const& run) {
        answer all;
        std::apply([&](auto&... hs) { (void)(asks_on(hs, run, all) && ...); }, all_);
        return all;
    }

private:
    /// Whether to call the next handler.
    template <class H>
    static bool asks_on(H& h, failed_run const& run, answer& all) {
        auto verdict = error_verdict::go_on;
        auto asked = detail::guarded_call([&]() -> result<void> {
            using given = decltype(h(run));
            if constexpr (std::is_void_v<given>) {
                h(run);
            } else if constexpr (std::same_as<given, result<void>>) {
                return h(run);
            } else if constexpr (std::same_as<given, error_verdict>) {
                verdict = h(run);
            } else {
                ELASTICJOB_TRY(verdict, h(run));
            }
            return success();
        });
        detail::add_outcome(all.trouble, std::move(asked));
        all.stops_job |= verdict == error_verdict::stop_job;
        return verdict != error_verdict::ends_here;
    }

    std::tuple<Hs...> all_;
};

namespace detail {
template <class P>
inline constexpr bool is_error_handlers = false;
template <class... Hs>
inline constexpr bool is_error_handlers<ErrorHandlers<Hs...>> = true;
} // namespace detail

/// Writes the same line to standard error as LogEvents, for schedulers with another sink.
struct LogErrors {
    void operator()(failed_run const& run) const;
};

namespace detail {
struct any_failure {
    constexpr bool operator()(failed_run const&) const noexcept { return true; }
};
} // namespace detail

/// Hides the failures that `which` selects from the handlers after it. `IgnoreErrors{}` hides all failures, and
/// `IgnoreErrors{[](failed_run const& run) { return run.retry_at.has_value(); }}` passes on only final failures. All
/// failures are still recorded and reported as events.
template <std::predicate<failed_run const&> Which = detail::any_failure>
class IgnoreErrors {
public:
    explicit IgnoreErrors(Which which = {}) : which_{std::move(which)} {}
    error_verdict operator()(failed_run const& run) {
        return which_(run) ? error_verdict::ends_here : error_verdict::go_on;
    }

private:
    Which which_;
};

/// Makes this instance leave the job in order, like a handle's `shutdown`: live runs may finish, and the items go to
/// other instances. If the item fails there too, they leave one after another, until the job has no instance. An
/// instance comes back when its process schedules the job again. After `IgnoreErrors{which}` it applies only to the
/// remaining failures.
struct StopJob {
    error_verdict operator()(failed_run const&) const noexcept { return error_verdict::stop_job; }
};

static_assert(error_handler<LogErrors> && error_handler<IgnoreErrors<>> && error_handler<StopJob>);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/error_handlers.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_ERROR_HANDLERS_HPP
