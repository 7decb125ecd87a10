// SPDX-License-Identifier: Apache-2.0
/// \file \brief Fetches data and processes it, once or until there is no more data.
#ifndef ELASTICJOB_EXECUTION_DATAFLOW_EXECUTOR_HPP
#define ELASTICJOB_EXECUTION_DATAFLOW_EXECUTOR_HPP

#include <elasticjob/config/job_config.hpp> // job_type
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/guarded_call.hpp>
#include <elasticjob/execution/executor.hpp>
#include <elasticjob/execution/spread.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace elasticjob {

namespace detail {

template <class T>
struct fetched : std::type_identity<T> {};
template <class T>
struct fetched<result<T>> : std::type_identity<T> {};

/// The type of the fetched data, without the result around it.
template <class B>
using fetched_by =
    typename fetched<std::remove_cvref_t<decltype(std::declval<B&>().fetch(std::declval<sharding_context const&>()))>>::type;

template <class R>
concept fetched_data = std::ranges::random_access_range<R> && std::ranges::sized_range<R>;

/// The possible results of `process`: nothing, whether it succeeded, or the number of successful elements. A `bool` is
/// a number of one element only.
template <class A, class One = void>
concept process_answer = std::is_void_v<A> || std::same_as<A, result<void>> ||
    (std::integral<A> && (!std::same_as<A, bool> || std::same_as<One, bool>));

template <class B, class Data>
concept processes = requires(B& b, sharding_context const& c, Data data) {
    { b.process(c, data) } -> process_answer;
};
template <class B, class One>
concept processes_one = requires(B& b, sharding_context const& c, One one) {
    { b.process(c, one) } -> process_answer<bool>;
};

template <class Data>
using part_of = std::span<std::remove_reference_t<std::ranges::range_reference_t<Data>>>;

template <class B, class Data>
concept processes_parts = std::ranges::contiguous_range<Data> && processes<B, part_of<Data>>;

} // namespace detail

/// | expression              | returns                               | must hold                                         |
/// |-------------------------|---------------------------------------|---------------------------------------------------|
/// | `b.fetch(ctx)`          | a range that knows its size and can   | what is to be processed next; nothing ends the    |
/// |                         | be indexed, or a `result` of one      | run. `ctx.fetch_count` says how much is wanted    |
/// | `b.process(ctx, data)`  | nothing, `result<void>`, or how many  | for all that was fetched; if it takes a           |
/// |                         | elements it has processed well        | `std::span`, for parts, which threads can share   |
/// | `b.process(ctx, one)`   | likewise; `false` and 0 say that it   | instead of the former, if each element is a       |
/// |                         | has not been processed well           | matter of its own: all of them are tried          |
template <class B>
concept dataflow_body = requires { typename detail::fetched_by<B>; } && detail::fetched_data<detail::fetched_by<B>> &&
    (detail::processes_parts<B, detail::fetched_by<B>> || detail::processes<B, detail::fetched_by<B>&> ||
     detail::processes_one<B, std::ranges::range_reference_t<detail::fetched_by<B>>>);

/// A body made from two functions.
template <class Fetch, class Process>
struct dataflow {
    Fetch fetch;     ///< called as `b.fetch(ctx)`
    Process process; ///< called as `b.process(ctx, …)`
};
template <class Fetch, class Process>
dataflow(Fetch, Process) -> dataflow<Fetch, Process>;

/// JT-2, JT-3. Fetches data and processes it, once. With `job_config::streaming_process` it repeats this until it
/// fetches no more data, the run is asked to stop, the job is shut down or disabled here, or the job no longer streams.
/// It checks these conditions after processing and before the next fetch. So fetched data is always processed, or the
/// run fails.
///
/// If `job_config::dataflow.threads` is more than 1, parts of the data are processed at the same time, on free threads
/// of the pool and on this one. All parts are processed, and the first failure is the failure of the run. The body must
/// be safe for concurrent calls. Successful and failed elements are counted: see `job_config::dataflow.count_interval`.
struct DataflowExecutor {
    static constexpr job_type type = job_type::dataflow;

    /// Errors: job_threw, with the exception of the body or of an element; those of the body; job_failed if processing
    /// of elements failed.
    template <dataflow_body Body>
    result<void> operator()(Body& body, sharding_context const& ctx) const {
        bool const is_streaming = ctx.config && ctx.config->streaming_process;
        for (;;) {
            std::optional<detail::fetched_by<Body>> data;
            std::size_t size = 0;
            ELASTICJOB_CHECK(detail::guarded_call([&]() -> result<void> {
                ELASTICJOB_CHECK(fetch(body, ctx, data));
                size = std::ranges::size(*data);
                return success();
            }));
            if (size == 0) return success();
            ELASTICJOB_CHECK(process(body, ctx, *data, size));
            bool const yields = ctx.stop.stop_requested() || (ctx.port && ctx.port->is_to_yield.load());
            if (!is_streaming || yields) return success();
        }
    }

    template <class Body, class>
    static constexpr void check_body() {
        constexpr bool fetches = requires { typename detail::fetched_by<Body>; };
        static_assert(fetches,
                      "DataflowExecutor calls body.fetch(context), with a sharding_context const&: this body has no "
                      "such fetch");
        if constexpr (fetches) {
            constexpr bool is_data = detail::fetched_data<detail::fetched_by<Body>>;
            static_assert(is_data,
                          "DataflowExecutor: fetch has to return a range that has a size and random access, or a "
                          "result of one");
            static_assert(
                !is_data || dataflow_body<Body>,
                "DataflowExecutor calls body.process(context, data) with an element, a std::span of them or all "
                "that was fetched, and takes void, result<void> or a number (a bool for an element only): this body "
                "has no such process");
        }
    }

private:
    template <class Body, class Data>
    static result<void> fetch(Body& body, sharding_context const& ctx, std::optional<Data>& into) {
        if constexpr (std::convertible_to<decltype(body.fetch(ctx)), Data>) {
            into.emplace(body.fetch(ctx));
        } else {
            auto data = body.fetch(ctx);
            if (!data) return std::move(data).error();
            into.emplace(*std::move(data));
        }
        return success();
    }

    template <class Body, class Data>
    static result<void> process(Body& body, sharding_context const& ctx, Data& data, std::size_t size) {
        if constexpr (!detail::processes_parts<Body, Data> && detail::processes<Body, Data&>) {
            return process_part(body, ctx, [&]() -> Data& { return data; }, size);
        } else {
            std::size_t const threads = ctx.process_threads == 0 ? 1 : ctx.process_threads;
            auto const parts = std::min(threads, size);
            std::vector<result<void>> outcomes(parts, success());
            auto const one_part = [&](std::size_t n) {
                auto const from = size * n / parts, to = size * (n + 1) / parts;
                if constexpr (detail::processes_parts<Body, Data>) {
                    auto const part = [&] {
                        auto const first = std::ranges::begin(data) + static_cast<std::ptrdiff_t>(from);
                        return detail::part_of<Data>{std::to_address(first), to - from};
                    };
                    outcomes[n] = process_part(body, ctx, part, to - from);
                } else {
                    for (auto i = from; i != to; ++i) {
                        auto const one = [&]() -> decltype(auto) {
                            return std::ranges::begin(data)[static_cast<std::ptrdiff_t>(i)];
                        };
                        auto const each = process_part(body, ctx, one, 1);
                        if (!each && outcomes[n]) outcomes[n] = each;
                    }
                }
            };
            detail::spread(ctx.port, parts, one_part);
            for (auto const& outcome : outcomes) {
                ELASTICJOB_CHECK(outcome);
            }
            return success();
        }
    }

    /// Calls the user's `process` for `count` elements and counts the results. The elements come from `find_part()`,
    /// which may also run the user's code: the function of a view that computes its elements when they are read.
    template <class Body, class FindPart>
    static result<void> process_part(Body& body, sharding_context const& ctx, FindPart const& find_part, std::size_t size) {
        std::uint64_t well = size;
        auto outcome = detail::guarded_call([&]() -> result<void> {
            auto&& part = find_part();
            using answer = decltype(body.process(ctx, part));
            if constexpr (std::is_void_v<answer>) {
                body.process(ctx, part);
                return success();
            } else if constexpr (std::integral<answer>) {
                auto const n = static_cast<std::int64_t>(body.process(ctx, part));
                well = n < 0 ? 0 : std::min<std::uint64_t>(size, static_cast<std::uint64_t>(n));
                if (well == size) return success();
                return error{errc::job_failed, std::to_string(size - well) + " of " + std::to_string(size) +
                                                   " elements were not processed well"};
            } else {
                return body.process(ctx, part);
            }
        });
        if (!outcome && well == size) well = 0;
        if (ctx.port) ctx.port->count(well, size - well);
        return outcome;
    }
};

static_assert(executor<DataflowExecutor>);

} // namespace elasticjob
#endif // ELASTICJOB_EXECUTION_DATAFLOW_EXECUTOR_HPP
