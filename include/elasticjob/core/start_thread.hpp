// SPDX-License-Identifier: Apache-2.0
/// \file \brief Starts threads, and returns an error instead of throwing if the system cannot start more.
#ifndef ELASTICJOB_CORE_START_THREAD_HPP
#define ELASTICJOB_CORE_START_THREAD_HPP

#include <elasticjob/core/result.hpp>

#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace elasticjob::detail {

/// Returns the object that `make` creates. That object starts threads of its own. Errors: overloaded, with the system's
/// reason, if `make` throws std::system_error.
template <class F>
auto make_with_threads(F make) -> result<decltype(make())> {
#if defined(__cpp_exceptions)
    try {
        return make();
    } catch (std::system_error const& e) {
        return error{errc::overloaded, std::string{"the system has no thread left: "} + e.what(), "std::thread"};
    }
#else
    return make();
#endif
}

/// Errors: overloaded, with the system's reason.
template <class F>
result<std::thread> start_thread(F run) {
    return make_with_threads([&] { return std::thread{std::move(run)}; });
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_CORE_START_THREAD_HPP
