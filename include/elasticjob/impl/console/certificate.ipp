// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONSOLE_CERTIFICATE_IPP
#define ELASTICJOB_IMPL_CONSOLE_CERTIFICATE_IPP

#include <elasticjob/console/certificate.hpp>
#include <elasticjob/console/guarded_file.hpp>
#include <elasticjob/core/guarded_call.hpp>

#if defined(ELASTICJOB_HTTPS)
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#endif

#include <sys/stat.h>

namespace elasticjob::detail {

#if defined(ELASTICJOB_HTTPS)
ELASTICJOB_DECL result<std::unique_ptr<boost::asio::ssl::context>> make_tls_context(std::string const& certificate,
                                                                                    std::string const& key) {
    namespace ssl = boost::asio::ssl;
    boost::system::error_code failed;
    auto const wrong = [&](std::string what, char const* where) {
        return error{errc::invalid_argument, std::move(what), where};
    };
    auto made = std::make_unique<ssl::context>(ssl::context::tls_server);
    auto* const raw = made->native_handle();
    SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION);
    SSL_CTX_set_options(raw, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);     // clients keep sessions instead, as tickets
    SSL_CTX_set_cipher_list(raw, "ECDHE+AESGCM:ECDHE+CHACHA20"); // for TLS 1.2
    // Otherwise OpenSSL would ask for the password on the terminal.
    made->set_password_callback([](std::size_t, ssl::context::password_purpose) { return std::string{}; }, failed);

    made->use_certificate_chain(boost::asio::buffer(certificate), failed);
    auto const* const leaf = failed ? nullptr : SSL_CTX_get0_certificate(raw);
    if (!leaf) return wrong("holds no certificate in PEM (" + failed.message() + ")", "certificate_file");
    if (X509_cmp_current_time(X509_get0_notAfter(leaf)) < 0) return wrong("has expired", "certificate_file");
    if (X509_cmp_current_time(X509_get0_notBefore(leaf)) > 0) return wrong("does not hold yet", "certificate_file");

    made->use_private_key(boost::asio::buffer(key), ssl::context::pem, failed);
    auto const reason = ERR_GET_REASON(static_cast<unsigned long>(failed.value()));
    bool const is_others = failed && (reason == X509_R_KEY_VALUES_MISMATCH || reason == X509_R_KEY_TYPE_MISMATCH);
    if (is_others || (!failed && SSL_CTX_check_private_key(raw) != 1))
        return wrong("is not the key of the certificate", "key_file");
    if (failed) return wrong("holds no key in PEM without a password (" + failed.message() + ")", "key_file");
    return made;
}

ELASTICJOB_DECL result<console_certificate> console_certificate::load(std::string certificate_file,
                                                                      std::string key_file) {
    console_certificate one{std::move(certificate_file), std::move(key_file)};
    one.tried_ = {stamp_of(one.certificate_file_), stamp_of(one.key_file_)};
    ELASTICJOB_CHECK(one.read());
    return one;
}

ELASTICJOB_DECL result<void> console_certificate::read() {
    ELASTICJOB_TRY(auto const certificate,
                   read_guarded_file(certificate_file_, "the certificate", guarded_against::writing));
    ELASTICJOB_TRY(auto const key,
                   read_guarded_file(key_file_, "the key of the certificate", guarded_against::reading));
    auto made = make_tls_context(certificate, key);
    if (!made) {
        auto const& file = made.error().where == "key_file" ? key_file_ : certificate_file_;
        return error{made.error().code, made.error().where + " " + made.error().what, file};
    }
    context_ = *std::move(made);
    return success();
}

ELASTICJOB_DECL boost::asio::ssl::context& console_certificate::for_next() {
    std::pair const now{stamp_of(certificate_file_), stamp_of(key_file_)};
    if (now != tried_) {
        tried_ = now;
        (void)guarded_call([&] { return read(); });
    }
    return *context_;
}

ELASTICJOB_DECL console_certificate::stamp console_certificate::stamp_of(std::string const& file) {
    struct stat about {};
    if (::stat(file.c_str(), &about) != 0) return {};
    return {about.st_dev, about.st_ino, static_cast<std::uint64_t>(about.st_size),
            static_cast<std::uint64_t>(about.st_mtim.tv_sec), static_cast<std::uint64_t>(about.st_mtim.tv_nsec)};
}
#else
ELASTICJOB_DECL result<console_certificate> console_certificate::load(std::string certificate_file, std::string) {
    return error{errc::invalid_argument, "TLS needs OpenSSL: define ELASTICJOB_HTTPS, and link libssl and libcrypto",
                 std::move(certificate_file)};
}
#endif

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CONSOLE_CERTIFICATE_IPP
