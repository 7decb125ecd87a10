// SPDX-License-Identifier: Apache-2.0
/// \file \brief A validated registry path.
#ifndef ELASTICJOB_CORE_PATH_HPP
#define ELASTICJOB_CORE_PATH_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/line_text.hpp> // utf8_length, is_control
#include <elasticjob/core/result.hpp>

#include <compare>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

namespace elasticjob {

/// An absolute path: the root, or elements with a slash before each. An element is not empty, is neither `.` nor `..`,
/// and is UTF-8 without control characters, characters of private use, and characters beyond U+FFEF. Every registry
/// accepts such a path, so no other code checks it again. (A path that libzookeeper refuses inside a transaction would
/// corrupt its heap.)
class node_path {
public:
    /// The root.
    node_path() : text_{"/"} {}

    /// Errors: invalid_path, with the reason.
    static result<node_path> parse(std::string_view text);

    /// Appends one element. Precondition: `element` is valid. Pass input from outside to `parse`, or to a type that
    /// checks it (job_name, instance_id).
    node_path operator/(std::string_view element) const { return below({element}); }

    /// Appends several elements, with one allocation. Precondition: each of them is valid.
    node_path below(std::initializer_list<std::string_view> elements) const;

    bool is_root() const noexcept { return text_.size() == 1; }
    std::string const& str() const noexcept { return text_; }

    /// The last element; empty for the root.
    std::string_view name() const noexcept { return std::string_view{text_}.substr(text_.rfind('/') + 1); }

    /// The root's parent is the root.
    node_path parent() const;

    friend auto operator<=>(node_path const&, node_path const&) = default;

    /// The reason why the text is no path element, or null.
    static constexpr char const* element_fault(std::string_view element) noexcept {
        if (element.empty()) return "a path must not have empty elements ('//')";
        if (element == "." || element == "..") return "a path must not have '.' or '..' as an element";
        for (std::size_t length = 0; !element.empty(); element.remove_prefix(length)) {
            length = detail::utf8_length(element);
            auto const character = element.substr(0, length);
            if (length == 0) return "a path must be UTF-8";
            if (detail::is_control(character)) return "a path must not have control characters";
            if (is_refused_by_zookeeper(character))
                return "a path must not have characters of private use, or beyond U+FFEF, because ZooKeeper refuses "
                       "them";
        }
        return nullptr;
    }

private:
    /// U+E000 to U+F8FF, and all from U+FFF0.
    static constexpr bool is_refused_by_zookeeper(std::string_view character) noexcept {
        auto const byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
        if (character.size() != 3) return character.size() == 4;
        bool const is_last = byte(1) == 0xbf && byte(2) >= 0xb0;
        return byte(0) == 0xee || (byte(0) == 0xef && (byte(1) < 0xa4 || is_last));
    }

    explicit node_path(std::string text) : text_{std::move(text)} {}
    std::string text_;
};

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/core/path.ipp>
#endif
#endif // ELASTICJOB_CORE_PATH_HPP
