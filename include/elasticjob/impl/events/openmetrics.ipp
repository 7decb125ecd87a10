// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EVENTS_OPENMETRICS_IPP
#define ELASTICJOB_IMPL_EVENTS_OPENMETRICS_IPP

#include <elasticjob/core/line_text.hpp>
#include <elasticjob/events/openmetrics.hpp>

namespace elasticjob {

ELASTICJOB_DECL openmetrics_writer& openmetrics_writer::family(std::string_view name, std::string_view type,
                                                               std::string_view help, std::string_view unit) {
    name_ = name;
    text_.append("# TYPE ").append(name).append(" ").append(type).append("\n");
    if (!unit.empty()) text_.append("# UNIT ").append(name).append(" ").append(unit).append("\n");
    text_.append("# HELP ").append(name).append(" ");
    append_text(help);
    text_ += '\n';
    return *this;
}

ELASTICJOB_DECL std::string openmetrics_writer::number(double value) {
    char text[40];
    auto const end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 12).ptr;
    std::string_view const all{text, end};
    return std::string{all}.append(all.find_first_of(".en") == all.npos ? ".0" : "");
}

ELASTICJOB_DECL void openmetrics_writer::append_text(std::string_view text) {
    detail::for_each_character(text, [&](std::string_view character) {
        if (character == "\\" || character == "\"") text_ += '\\';
        text_.append(character == "\n" ? "\\n" : character);
    });
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_EVENTS_OPENMETRICS_IPP
