// SPDX-License-Identifier: Apache-2.0
/// \file \brief A client of an identity provider for OpenID Connect. Needs the headers of Boost.Beast, OpenSSL, and
/// `ELASTICJOB_HTTPS` defined; otherwise no provider can be reached.
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

/// The challenge for a verifier (RFC 7636, S256). Empty without OpenSSL.
std::string challenge_for(std::string_view verifier);

/// The identity in an ID token. The token comes from the provider itself over a verified connection, which replaces a
/// check of its signature (OpenID Connect Core 1.0, 3.1.3.7). Errors: no_auth, which names the wrong claim.
result<operator_identity> read_identity(console_oidc const& o, std::string_view id_token, std::string_view nonce,
                                        wall_time now);

/// Errors: invalid_argument, which names the option; those of `read_guarded_file`.
result<void> check(console_oidc const& o);

/// Whether a text is an error code of RFC 6749. Such a text may be shown to any user.
bool is_error_code(std::string_view text);

/// Reads the provider's addresses from its own document, and reads that again after an hour. Threads: any.
class oidc_provider {
public:
    static constexpr std::size_t answer_max = 65'536;     ///< bytes
    static constexpr std::chrono::seconds clock_skew{60}; ///< the tolerance between the provider's clock and ours
    static constexpr std::chrono::minutes token_age_max{10};

    explicit oidc_provider(console_oidc const& o) : options_{o} {}

    /// The address to which the browser is sent. Waits for the provider's document if it is not known. Errors:
    /// unreachable, timed_out, closed; malformed_data if the document is invalid, is another provider's, or names
    /// addresses without TLS.
    result<std::string> address_for(begun_sign_in const& s, mono_time now, std::stop_token stop);

    /// Exchanges the code for an identity. Waits for the provider. Errors: no_auth if the provider refuses the code, or
    /// if the identity is for another client; invalid_argument if the file with the secret cannot be read; otherwise as
    /// above.
    result<operator_identity> redeem(std::string_view code, begun_sign_in const& s, mono_time now,
                                     std::stop_token stop);

private:
    struct endpoints {
        std::string authorization, token;
        bool takes_basic = true; ///< the secret goes into a header; otherwise into the body
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
