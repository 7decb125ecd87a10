// SPDX-License-Identifier: Apache-2.0
/// \file \brief A validated registry path.
#ifndef ELASTICJOB_CORE_PATH_HPP
#define ELASTICJOB_CORE_PATH_HPP

#include <elasticjob/core/result.hpp>

#include <compare>
#include <string>
#include <string_view>

namespace elasticjob {

/// An absolute path: `/`, or elements that are not empty, not `.` or `..`, and free of control characters, each behind
/// a
/// `/`. A path that exists is a path that every registry accepts, so nothing is checked again further down (and a path
/// that libzookeeper refuses inside a transaction would corrupt its heap).
class node_path {
public:
    /// The root.
    node_path() : text_{"/"} {}

    /// Errors: invalid_path, which says what is wrong.
    template <class Path = node_path>
    static result<Path> parse(std::string_view text) {
        auto refuse = [&](char const* why) { return error{errc::invalid_path, why, std::string{text}}; };
        if (text.empty() || text.front() != '/') return refuse("a path must begin with '/'");
        if (text.size() == 1) return node_path{};
        if (text.back() == '/') return refuse("a path must not end with '/'");
        for (std::string_view rest = text.substr(1);;) {
            auto const end = rest.find('/');
            if (auto const why = element_fault(rest.substr(0, end))) return refuse(why);
            if (end == rest.npos) break;
            rest.remove_prefix(end + 1);
        }
        return node_path{std::string{text}};
    }

    /// One element deeper. Precondition: `element` is a valid element; what comes from outside goes through `parse`, or
    /// through a type that has checked it (job_name, instance_id).
    node_path operator/(std::string_view element) const {
        std::string text;
        text.reserve(text_.size() + 1 + element.size());
        if (!is_root()) text = text_;
        text.append("/").append(element);
        return node_path{std::move(text)};
    }

    bool is_root() const noexcept { return text_.size() == 1; }
    std::string const& str() const noexcept { return text_; }

    /// The last element; empty for the root.
    std::string_view name() const noexcept { return std::string_view{text_}.substr(text_.rfind('/') + 1); }

    /// The root's parent is the root.
    node_path parent() const {
        auto const end = text_.rfind('/');
        return end == 0 ? node_path{} : node_path{text_.substr(0, end)};
    }

    friend auto operator<=>(node_path const&, node_path const&) = default;

    /// Why this is no path element, or null.
    static constexpr char const* element_fault(std::string_view element) noexcept {
        if (element.empty()) return "a path must not have empty elements ('//')";
        if (element == "." || element == "..") return "a path must not have '.' or '..' as an element";
        for (char const c : element)
            if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return "a path must not have control characters";
        return nullptr;
    }

private:
    explicit node_path(std::string text) : text_{std::move(text)} {}
    std::string text_;
};

} // namespace elasticjob
#endif // ELASTICJOB_CORE_PATH_HPP
