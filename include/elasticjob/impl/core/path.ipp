// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CORE_PATH_IPP
#define ELASTICJOB_IMPL_CORE_PATH_IPP

#include <elasticjob/core/path.hpp>

namespace elasticjob {

ELASTICJOB_DECL result<node_path> node_path::parse(std::string_view text) {
    auto refuse = [&](char const* why) { return error{errc::invalid_path, why, std::string{text}}; };
    if (text.empty() || text.front() != '/') return refuse("a path must begin with '/'");
    if (text.size() == 1) return node_path{};
    if (text.back() == '/') return refuse("a path must not end with '/'");
    for (std::string_view rest = text.substr(1);;) {
        auto const end = rest.find('/');
        if (auto const why = element_fault(rest.substr(0, end))) return refuse(why);
        if (end == rest.npos) break;
        rest.remove_prefix(end + 1);
    }
    return node_path{std::string{text}};
}

ELASTICJOB_DECL node_path node_path::below(std::initializer_list<std::string_view> elements) const {
    auto size = text_.size();
    for (auto const e : elements) size += 1 + e.size();
    std::string text;
    text.reserve(size);
    if (!is_root()) text = text_;
    for (auto const e : elements) text.append("/").append(e);
    return node_path{std::move(text)};
}

ELASTICJOB_DECL node_path node_path::parent() const {
    auto const end = text_.rfind('/');
    return end == 0 ? node_path{} : node_path{text_.substr(0, end)};
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_CORE_PATH_IPP
