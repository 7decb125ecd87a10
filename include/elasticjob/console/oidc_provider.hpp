// SPDX-License-Identifier: Apache-2.0
/// \file \brief An identity provider that speaks OpenID Connect. Needs the headers of Boost.Beast, OpenSSL, and
/// `ELASTICJOB_HTTPS` defined; without it no provider can be reached.
#ifndef ELASTICJOB_CONSOLE_OIDC_PROVIDER_HPP
#define ELASTICJOB_CONSOLE_OIDC_PROVIDER_HPP

#include <elasticjob/console/flat_object_codec.hpp>
#include <elasticjob/console/options.hpp>
#include <elasticjob/console/pending_sign_ins.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>

#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace elasticjob::detail {

struct operator_identity {
    std::string name{};
    std::vector<std::string> groups{};
};

/// The challenge that belongs to a verifier (RFC 7636, S256). Empty without OpenSSL.
std::string challenge_for(std::string_view verifier);

/// The claims of an ID token, as it comes from the provider itself over a connection that has been verified, which
/// stands in for a check of its signature (OpenID Connect Core 1.0, 3.1.3.7). Errors: no_auth, with the claim that is
/// not as it should be.
result<operator_identity> read_identity(console_oidc const& o, std::string_view id_token, std::string_view nonce,
                                        wall_time now);

/// Errors: invalid_argument, naming the option; those of `read_guarded_file`.
result<void> check(console_oidc const& o);

/// Whether a text is an error code of RFC 6749, which can be shown to anybody.
bool is_error_code(std::string_view text);

/// Knows where the provider answers from its own document, which is read again after an hour. Threads: any.
class oidc_provider {
public:
    static constexpr std::size_t answer_max = 65'536;     ///< bytes
    static constexpr std::chrono::seconds clock_skew{60}; ///< between the provider's clock and ours
    static constexpr std::chrono::minutes token_age_max{10};

    explicit oidc_provider(console_oidc const& o) : options_{o} {}

    /// Where the browser is to go. Waits for the provider's document if it is not known. Errors: unreachable,
    /// timed_out, closed; malformed_data for a document that is none, another provider's, or leads to addresses without
    /// TLS.
    result<std::string> address_for(begun_sign_in const& s, mono_time now, std::stop_token stop);

    /// Exchanges the code for an identity. Waits for the provider. Errors: no_auth if it refuses the code, or if the
    /// identity is not meant for this console; invalid_argument if the file with the secret cannot be read; otherwise
    /// as above.
    result<operator_identity> redeem(std::string_view code, begun_sign_in const& s, mono_time now,
                                     std::stop_token stop);

private:
    struct endpoints {
        std::string authorization, token;
        bool takes_basic = true; ///< the secret in a header; otherwise in the body
    };

    result<endpoints> find_endpoints(mono_time now, std::stop_token stop);
    result<endpoints> read_document(std::stop_token stop) const;

    console_oidc const& options_;
    std::mutex mutex_;
    std::optional<endpoints> known_;
    mono_time known_until_{};
};

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/oidc_provider.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_OIDC_PROVIDER_HPP
