// SPDX-License-Identifier: Apache-2.0
/// \file \brief Identifies the operator who sends a request: by the session that a password or an identity provider has
/// opened, by a proxy, or not at all.
#ifndef ELASTICJOB_CONSOLE_GATE_HPP
#define ELASTICJOB_CONSOLE_GATE_HPP

#include <elasticjob/console/call.hpp>
#include <elasticjob/console/message.hpp>
#include <elasticjob/console/oidc_provider.hpp>
#include <elasticjob/console/options.hpp>
#include <elasticjob/console/pending_sign_ins.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

namespace elasticjob::detail {

/// The operators' names and the hashes of their passwords.
using password_hashes = std::map<std::string, std::string, std::less<>>;

/// Errors: malformed_data, which names the line.
result<password_hashes> parse_passwords(std::string_view text);

/// Errors: invalid_argument if the file cannot be read, or if users other than its owner may write it; those of
/// `parse_passwords`.
result<password_hashes> read_passwords(std::string const& file);

/// Whether crypt(3) returns the hash for the password.
bool is_password(std::string const& password, std::string const& hash);

/// Identifies operators. Threads: any.
class console_gate {
public:
    static constexpr std::size_t sessions_max = 1'000;
    static constexpr std::size_t operator_name_max = 100; ///< bytes
    static constexpr std::size_t operator_sessions_max = 50; ///< of one operator; one more ends the oldest
    static constexpr int failures_max = 5;                   ///< of one client, or for one operator, within a minute

    explicit console_gate(console_options const& o) : options_{o}, provider_{o.oidc} {}

    /// The operator who sends the request. Errors: no_auth, for an answer with 401.
    result<console_operator> identify(console_request const& r, mono_time now);

    /// Answers `POST session` and `DELETE session`. Reads the password file. Takes as long as crypt(3).
    console_reply sign_in(console_request const& r, mono_time now);
    console_reply sign_out(console_request const& r);

    /// Whether `answer_browser` answers this request: a path of signing in at an identity provider, or the page before
    /// that.
    bool takes(console_request const& r, mono_time now);

    /// Answers `GET sign-in` and `GET sign-in/return`, which a browser requests as pages. Waits for the provider.
    console_reply answer_browser(console_request const& r, mono_time now);

    /// Ends all present and future waits for the provider.
    void stop() { stop_.request_stop(); }

private:
    struct session {
        operator_identity who;
        mono_time ends;
    };
    struct failures {
        int count = 0;
        mono_time since{};
    };

    console_operator operator_for(operator_identity const& who) const {
        return {who.name, console_rights{options_.grants, who.name, who.groups}};
    }
    bool has_failed_often(std::string const& who, mono_time now);
    void note_failure(std::string const& who, mono_time now);

    /// The value of `Set-Cookie` for the operator's new session. Errors: overloaded. Precondition: the mutex is held.
    result<std::string> open_session(operator_identity who, mono_time now);

    console_reply begin_at_provider(console_request const& r, mono_time now);
    console_reply end_at_provider(console_request const& r, mono_time now);

    console_options const& options_;
    std::mutex mutex_;
    std::map<std::string, session, std::less<>> sessions_; ///< by the token in the cookie
    std::map<std::string, failures> failures_;
    oidc_provider provider_;
    pending_sign_ins pending_{};
    std::stop_source stop_{};
};

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/gate.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_GATE_HPP
