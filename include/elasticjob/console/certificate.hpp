// SPDX-License-Identifier: Apache-2.0
/// \file \brief The certificate with which a server speaks TLS. Needs OpenSSL, and `ELASTICJOB_HTTPS` defined; without
/// it no certificate can be loaded.
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
/// What OpenSSL makes of a certificate and its key, both in PEM: TLS 1.2 or later, with the ciphers that keep what has
/// been said secret when the key becomes known. Errors: invalid_argument if one of them cannot be read, if the key is
/// another one's or has a password, or if the certificate does not hold now.
result<std::unique_ptr<boost::asio::ssl::context>> make_tls_context(std::string const& certificate,
                                                                    std::string const& key);
#endif

/// A certificate and its key, in two files that may change. Threads: one.
class console_certificate {
public:
    /// Errors: invalid_argument, with the file, if a file cannot be read or others may read the key; those of
    /// `make_tls_context`.
    static result<console_certificate> load(std::string certificate_file, std::string key_file);

#if defined(ELASTICJOB_HTTPS)
    /// For the next connection: from the files as they are now. If they cannot be used, as when only one of them has
    /// been replaced yet, from those before.
    boost::asio::ssl::context& for_next();

private:
    /// What tells a file from the one that was there before.
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
