// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_OUTPUT_LINES_IPP
#define ELASTICJOB_IMPL_EXECUTION_OUTPUT_LINES_IPP

#include <elasticjob/config/text.hpp> // trim
#include <elasticjob/core/line_text.hpp>
#include <elasticjob/execution/output_lines.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL void last_words::hear(std::string_view bytes) {
    constexpr std::size_t enough = 8 * bytes_max;
    if (bytes.size() > bytes_max) bytes.remove_prefix(bytes.size() - bytes_max);
    said_.append(bytes);
    if (said_.size() > enough) said_.erase(0, said_.size() - bytes_max);
}

ELASTICJOB_DECL std::string last_words::text() const {
    std::string_view rest = trim(said_);
    if (rest.size() > bytes_max) {
        rest.remove_prefix(rest.size() - bytes_max);
        if (auto const end = rest.find('\n'); end != rest.npos) rest.remove_prefix(end + 1);
    }
    std::string line;
    while (!rest.empty()) {
        auto const length = utf8_length(rest);
        if (rest.front() == '\n')
            line += " | ";
        else if (length == 0 || is_unfit_for_line(rest.substr(0, length)))
            line += '?';
        else
            line.append(rest.substr(0, length));
        rest.remove_prefix(length == 0 ? 1 : length);
    }
    return line;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_EXECUTION_OUTPUT_LINES_IPP
