// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CORE_IDENTITY_IPP
#define ELASTICJOB_IMPL_CORE_IDENTITY_IPP

#include <elasticjob/core/identity.hpp>
#include <elasticjob/core/path.hpp>

namespace elasticjob {

ELASTICJOB_DECL result<job_name> job_name::parse(std::string_view text) {
    auto refuse = [&](std::string why) {
        return error{errc::invalid_argument, std::move(why), std::string{text.substr(0, 256)}};
    };
    if (text.empty()) return refuse("job name must not be empty");
    if (text.size() > 200) return refuse("job name must be at most 200 bytes long");
    if (text.find('/') != text.npos) return refuse("job name must not contain '/': it is one element of a path");
    if (text.find(identity_delimiter) != text.npos)
        return refuse("job name must not contain '@-@', which separates the parts of a task id");
    if (auto const* fault = node_path::element_fault(text))
        return refuse("job name must be an element of a path: " + std::string{fault});
    return job_name{text};
}

ELASTICJOB_DECL result<instance_id> instance_id::parse(std::string_view text) {
    if (auto const at = text.find(identity_delimiter); at == text.npos || text.find('/') != text.npos)
        return error{errc::malformed_data, "an instance id must look like <ip>@-@<token>",
                     std::string{text.substr(0, 256)}};
    return instance_id{std::string{text}};
}

ELASTICJOB_DECL std::string_view instance_id::server() const noexcept {
    return std::string_view{text_}.substr(0, text_.find(identity_delimiter));
}

ELASTICJOB_DECL std::string_view instance_id::token() const noexcept {
    auto const at = text_.find(identity_delimiter);
    return at == text_.npos ? std::string_view{} : std::string_view{text_}.substr(at + identity_delimiter.size());
}

ELASTICJOB_DECL bool instance_id::is_java() const noexcept {
    auto const id = token();
    return !id.empty() && id.find_first_not_of("0123456789") == id.npos;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_CORE_IDENTITY_IPP
