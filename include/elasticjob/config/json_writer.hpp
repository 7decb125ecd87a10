// SPDX-License-Identifier: Apache-2.0
/// \file \brief Writes JSON byte for byte as Java members do.
#ifndef ELASTICJOB_CONFIG_JSON_WRITER_HPP
#define ELASTICJOB_CONFIG_JSON_WRITER_HPP

#include <elasticjob/core/decl.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace elasticjob {

namespace detail {

/// Appends the text as a JSON string in Gson's HTML-safe form: escapes `<`, `>`, `&`, `=` and `'`, and U+2028 and
/// U+2029, which end a line in JavaScript. Other characters beyond ASCII are not escaped.
void append_json_string(std::string& out, std::string_view text);

} // namespace detail

/// Builds a JSON object without blanks: `json_writer{}.member("a", 1).open("b").close().finish()` returns
/// `{"a":1,"b":{}}`, and `json_writer{}.open_list("a").element("x").open().close().close().finish()` returns
/// `{"a":["x",{}]}`. Strings must be UTF-8.
class json_writer {
public:
    json_writer& member(std::string_view name, std::string_view value) {
        detail::append_json_string(begin(name), value);
        return *this;
    }
    json_writer& member(std::string_view name, std::integral auto value) {
        append(begin(name), value);
        return *this;
    }

    /// No member if there is no value.
    template <class Value>
    json_writer& member(std::string_view name, std::optional<Value> const& value) {
        return value ? member(name, *value) : *this;
    }

    /// An element of the list that was begun last.
    json_writer& element(std::string_view value) {
        detail::append_json_string(begin(), value);
        return *this;
    }

    /// Begins an object within this one.
    json_writer& open(std::string_view name);

    /// Begins an object that is an element of a list.
    json_writer& open();

    /// Begins a list.
    json_writer& open_list(std::string_view name);

    /// Ends the object or list that was begun last.
    json_writer& close();

    /// Ends the outermost object and returns the text. Precondition: every inner object and list has been closed.
    std::string finish() { return std::move(close().text_); }

private:
    static void append(std::string& out, std::integral auto value) {
        if constexpr (std::same_as<decltype(value), bool>)
            out += value ? "true" : "false";
        else
            out += std::to_string(value);
    }

    /// Each adds the comma if there is something before it.
    std::string& begin();
    std::string& begin(std::string_view name);

    std::string text_{"{"};
    std::string ends_{"}"}; ///< of what is open, the innermost last
};

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/config/json_writer.ipp>
#endif
#endif // ELASTICJOB_CONFIG_JSON_WRITER_HPP
