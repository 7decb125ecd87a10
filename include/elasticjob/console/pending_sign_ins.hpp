// SPDX-License-Identifier: Apache-2.0
/// \file \brief Sign-ins that a browser has begun and that are not finished yet.
#ifndef ELASTICJOB_CONSOLE_PENDING_SIGN_INS_HPP
#define ELASTICJOB_CONSOLE_PENDING_SIGN_INS_HPP

#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace elasticjob::detail {

/// The random texts of one sign-in, each different and unguessable.
struct begun_sign_in {
    std::string cookie{};   ///< identifies the browser that has begun the sign-in
    std::string state{};    ///< the provider returns it in the browser's address
    std::string nonce{};    ///< the provider puts it into the identity
    std::string verifier{}; ///< proves to the provider that the same console asks (RFC 7636)
};

/// Holds the unfinished sign-ins. Threads: any.
class pending_sign_ins {
public:
    static constexpr std::size_t all_max = 1'000;
    static constexpr std::size_t client_max = 100; ///< of one client's address
    static constexpr std::chrono::minutes length_max{10};

    /// Errors: overloaded.
    result<begun_sign_in> begin(std::string const& client, mono_time now);

    /// Removes and returns the sign-in that this browser has begun with this state. Nothing if there is none, or if it
    /// has taken too long.
    std::optional<begun_sign_in> take(std::string_view cookie, std::string_view state, mono_time now);

private:
    struct pending {
        begun_sign_in what;
        std::string client;
        mono_time ends;
    };

    std::mutex mutex_;
    std::map<std::string, pending, std::less<>> all_; ///< by the cookie
};

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/pending_sign_ins.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_PENDING_SIGN_INS_HPP
