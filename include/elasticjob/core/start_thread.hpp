// SPDX-License-Identifier: Apache-2.0
/// \file \brief Starts a thread; that the system has none left is an error and no exception.
#ifndef ELASTICJOB_CORE_START_THREAD_HPP
#define ELASTICJOB_CORE_START_THREAD_HPP

#include <elasticjob/core/result.hpp>

#include <system_error>
#include <thread>
#include <utility>

namespace elasticjob::detail {

/// Errors: overloaded, with the system's reason.
template <class F>
result<std::thread> start_thread(F run) {
#if defined(__cpp_exceptions)
    try {
        return std::thread{std::move(run)};
    } catch (std::system_error const& e) {
        return error{errc::overloaded, e.what(), "std::thread"};
    }
#else
    return std::thread{std::move(run)};
#endif
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_CORE_START_THREAD_HPP
