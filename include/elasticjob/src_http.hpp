// SPDX-License-Identifier: Apache-2.0
/// \file \brief The compiled form of the HTTP client and of the metrics endpoint, beyond `src.hpp`. One file of a program
/// that includes <elasticjob/execution/http_executor.hpp>, <elasticjob/execution/webhook.hpp> or
/// <elasticjob/events/metrics_endpoint.hpp>, or that has a console, includes this. It needs Boost.Beast; for https
/// OpenSSL, too, and the whole program defines `ELASTICJOB_HTTPS`.
#ifndef ELASTICJOB_SRC_HTTP_HPP
#define ELASTICJOB_SRC_HTTP_HPP

#if !defined(ELASTICJOB_COMPILED)
#error "define ELASTICJOB_COMPILED for the whole program: without it, every file contains these definitions already"
#endif

#include <elasticjob/impl/events/metrics_endpoint.ipp>
#include <elasticjob/impl/events/metrics_server.ipp>
#include <elasticjob/impl/execution/http_client.ipp>

#endif // ELASTICJOB_SRC_HTTP_HPP
