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

/// Appends the text as a JSON string in Gson's HTML-safe form. Escapes `<`, `>`, `&`, `=`, `'`, and also U+2028 and
/// U+2029, which end a line in JavaScript. Does not escape other characters beyond ASCII. Writes U+FFFD for each byte
/// that belongs to no UTF-8 character.
void append_json_string(std::string& out, std::string_view text);

} // namespace detail

/// Builds a JSON object without blanks: `json_writer{}.member("a", 1).open("b").close().finish()` returns
/// `{"a":1,"b":{}}`, and `json_writer{}.open_list("a").element("x").open().close().close().finish()` returns
/// `{"a":["x",{}]}`. A byte that belongs to no UTF-8 character is written as U+FFFD.
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

    /// Adds no member if there is no value.
    template <class Value>
    json_writer& member(std::string_view name, std::optional<Value> const& value) {
        return value ? member(name, *value) : *this;
    }

    /// Adds an element to the innermost list.
    json_writer& element(std::string_view value) {
        detail::append_json_string(begin(), value);
        return *this;
    }

    /// Begins an object as a member of the present object.
    json_writer& open(std::string_view name);

    /// Begins an object as an element of the present list.
    json_writer& open();

    /// Begins a list.
    json_writer& open_list(std::string_view name);

    /// Ends the innermost object or list.
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

    /// Adds a comma if there is an element or a member before.
    std::string& begin();
    std::string& begin(std::string_view name);

    std::string text_{"{"};
    std::string ends_{"}"}; ///< closing brackets of the open objects and lists, the innermost last
};

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/config/json_writer.ipp>
#endif
#endif // ELASTICJOB_CONFIG_JSON_WRITER_HPP
