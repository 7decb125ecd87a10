// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONSOLE_OIDC_PROVIDER_IPP
#define ELASTICJOB_IMPL_CONSOLE_OIDC_PROVIDER_IPP

#include <elasticjob/config/text.hpp>
#include <elasticjob/console/encodings.hpp>
#include <elasticjob/console/guarded_file.hpp>
#include <elasticjob/console/loopback.hpp>
#include <elasticjob/console/oidc_provider.hpp>
#include <elasticjob/console/secret_text.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/execution/http_client.hpp>

#if defined(ELASTICJOB_HTTPS)
#include <openssl/evp.h>
#endif

#include <array>
#include <utility>

namespace elasticjob::detail {

ELASTICJOB_DECL std::string challenge_for([[maybe_unused]] std::string_view verifier) {
#if defined(ELASTICJOB_HTTPS)
    std::array<unsigned char, EVP_MAX_MD_SIZE> hash;
    unsigned size = 0;
    if (EVP_Digest(verifier.data(), verifier.size(), hash.data(), &size, EVP_sha256(), nullptr) == 1)
        return base64_url({reinterpret_cast<char const*>(hash.data()), size});
#endif
    return {};
}

/// Whether passwords and codes may be sent to this URL: with TLS, or without TLS to this machine if that is allowed.
inline bool is_trusted(http_url const& url, bool allows_plain_loopback) {
    return url.is_https() || (allows_plain_loopback && is_loopback(url.host()));
}

ELASTICJOB_DECL result<void> check(console_oidc const& o) {
    auto const wrong = [](char const* what, char const* where) {
        return error{errc::invalid_argument, what, std::string{"oidc."} + where};
    };
    if (!has_https)
        return wrong("OpenID Connect needs OpenSSL: define ELASTICJOB_HTTPS, and link libssl and libcrypto", "issuer");
    auto const issuer = http_url::parse(o.issuer);
    if (!issuer || o.issuer.find('?') != o.issuer.npos) return wrong("must be a URL without a query", "issuer");
    if (!is_trusted(*issuer, o.allows_plain_loopback)) return wrong("must begin with https://", "issuer");
    auto const here = http_url::parse(o.redirect_url);
    if (!here || !here->target().ends_with(oidc_return_path))
        return wrong("must be the URL of this console, with /sign-in/return at its end", "redirect_url");
    if (!here->is_https() && !is_loopback(here->host()) && here->host() != "localhost")
        return wrong("must begin with https://, except on loopback", "redirect_url");
    if (o.client_id.empty()) return wrong("name the client as which the provider knows this console", "client_id");
    if (o.name_claim.empty()) return wrong("name the claim that is the operator's name", "name_claim");
    if ((" " + o.scope + " ").find(" openid ") == std::string::npos) return wrong("must have the word openid", "scope");
    if (o.timeout.count() <= 0 || o.timeout > std::chrono::minutes{5})
        return wrong("must be more than 0, and at most 5 minutes", "timeout");
    auto const secret = read_guarded_file(o.client_secret_file, "the client's secret", guarded_against::reading);
    if (!secret) return secret.error();
    if (trim(*secret).empty()) return wrong("the file is empty", "client_secret_file");
    return success();
}

ELASTICJOB_DECL result<operator_identity> read_identity(console_oidc const& o, std::string_view id_token,
                                                        std::string_view nonce, wall_time now) {
    auto const wrong = [](std::string what) {
        return error{errc::no_auth, "the provider's identity is not accepted: " + std::move(what), "sign-in"};
    };
    auto const first = id_token.find('.'), last = id_token.rfind('.');
    bool const has_parts =
        first != id_token.npos && id_token.find('.', first + 1) == last && first != 0 && last + 1 != id_token.size();
    auto const json = has_parts ? from_base64_url(id_token.substr(first + 1, last - first - 1)) : std::nullopt;
    auto const claims =
        json ? read_flat_object(*json, oidc_provider::answer_max) : error{errc::malformed_data, "is no token"};
    if (!claims) return wrong("it is no token");
    if (claims->text("iss") != o.issuer) return wrong("iss is another issuer");
    auto const audience = claims->texts("aud");
    auto const party = claims->text("azp");
    if (std::find(audience.begin(), audience.end(), o.client_id) == audience.end())
        return wrong("aud does not name this client");
    bool const needs_party = audience.size() > 1 || claims->members.contains("azp");
    if (needs_party && party != o.client_id) return wrong("azp does not name this client");
    auto const seconds_now = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch());
    auto const expires = claims->seconds("exp"), issued = claims->seconds("iat");
    if (!expires || std::chrono::seconds{*expires} + oidc_provider::clock_skew <= seconds_now)
        return wrong("it has expired (exp); compare the clocks");
    if (!issued || std::chrono::seconds{*issued} > seconds_now + oidc_provider::clock_skew ||
        std::chrono::seconds{*issued} + oidc_provider::token_age_max + oidc_provider::clock_skew < seconds_now)
        return wrong("it was not issued just now (iat); compare the clocks");
    if (!is_same_secret(claims->text("nonce"), nonce)) return wrong("nonce is not that of this sign-in");
    operator_identity found{claims->text(o.name_claim), {}};
    if (!is_operator_name(found.name)) return wrong("it has no name in " + o.name_claim);
    if (o.name_claim == "email" && !claims->is_true("email_verified"))
        return wrong("nobody has verified that the address in email is the operator's");
    if (!o.groups_claim.empty()) found.groups = claims->texts(o.groups_claim);
    return found;
}

/// Sends one request to the provider. An answer with an error status is an answer too.
inline result<http_answer> ask_provider(console_oidc const& o, std::string const& url, http_options options,
                                        std::stop_token stop) {
    options.ca_file = o.ca_file;
    options.timeout = o.timeout;
    options.connect_timeout = o.timeout;
    options.answer_max = oidc_provider::answer_max;
    options.success = {{200, 299}, {400, 499}};
    options.headers.emplace_back("Accept", "application/json");
    ELASTICJOB_TRY(auto const request, http_request::make(url, std::move(options)));
    auto answer = send_http(request, {}, {}, std::move(stop));
    auto const refuse = [&](errc code, std::string what) {
        return error{code, "the identity provider " + std::move(what), std::string{request.url().host()}};
    };
    if (!answer) {
        auto const code = answer.error().code; // the error itself may repeat the provider's text
        if (code == errc::timed_out) return refuse(code, "does not answer in time");
        if (code == errc::unreachable) return refuse(code, "cannot be reached: " + answer.error().what);
        if (code == errc::closed) return refuse(code, "has not answered yet, and the console ends");
        return refuse(errc::unreachable, "gives an invalid answer");
    }
    if (answer->is_cut) return refuse(errc::malformed_data, "answers with more than 64 KiB");
    return answer;
}

ELASTICJOB_DECL result<oidc_provider::endpoints> oidc_provider::read_document(std::stop_token stop) const {
    auto url = options_.issuer;
    if (url.ends_with('/')) url.pop_back();
    http_options request;
    request.method = "GET";
    ELASTICJOB_TRY(auto const answer, ask_provider(options_, url + "/.well-known/openid-configuration",
                                                   std::move(request), std::move(stop)));
    auto const wrong = [&](char const* what) {
        return error{errc::malformed_data, std::string{"the document of the identity provider "} + what,
                     options_.issuer};
    };
    auto const document = read_flat_object(answer.body, answer_max);
    if (answer.status / 100 != 2 || !document) return wrong("is not there");
    if (document->text("issuer") != options_.issuer) return wrong("is another issuer's");
    endpoints found{document->text("authorization_endpoint"), document->text("token_endpoint"), true};
    for (auto const& endpoint : {found.authorization, found.token}) {
        auto const parsed = http_url::parse(endpoint);
        if (!parsed || !is_trusted(*parsed, options_.allows_plain_loopback))
            return wrong("leads to an address without https, or to none");
    }
    auto const ways = document->texts("token_endpoint_auth_methods_supported");
    auto const takes = [&](char const* way) { return std::find(ways.begin(), ways.end(), way) != ways.end(); };
    found.takes_basic = takes("client_secret_basic") || !takes("client_secret_post");
    return found;
}

ELASTICJOB_DECL result<oidc_provider::endpoints> oidc_provider::find_endpoints(mono_time now, std::stop_token stop) {
    {
        std::lock_guard const lock{mutex_};
        if (known_ && now < known_until_) return *known_;
    }
    ELASTICJOB_TRY(auto found, read_document(std::move(stop)));
    std::lock_guard const lock{mutex_};
    known_ = found;
    known_until_ = now + std::chrono::hours{1};
    return found;
}

ELASTICJOB_DECL result<std::string> oidc_provider::address_for(begun_sign_in const& s, mono_time now,
                                                               std::stop_token stop) {
    ELASTICJOB_TRY(auto const known, find_endpoints(now, std::move(stop)));
    auto const& begin = known.authorization;
    return begin + (begin.find('?') == begin.npos ? '?' : '&') +
           "response_type=code&client_id=" + form_escaped(options_.client_id) +
           "&redirect_uri=" + form_escaped(options_.redirect_url) + "&scope=" + form_escaped(options_.scope) +
           "&state=" + s.state + "&nonce=" + s.nonce + "&code_challenge=" + challenge_for(s.verifier) +
           "&code_challenge_method=S256";
}

ELASTICJOB_DECL bool is_error_code(std::string_view text) {
    auto const fits = [](char c) { return ('a' <= c && c <= 'z') || c == '_'; };
    return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), fits);
}

ELASTICJOB_DECL result<operator_identity> oidc_provider::redeem(std::string_view code, begun_sign_in const& s,
                                                                mono_time now, std::stop_token stop) {
    ELASTICJOB_TRY(auto const known, find_endpoints(now, stop));
    ELASTICJOB_TRY(auto const file,
                   read_guarded_file(options_.client_secret_file, "the client's secret", guarded_against::reading));
    auto const id = form_escaped(options_.client_id), secret = form_escaped(trim(file));
    http_options request;
    request.headers.emplace_back("Content-Type", "application/x-www-form-urlencoded");
    request.body = "grant_type=authorization_code&code=" + form_escaped(code) +
                   "&redirect_uri=" + form_escaped(options_.redirect_url) + "&code_verifier=" + s.verifier;
    if (known.takes_basic)
        request.headers.emplace_back("Authorization", "Basic " + base64(id + ":" + secret));
    else
        *request.body += "&client_id=" + id + "&client_secret=" + secret;
    ELASTICJOB_TRY(auto const answer, ask_provider(options_, known.token, std::move(request), std::move(stop)));
    auto const told = read_flat_object(answer.body, answer_max);
    if (answer.status / 100 != 2) {
        auto const why = told ? told->text("error") : std::string{};
        return error{errc::no_auth,
                     "the identity provider refuses the code" + (is_error_code(why) ? ": " + why : std::string{}),
                     "sign-in"};
    }
    if (!told) return error{errc::malformed_data, "the identity provider does not answer with a token", "sign-in"};
    return read_identity(options_, told->text("id_token"), s.nonce, SystemClock{}.wall_now());
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CONSOLE_OIDC_PROVIDER_IPP
