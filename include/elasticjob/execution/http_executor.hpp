// SPDX-License-Identifier: Apache-2.0
/// \file \brief Calls a service over HTTP for each item. Needs Boost.Beast, as `http_client.hpp` says.
#ifndef ELASTICJOB_EXECUTION_HTTP_EXECUTOR_HPP
#define ELASTICJOB_EXECUTION_HTTP_EXECUTOR_HPP

#include <elasticjob/config/job_config.hpp> // job_type
#include <elasticjob/core/guarded_call.hpp>
#include <elasticjob/execution/executor.hpp>
#include <elasticjob/execution/http_client.hpp>
#include <elasticjob/execution/http_context.hpp>

#include <concepts>
#include <string>
#include <type_traits>
#include <utility>

namespace elasticjob {

namespace detail {

template <class B>
concept makes_request = requires(B& b, sharding_context const& c) {
    { b(c) } -> std::convertible_to<result<http_request>>;
};

template <class B>
concept hears_answer = requires(B& b, sharding_context const& c, http_answer const& a) {
    b.answered(c, a);
};

} // namespace detail

/// The bodies that HttpExecutor can run: an `http_request` for all items, or a function object that makes one.
///
/// | expression            | returns                         | must hold                                                     |
/// |-----------------------|---------------------------------|---------------------------------------------------------------|
/// | `b(ctx)`              | `http_request`, or a `result`   | what is to be sent for this run; an error is that of the run  |
/// | `b.answered(ctx, a)`  | nothing, or `result<void>`      | if it is there: called with a good answer; what it gives is   |
/// |                       |                                 | what comes of the run                                         |
/// Threads: the pool's, for several items at once, on one object.
template <class B>
concept http_body = std::same_as<B, http_request> || detail::makes_request<B>;

/// Sends an HTTP request for each run of an item. A status of `http_options::success`, by default 2xx, is success.
/// Headers describe the run: see `http_run_headers`. If a POST, PUT or PATCH has no body of its own, the body contains
/// the same JSON.
///
/// When the stop token fires or the time is over, the connection is closed. The service may continue its work, so it
/// should check the fencing token. No request is sent again.
///
/// A thread of the pool waits for the answer. In a simulation the loop itself waits, in real time. In the registry, and
/// so to Java members, the job is a simple job.
struct HttpExecutor {
    static constexpr job_type type = job_type::simple;

    /// Errors: those of `detail::send_http`, but job_failed if the run was asked to stop, or timed_out if the reason
    /// was its time limit; too_large (`http_run_headers`); job_threw; those of the body.
    template <http_body Body>
    result<void> operator()(Body& body, sharding_context const& ctx) const {
        return detail::guarded_call([&] { return run(body, ctx); });
    }

    template <class Body, class>
    static constexpr void check_body() {
        static_assert(http_body<Body>,
                      "HttpExecutor takes an http_request, or a body that gives one or a result of one when "
                      "it is called with a sharding_context const&");
    }

private:
    template <class Body>
    static result<void> run(Body& body, sharding_context const& ctx) {
        if (ctx.stop.stop_requested()) return asked_to_stop("not sent", ctx);
        if constexpr (std::same_as<Body, http_request>) {
            return send(body, body, ctx);
        } else {
            result<http_request> const request = body(ctx);
            if (!request) return request.error();
            return send(*request, body, ctx);
        }
    }

    template <class Body>
    static result<void> send(http_request const& request, Body& body, sharding_context const& ctx) {
        ELASTICJOB_TRY(auto headers, http_run_headers(ctx));
        std::string content;
        if (request.takes_body() && !request.options().body) {
            content = script_argument(ctx);
            if (!request.has_header("Content-Type")) headers.emplace_back("Content-Type", "application/json");
        }
        auto const answer = detail::send_http(request, headers, content, ctx.stop);
        if (!answer && answer.error() == errc::closed) return asked_to_stop("broken off", ctx);
        if (!answer) return answer.error();
        if constexpr (detail::hears_answer<Body>)
            return detail::guarded_call([&]() -> decltype(auto) { return body.answered(ctx, *answer); });
        else
            return success();
    }

    static error asked_to_stop(std::string what, sharding_context const& ctx) {
        auto const why = ctx.why_stop();
        return error{why == stop_reason::time_limit ? errc::timed_out : errc::job_failed,
                     std::move(what) + ": the run has been asked to stop (" + std::string{name_of(why)} + ")"};
    }
};
static_assert(executor<HttpExecutor>);

} // namespace elasticjob
#endif // ELASTICJOB_EXECUTION_HTTP_EXECUTOR_HPP
