// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONFIG_JSON_WRITER_IPP
#define ELASTICJOB_IMPL_CONFIG_JSON_WRITER_IPP

#include <elasticjob/config/json_writer.hpp>
#include <elasticjob/core/line_text.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL void append_json_string(std::string& out, std::string_view text) {
    constexpr std::string_view short_forms = "\"\\\t\n\r\b\f", short_letters = "\"\\tnrbf", html = "<>&='";
    constexpr std::string_view line_separator = "\xe2\x80\xa8", paragraph_separator = "\xe2\x80\xa9";
    constexpr char hex[] = "0123456789abcdef";
    out += '"';
    for_each_character(text, [&](std::string_view character) {
        char const c = character.front();
        if (auto const at = short_forms.find(c); at != short_forms.npos)
            out.append({'\\', short_letters[at]});
        else if (static_cast<unsigned char>(c) < 0x20 || html.find(c) != html.npos)
            out.append("\\u00").append({hex[c >> 4], hex[c & 15]});
        else if (character == line_separator || character == paragraph_separator)
            append_code_point(out, character);
        else
            out.append(character);
    });
    out += '"';
}

} // namespace elasticjob::detail

namespace elasticjob {

ELASTICJOB_DECL json_writer& json_writer::open(std::string_view name) {
    begin(name) += '{';
    ends_ += '}';
    return *this;
}

ELASTICJOB_DECL json_writer& json_writer::open() {
    begin() += '{';
    ends_ += '}';
    return *this;
}

ELASTICJOB_DECL json_writer& json_writer::open_list(std::string_view name) {
    begin(name) += '[';
    ends_ += ']';
    return *this;
}

ELASTICJOB_DECL json_writer& json_writer::close() {
    text_ += ends_.back();
    ends_.pop_back();
    return *this;
}

ELASTICJOB_DECL std::string& json_writer::begin() {
    if (text_.back() != '{' && text_.back() != '[') text_ += ',';
    return text_;
}

ELASTICJOB_DECL std::string& json_writer::begin(std::string_view name) {
    detail::append_json_string(begin(), name);
    return text_ += ':';
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_CONFIG_JSON_WRITER_IPP
