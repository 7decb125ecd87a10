// SPDX-License-Identifier: Apache-2.0
/// \file \brief What a command of the program prints: rows with named columns, as a table for people or as JSON.
#ifndef ELASTICJOB_COMMAND_LINE_REPORT_HPP
#define ELASTICJOB_COMMAND_LINE_REPORT_HPP

#include <elasticjob/config/json_writer.hpp>
#include <elasticjob/core/line_text.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob::cli {

/// One value of a row.
class cell {
public:
    cell(std::string text) : text_{std::move(text)} {}                   // NOLINT: a row is a list of values
    cell(std::string_view text) : text_{text} {}                         // NOLINT
    cell(char const* text) : text_{text} {}                              // NOLINT
    cell(bool value) : text_{value ? "true" : "false"}, is_raw_{true} {} // NOLINT
    template <std::integral Number>
    cell(Number value) : text_{std::to_string(value)},
                         is_raw_{true} {} // NOLINT
    /// A list of texts.
    cell(std::vector<std::string> const& all) : is_raw_{true} { // NOLINT
        for (auto const& one : all) {
            shown_ += (shown_.empty() ? "" : ", ") + one;
            text_ += text_.empty() ? "[" : ",";
            detail::append_json_string(text_, one);
        }
        text_ += all.empty() ? "[]" : "]";
        is_list_ = true;
    }

    /// In a table: `-` for nothing, and no character that would break the line.
    std::string for_people() const {
        auto const& text = is_list_ ? shown_ : is_raw_ && text_ == "false" ? std::string{} : text_;
        if (text.empty()) return "-";
        if (is_raw_ && text == "true") return "yes";
        std::string fit;
        detail::append_line_text(fit, text);
        return fit;
    }
    void append_json(std::string& out) const {
        if (is_raw_)
            out += text_;
        else
            detail::append_json_string(out, text_);
    }

private:
    std::string text_{};
    std::string shown_{}; ///< a list for people
    bool is_raw_ = false; ///< JSON already
    bool is_list_ = false;
};

/// Rows with named columns.
struct report {
    std::vector<std::string> columns;
    std::vector<std::vector<cell>> rows{};
};

/// How many columns of a terminal a text takes: its characters, as far as this program prints any.
inline std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

/// A line of headings in capitals and a line for each row, in columns. Nothing follows the last column.
inline std::string to_table(report const& r) {
    std::vector<std::vector<std::string>> lines{{}};
    for (auto const& name : r.columns) {
        auto& heading = lines[0].emplace_back(name);
        for (auto& c : heading)
            if ('a' <= c && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    for (auto const& row : r.rows) {
        auto& line = lines.emplace_back();
        for (auto const& one : row) line.push_back(one.for_people());
    }
    std::vector<std::size_t> widths(r.columns.size());
    for (auto const& line : lines)
        for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], width_of(line[i]));
    std::string text;
    for (auto const& line : lines) {
        for (std::size_t i = 0; i < line.size(); ++i) {
            text += line[i];
            if (i + 1 < line.size()) text.append(widths[i] - width_of(line[i]) + 2, ' ');
        }
        text += '\n';
    }
    return text;
}

/// One JSON document: an array with an object for each row.
inline std::string to_json(report const& r) {
    std::string text{"["};
    for (auto const& row : r.rows) {
        text += &row == &r.rows.front() ? "\n{" : ",\n{";
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (i != 0) text += ',';
            detail::append_json_string(text, r.columns[i]);
            text += ':';
            row[i].append_json(text);
        }
        text += '}';
    }
    return text + "\n]\n";
}

} // namespace elasticjob::cli
#endif // ELASTICJOB_COMMAND_LINE_REPORT_HPP
