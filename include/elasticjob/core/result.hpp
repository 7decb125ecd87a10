// SPDX-License-Identifier: Apache-2.0
/// \file \brief `result<T>`: a value or an `error`. The only header that includes Boost.Outcome.
#ifndef ELASTICJOB_CORE_RESULT_HPP
#define ELASTICJOB_CORE_RESULT_HPP

#include <elasticjob/core/error.hpp>

#include <boost/outcome/basic_result.hpp>

#include <cstdio>
#include <cstdlib>
#include <stdexcept> // runtime_error
#include <utility>

namespace elasticjob {

namespace detail {

/// Reports a call of `value()` on a failure with the failure's text, because such a call is a bug in the caller.
struct no_value_policy : boost::outcome_v2::policy::base {
    template <class Impl>
    static constexpr void wide_value_check(Impl&& self) {
        if (!base::_has_value(std::forward<Impl>(self))) refuse(base::_error(std::forward<Impl>(self)));
    }
    template <class Impl>
    static constexpr void wide_error_check(Impl&& self) {
        if (!base::_has_error(std::forward<Impl>(self))) refuse(error{errc::invalid_argument, "error() of a success"});
    }
    template <class Impl>
    static constexpr void wide_exception_check(Impl&&) {}

private:
    [[noreturn]] static void refuse(error const& e) {
#if defined(__cpp_exceptions)
        throw std::runtime_error(to_string(e));
#else
        std::fprintf(stderr, "elasticjob: %s\n", to_string(e).c_str());
        std::abort();
#endif
    }
};

template <class T>
using outcome_result = boost::outcome_v2::basic_result<T, error, no_value_policy>;

} // namespace detail

/// A value or an `error`. Made from either; use `if (r)`, `*r`, `r->`, `r.value()`, `r.error()`. `value()` on a failure
/// throws `std::runtime_error` with the error's text (without exceptions: prints it and aborts). `*r` and `r->` do not
/// check.
template <class T = void>
class [[nodiscard]] result : public detail::outcome_result<T> {
    using base = detail::outcome_result<T>;

public:
    using base::base;

    constexpr T& operator*() & noexcept { return this->assume_value(); }
    constexpr T const& operator*() const& noexcept { return this->assume_value(); }
    constexpr T&& operator*() && noexcept { return std::move(*this).assume_value(); }
    constexpr T* operator->() noexcept { return &this->assume_value(); }
    constexpr T const* operator->() const noexcept { return &this->assume_value(); }
};

/// Success or an `error`. Made from `success()` or an error.
template <>
class [[nodiscard]] result<void> : public detail::outcome_result<void> {
    using base = detail::outcome_result<void>;

public:
    using base::base;
};

/// The successful `result<void>`.
inline auto success() noexcept { return boost::outcome_v2::success(); }

} // namespace elasticjob

#define ELASTICJOB_DETAIL_GLUE_2(a, b) a##b
#define ELASTICJOB_DETAIL_GLUE(a, b) ELASTICJOB_DETAIL_GLUE_2(a, b)
#define ELASTICJOB_DETAIL_CHECK(leave, name, ...)                                                                      \
    auto name = (__VA_ARGS__);                                                                                         \
    if (!name.has_value()) leave std::move(name).as_failure()
#define ELASTICJOB_DETAIL_TRY(leave, name, declaration, ...)                                                           \
    ELASTICJOB_DETAIL_CHECK(leave, name, __VA_ARGS__);                                                                 \
    declaration = std::move(name).assume_value()

/// `ELASTICJOB_TRY(auto x, f());` returns f's error from the function, or continues with x. `ELASTICJOB_CHECK(f());`
/// returns the error or continues. Both are several statements, so never use them as the unbraced body of an `if` or a
/// loop.
#define ELASTICJOB_TRY(declaration, ...)                                                                               \
    ELASTICJOB_DETAIL_TRY(return, ELASTICJOB_DETAIL_GLUE(elasticjob_try_, __COUNTER__), declaration, __VA_ARGS__)
#define ELASTICJOB_CHECK(...)                                                                                          \
    ELASTICJOB_DETAIL_CHECK(return, ELASTICJOB_DETAIL_GLUE(elasticjob_try_, __COUNTER__), __VA_ARGS__)

/// The same inside a coroutine: `ELASTICJOB_CO_TRY(auto x, co_await f());`.
#define ELASTICJOB_CO_TRY(declaration, ...)                                                                            \
    ELASTICJOB_DETAIL_TRY(co_return, ELASTICJOB_DETAIL_GLUE(elasticjob_try_, __COUNTER__), declaration, __VA_ARGS__)
#define ELASTICJOB_CO_CHECK(...)                                                                                       \
    ELASTICJOB_DETAIL_CHECK(co_return, ELASTICJOB_DETAIL_GLUE(elasticjob_try_, __COUNTER__), __VA_ARGS__)

#endif // ELASTICJOB_CORE_RESULT_HPP
