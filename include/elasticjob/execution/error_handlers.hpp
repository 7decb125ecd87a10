// SPDX-License-Identifier: Apache-2.0
/// \file \brief What is asked when the run of an item has failed.
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
    instance_id instance;                     ///< that ran it
    error failure;                            ///< what the body gave or threw
    std::chrono::nanoseconds took{}; ///< with the listeners' `after`

    /// When it is tried again, as `job_config::retry` has it; nothing: it has failed for good.
    std::optional<wall_time> retry_at{};
};

/// What an error handler decides.
enum class error_verdict : std::uint8_t {
    go_on,     ///< the next handler is asked
    ends_here, ///< no other is
    stop_job,  ///< this instance leaves the job; the next handler is asked
};

namespace detail {

template <class A>
concept handler_answer = std::is_void_v<A> || std::same_as<A, result<void>> || std::same_as<A, error_verdict> ||
    std::same_as<A, result<error_verdict>>;

} // namespace detail

/// | expression | returns                                 | is called                                               |
/// |------------|-----------------------------------------|---------------------------------------------------------|
/// | `h(run)`   | nothing, which is `go_on`, or an        | for each run of an item that has failed, on its         |
/// |            | `error_verdict`, or a `result` of these | instance, behind the body and the listeners' `after`    |
///
/// What it throws, or gives as an error, is told as trouble, and the next one is asked. The end of the run is recorded when
/// all have answered: who takes long should have a thread of his own. Models: LogErrors, IgnoreErrors, StopJob, Webhook, or a
/// lambda.
/// Threads: the pool's, for several items at once, on one object.
template <class H>
concept error_handler = std::move_constructible<H> && requires(H& h, failed_run const& run) {
    { h(run) } -> detail::handler_answer;
};

/// A policy of the scheduler: the handlers are asked in this order, until one ends it. Runs that have ended well are none
/// of their business, nor is what was never begun, or what fails because the library has made it stop (`stop_reason`: session_lost,
/// lease_over, reassigned, draining).
template <error_handler... Hs>
class ErrorHandlers {
public:
    static constexpr bool are_there = sizeof...(Hs) > 0;

    ErrorHandlers() = default;
    explicit ErrorHandlers(Hs... all) requires(sizeof...(Hs) > 0) : all_{std::move(all)...} {}

    struct answer {
        bool stops_job = false;
        result<void> trouble = success(); ///< the first error of a handler
    };
    answer operator()(failed_run const& run) {
        answer all;
        std::apply([&](auto&... hs) { (void)(asks_on(hs, run, all) && ...); }, all_);
        return all;
    }

private:
    /// Whether the next one is to be asked.
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
        if (all.trouble && !asked) all.trouble = std::move(asked);
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

/// A line on standard error, the one that LogEvents writes: for schedulers with another sink.
struct LogErrors {
    void operator()(failed_run const& run) const;
};

namespace detail {
struct any_failure {
    constexpr bool operator()(failed_run const&) const noexcept { return true; }
};
} // namespace detail

/// The handlers behind this one do not hear of the failures that `which` picks: `IgnoreErrors{}` of none,
/// `IgnoreErrors{[](failed_run const& run) { return run.retry_at.has_value(); }}` only of what has failed for good. Recorded and told as
/// events they are all the same.
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

/// This instance leaves the job, in order, as a handle's `shutdown` would: what runs may finish, and its items go to others.
/// If these fail at the item too, they leave one after another, until the job has no instance. It comes back when somebody
/// schedules it again. Behind `IgnoreErrors{which}` it is for some failures only.
struct StopJob {
    error_verdict operator()(failed_run const&) const noexcept { return error_verdict::stop_job; }
};

static_assert(error_handler<LogErrors> && error_handler<IgnoreErrors<>> && error_handler<StopJob>);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/error_handlers.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_ERROR_HANDLERS_HPP
