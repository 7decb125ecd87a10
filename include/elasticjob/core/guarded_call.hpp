// SPDX-License-Identifier: Apache-2.0
/// \file \brief Calls user code, turns its outcome or its exception into a result, and joins results.
#ifndef ELASTICJOB_CORE_GUARDED_CALL_HPP
#define ELASTICJOB_CORE_GUARDED_CALL_HPP

#include <elasticjob/core/result.hpp>

#include <exception>
#include <type_traits>
#include <utility>

namespace elasticjob::detail {

/// `f()` returns nothing or a `result<void>`. Errors: job_threw, with the exception's text; those that `f` returns.
template <class F>
result<void> guarded_call(F const& f) {
    auto const call = [&]() -> result<void> {
        if constexpr (std::is_void_v<decltype(f())>) {
            f();
            return success();
        } else {
            return f();
        }
    };
#if defined(__cpp_exceptions)
    try {
        return call();
    } catch (std::exception const& e) {
        return error{errc::job_threw, e.what()};
    } catch (...) {
        return error{errc::job_threw, "something that is no std::exception"};
    }
#else
    return call();
#endif
}

/// Adds the outcome of a call to that of the calls before it. The first error keeps its code; if more follow, its text
/// contains all of them, each with its place.
inline void add_outcome(result<void>& all, result<void> one) {
    if (one) return;
    if (all) {
        all = std::move(one);
        return;
    }
    auto& first = all.error();
    if (auto const where = std::exchange(first.where, {}); !where.empty()) first.what.append(" (" + where + ")");
    first.what.append("; then ").append(to_string(one.error()));
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_CORE_GUARDED_CALL_HPP
