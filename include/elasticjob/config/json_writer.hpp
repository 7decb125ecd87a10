// SPDX-License-Identifier: Apache-2.0
/// \file \brief Writes JSON byte for byte as Java members do.
#ifndef ELASTICJOB_CONFIG_JSON_WRITER_HPP
#define ELASTICJOB_CONFIG_JSON_WRITER_HPP

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace elasticjob {

namespace detail {

/// Appends the text as a JSON string in the HTML-safe manner of Gson: `<`, `>`, `&`, `=` and `'` are escaped, and so
/// are U+2028 and U+2029, which end a line in JavaScript. Everything else beyond ASCII stays what it is.
inline void append_json_string(std::string& out, std::string_view text) {
    constexpr std::string_view short_forms = "\"\\\t\n\r\b\f", short_letters = "\"\\tnrbf", html = "<>&='";
    constexpr std::string_view line_separator = "\xe2\x80\xa8", paragraph_separator = "\xe2\x80\xa9";
    constexpr char hex[] = "0123456789abcdef";
    out += '"';
    while (!text.empty()) {
        char const c = text.front();
        std::size_t length = 1;
        if (auto const at = short_forms.find(c); at != short_forms.npos) {
            out.append({'\\', short_letters[at]});
        } else if (static_cast<unsigned char>(c) < 0x20 || html.find(c) != html.npos) {
            out.append("\\u00").append({hex[c >> 4], hex[c & 15]});
        } else if (text.starts_with(line_separator) || text.starts_with(paragraph_separator)) {
            out.append(text.starts_with(line_separator) ? "\\u2028" : "\\u2029");
            length = line_separator.size();
        } else {
            out += c;
        }
        text.remove_prefix(length);
    }
    out += '"';
}

} // namespace detail

/// A JSON object in the making, without blanks: `json_writer{}.member("a", 1).open("b").close().finish()` gives
/// `{"a":1,"b":{}}`. Strings have to be UTF-8.
class json_writer {
public:
    json_writer& member(std::string_view name, std::string_view value) {
        detail::append_json_string(begin(name), value);
        return *this;
    }

    json_writer& member(std::string_view name, std::integral auto value) {
        if constexpr (std::same_as<decltype(value), bool>)
            begin(name) += value ? "true" : "false";
        else
            begin(name) += std::to_string(value);
        return *this;
    }

    /// Begins an object within this one.
    json_writer& open(std::string_view name) {
        begin(name) += '{';
        return *this;
    }

    /// Ends the object that was begun last.
    json_writer& close() {
        text_ += '}';
        return *this;
    }

    /// Ends the outermost object and gives the text away. Precondition: every inner object has been closed.
    std::string finish() { return std::move(close().text_); }

private:
    std::string& begin(std::string_view name) {
        if (text_.back() != '{') text_ += ',';
        detail::append_json_string(text_, name);
        return text_ += ':';
    }

    std::string text_{"{"};
};

} // namespace elasticjob
#endif // ELASTICJOB_CONFIG_JSON_WRITER_HPP
