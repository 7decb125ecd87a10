// SPDX-License-Identifier: Apache-2.0
/// \file \brief Makes certificates for servers on 127.0.0.1. Needs OpenSSL.
#ifndef ELASTICJOB_TEST_SUPPORT_CERTIFICATES_HPP
#define ELASTICJOB_TEST_SUPPORT_CERTIFICATES_HPP

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace elasticjob::test {

/// A self-signed certificate and its key, in PEM.
struct made_certificate {
    std::string certificate, key;
};

inline made_certificate make_certificate(std::chrono::seconds from = std::chrono::hours{-1},
                                         std::chrono::seconds until = std::chrono::hours{24},
                                         std::string const& password = {}) {
    std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> const key{EVP_EC_gen("P-256"), &EVP_PKEY_free};
    std::unique_ptr<X509, decltype(&X509_free)> const made{X509_new(), &X509_free};
    REQUIRE((key && made));
    X509_set_version(made.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(made.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(made.get()), from.count());
    X509_gmtime_adj(X509_getm_notAfter(made.get()), until.count());
    auto* const name = X509_get_subject_name(made.get());
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<unsigned char const*>("elasticjob"), -1, -1,
                               0);
    X509_set_issuer_name(made.get(), name);
    X509_set_pubkey(made.get(), key.get());
    auto* const names = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "IP:127.0.0.1");
    REQUIRE(names);
    X509_add_ext(made.get(), names, -1);
    X509_EXTENSION_free(names);
    REQUIRE(X509_sign(made.get(), key.get(), EVP_sha256()) > 0);
    auto const pem = [](auto write) {
        std::unique_ptr<BIO, decltype(&BIO_free)> const out{BIO_new(BIO_s_mem()), &BIO_free};
        REQUIRE(write(out.get()) == 1);
        char* text = nullptr;
        auto const size = BIO_get_mem_data(out.get(), &text);
        return std::string{text, static_cast<std::size_t>(size)};
    };
    auto const* const cipher = password.empty() ? nullptr : EVP_aes_128_cbc();
    return {pem([&](BIO* out) { return PEM_write_bio_X509(out, made.get()); }), pem([&](BIO* out) {
                return PEM_write_bio_PrivateKey(out, key.get(), cipher,
                                                reinterpret_cast<unsigned char const*>(password.data()),
                                                static_cast<int>(password.size()), nullptr, nullptr);
            })};
}

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SUPPORT_CERTIFICATES_HPP
