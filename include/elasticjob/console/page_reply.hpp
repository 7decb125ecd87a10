// SPDX-License-Identifier: Apache-2.0
/// \file \brief The files of the console's page.
#ifndef ELASTICJOB_CONSOLE_PAGE_REPLY_HPP
#define ELASTICJOB_CONSOLE_PAGE_REPLY_HPP

#include <elasticjob/console/message.hpp>
#include <elasticjob/core/decl.hpp>

namespace elasticjob::detail {

/// Answers a request that does not begin with `/api/`: with a compressed file of the page, with 304 if the client has
/// it already, or with an error.
console_reply page_reply(console_request const& r);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/page_reply.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_PAGE_REPLY_HPP
