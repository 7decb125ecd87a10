// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONSOLE_PAGE_REPLY_IPP
#define ELASTICJOB_IMPL_CONSOLE_PAGE_REPLY_IPP

#include <elasticjob/console/page.hpp>
#include <elasticjob/console/page_reply.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL console_reply page_reply(console_request const& r) {
    if (!r.is_safe()) return problem({errc::invalid_argument, "this path takes GET", "method"}, 405);
    std::string path;
    for (auto const& segment : r.path) path += (path.empty() ? "" : "/") + segment;
    for (auto const& file : page_files) {
        if (file.path != path) continue;
        console_reply reply{200, std::string{file.content_type}};
        reply.headers.emplace_back("ETag", file.etag);
        reply.headers.emplace_back("Cache-Control",
                                   file.is_immutable ? "public, max-age=31536000, immutable" : "no-cache");
        if (r.header("if-none-match").find(file.etag) != std::string_view::npos) {
            reply.status = 304;
            return reply;
        }
        reply.headers.emplace_back("Content-Encoding", "gzip"); // every browser accepts it
        reply.body = file.gzip;
        return reply;
    }
    return problem({errc::no_node, "this path does not exist", path});
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CONSOLE_PAGE_REPLY_IPP
