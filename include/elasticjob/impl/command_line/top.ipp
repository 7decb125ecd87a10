// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_COMMAND_LINE_TOP_IPP
#define ELASTICJOB_IMPL_COMMAND_LINE_TOP_IPP

#include <elasticjob/command_line/top.hpp>
#include <elasticjob/core/algorithm.hpp> // min

namespace elasticjob::cli {

ELASTICJOB_DECL bool top_view::ends_by(char key, std::size_t lines) {
    auto const page = std::max(lines, std::size_t{4}) - 3; // without the lines for title, headings and messages
    auto const rows = found_.rows ? found_.rows->rows.size() : 0;
    if (key == ' ') first_ += page;
    if (key == 'j') ++first_;
    if (key == 'b') first_ -= std::min(first_, page);
    if (key == 'k') first_ -= std::min(first_, std::size_t{1});
    first_ = std::min(first_, rows - std::min(rows, page));
    return key == 'q';
}

ELASTICJOB_DECL std::string top_view::text(arguments const& a, wall_time now, terminal::extent size,
                                           table_style style) const {
    auto const what = a.job.empty() ? std::string{"jobs"} : "items of " + a.job;
    auto const rows = found_.rows ? found_.rows->rows.size() : 0;
    auto const title = std::to_string(rows) + " " + what + (name_space_.empty() ? "" : " in " + name_space_) + ", " +
                       instant_text(std::chrono::floor<std::chrono::seconds>(now), style.zone) +
                       "   q: end   space, b: page   j, k: line";
    std::string text = cut_to(title, size.columns) + "\n";
    auto lines_left = size.lines - std::min(size.lines, std::size_t{2});
    if (found_.rows) {
        style.columns_max = size.columns;
        auto const table = to_table(*found_.rows, style);
        std::size_t line = 0; // line 0 has the headings
        for (std::size_t at = 0; at < table.size() && lines_left != 0; ++line) {
            auto const end = table.find('\n', at) + 1;
            if (line == 0 || line > first_) {
                text.append(table, at, end - at);
                --lines_left;
            }
            at = end;
        }
    }
    auto const& message = found_.messages;
    return text + cut_to(message.substr(0, message.find('\n')), size.columns);
}

} // namespace elasticjob::cli
#endif // ELASTICJOB_IMPL_COMMAND_LINE_TOP_IPP
