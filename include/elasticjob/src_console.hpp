// SPDX-License-Identifier: Apache-2.0
/// \file \brief The compiled form of what the console needs beyond `src.hpp`, with the files of its page. One file of a
/// program that includes <elasticjob/console/console_server.hpp> includes this and `src_http.hpp`. It needs the library
/// crypt; for TLS and OpenID Connect OpenSSL, and `ELASTICJOB_HTTPS` defined.
#ifndef ELASTICJOB_SRC_CONSOLE_HPP
#define ELASTICJOB_SRC_CONSOLE_HPP

#if !defined(ELASTICJOB_COMPILED)
#error "define ELASTICJOB_COMPILED for the whole program: without it, every file contains these definitions already"
#endif

#include <elasticjob/impl/console/access.ipp>
#include <elasticjob/impl/console/api.ipp>
#include <elasticjob/impl/console/browser_rules.ipp>
#include <elasticjob/impl/console/call.ipp>
#include <elasticjob/impl/console/certificate.ipp>
#include <elasticjob/impl/console/change_log.ipp>
#include <elasticjob/impl/console/connection.ipp>
#include <elasticjob/impl/console/console_server.ipp>
#include <elasticjob/impl/console/database_routes.ipp>
#include <elasticjob/impl/console/encodings.ipp>
#include <elasticjob/impl/console/flat_object_codec.ipp>
#include <elasticjob/impl/console/gate.ipp>
#include <elasticjob/impl/console/guarded_file.ipp>
#include <elasticjob/impl/console/http_reading.ipp>
#include <elasticjob/impl/console/http_service.ipp>
#include <elasticjob/impl/console/item_routes.ipp>
#include <elasticjob/impl/console/java_routes.ipp>
#include <elasticjob/impl/console/java_rows.ipp>
#include <elasticjob/impl/console/job_routes.ipp>
#include <elasticjob/impl/console/job_row.ipp>
#include <elasticjob/impl/console/list_routes.ipp>
#include <elasticjob/impl/console/loopback.ipp>
#include <elasticjob/impl/console/message.ipp>
#include <elasticjob/impl/console/oidc_provider.ipp>
#include <elasticjob/impl/console/options.ipp>
#include <elasticjob/impl/console/page_reply.ipp>
#include <elasticjob/impl/console/pending_sign_ins.ipp>
#include <elasticjob/impl/console/rows.ipp>
#include <elasticjob/impl/console/secret_text.ipp>
#include <elasticjob/impl/console/texts_codec.ipp>

namespace elasticjob::detail {
template class console_api<event_loop>;
} // namespace elasticjob::detail

#endif // ELASTICJOB_SRC_CONSOLE_HPP
