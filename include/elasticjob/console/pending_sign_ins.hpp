// SPDX-License-Identifier: Apache-2.0
/// \file \brief Sign-ins that a browser has begun and an identity provider has not ended yet.
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

/// What is drawn for one sign-in: each a text of its own that nobody guesses.
struct begun_sign_in {
    std::string cookie{};   ///< tells the browser that has begun it from others
    std::string state{};    ///< which the provider hands back in the browser's address
    std::string nonce{};    ///< which the provider puts into the identity
    std::string verifier{}; ///< what only the one who has begun can show (RFC 7636)
};

/// Threads: any.
class pending_sign_ins {
public:
    static constexpr std::size_t all_max = 1'000;
    static constexpr std::size_t client_max = 100; ///< of one address
    static constexpr std::chrono::minutes length_max{10};

    /// Errors: overloaded.
    result<begun_sign_in> begin(std::string const& client, mono_time now);

    /// The sign-in that this browser has begun with this state, which cannot be taken again. Nothing if there is none,
    /// or if it has taken too long.
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
