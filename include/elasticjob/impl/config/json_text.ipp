// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONFIG_JSON_TEXT_IPP
#define ELASTICJOB_IMPL_CONFIG_JSON_TEXT_IPP

#include <elasticjob/config/json_text.hpp>
#include <elasticjob/core/algorithm.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL json_text::fault json_text::find_fault(std::size_t size_max) const noexcept {
    if (text_.size() > size_max) return {"a configuration must be at most 1 MiB long", size_max};
    // RapidJSON would take NUL for the end of the text.
    auto const nul = text_.find('\0');
    if (nul != text_.npos) return {"a configuration must not contain NUL", nul};
    return {nullptr, 0};
}

ELASTICJOB_DECL std::size_t json_text::line_at(std::size_t offset) const {
    auto const before = text_.substr(0, offset);
    return 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CONFIG_JSON_TEXT_IPP
