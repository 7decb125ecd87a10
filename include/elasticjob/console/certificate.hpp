// SPDX-License-Identifier: Apache-2.0
/// \file \brief The certificate of a server that speaks TLS. Needs OpenSSL, and `ELASTICJOB_HTTPS` defined; otherwise
/// no certificate can be loaded.
#ifndef ELASTICJOB_CONSOLE_CERTIFICATE_HPP
#define ELASTICJOB_CONSOLE_CERTIFICATE_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/core/result.hpp>

#if defined(ELASTICJOB_HTTPS)
#include <boost/asio/ssl/context.hpp>
#endif

#include <array>
#include <cstdint>
#include <string>
#include <utility>

namespace elasticjob::detail {

#if defined(ELASTICJOB_HTTPS)
/// Makes OpenSSL's context from a certificate and its key, both in PEM: TLS 1.2 or later, only ciphers with forward
/// secrecy. Errors: invalid_argument if one of them cannot be read, if the key belongs to another certificate or has a
/// password, or if the certificate is not valid now.
result<std::unique_ptr<boost::asio::ssl::context>> make_tls_context(std::string const& certificate,
                                                                    std::string const& key);
#endif

/// A certificate and its key, in two files that may change. Threads: one.
class console_certificate {
public:
    /// Errors: invalid_argument, which names the file, if a file cannot be read or other users may read the key; those
    /// of `make_tls_context`.
    static result<console_certificate> load(std::string certificate_file, std::string key_file);

#if defined(ELASTICJOB_HTTPS)
    /// The context for the next connection, from the present files. If they cannot be used, for example because only
    /// one of them has been replaced yet, from the former files.
    boost::asio::ssl::context& for_next();

private:
    /// Identifies a version of a file.
    using stamp = std::array<std::uint64_t, 5>;
    static stamp stamp_of(std::string const& file);

    console_certificate(std::string certificate_file, std::string key_file)
        : certificate_file_{std::move(certificate_file)},
          key_file_{std::move(key_file)} {}

    result<void> read();

    std::string certificate_file_, key_file_;
    std::pair<stamp, stamp> tried_{};
    std::unique_ptr<boost::asio::ssl::context> context_{};
#endif
};

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/certificate.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_CERTIFICATE_HPP
