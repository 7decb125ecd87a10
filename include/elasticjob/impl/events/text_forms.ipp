// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EVENTS_TEXT_FORMS_IPP
#define ELASTICJOB_IMPL_EVENTS_TEXT_FORMS_IPP

#include <elasticjob/core/line_text.hpp>
#include <elasticjob/events/text_forms.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL void append_escaped(std::string& out, std::string_view text) {
    constexpr std::string_view special = "\"\\\n\r\t", letters = "\"\\nrt";
    auto const is_plain = [](char c) { return c >= ' ' && c < 0x7f && c != '"' && c != '\\'; };
    auto const plain = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_plain) - text.begin());
    out.append(text.substr(0, plain)); // usually the whole text
    for_each_character(text.substr(plain), [&](std::string_view character) {
        if (auto const at = special.find(character.front()); at != special.npos)
            out.append({'\\', letters[at]});
        else if (is_unfit_for_line(character))
            append_code_point(out, character);
        else
            out.append(character);
    });
}

ELASTICJOB_DECL std::string clean_text(std::string_view text, std::size_t utf16_units_max) {
    std::string out;
    std::size_t units = 0;
    for_each_character(text, [&](std::string_view character) {
        units += character.size() == 4 ? 2 : 1;
        if (units <= utf16_units_max) out.append(character.front() == '\0' ? replacement_character : character);
    });
    return out;
}

ELASTICJOB_DECL void append_seconds(std::string& out, std::chrono::nanoseconds span) {
    auto micros = std::chrono::round<std::chrono::microseconds>(span).count();
    if (micros < 0) out += '-';
    if (micros < 0) micros = -micros;
    append_number(out, micros / 1'000'000);
    append_number(out += '.', micros % 1'000'000, 6);
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_EVENTS_TEXT_FORMS_IPP
