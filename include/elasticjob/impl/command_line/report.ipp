// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_COMMAND_LINE_REPORT_IPP
#define ELASTICJOB_IMPL_COMMAND_LINE_REPORT_IPP

#include <elasticjob/command_line/report.hpp>
#include <elasticjob/config/json_writer.hpp>
#include <elasticjob/core/line_text.hpp>
#include <elasticjob/events/text_forms.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <utility>

namespace elasticjob::cli {

namespace detail {

inline std::string json_of(std::string_view text) {
    std::string json;
    elasticjob::detail::append_json_string(json, text);
    return json;
}

/// SGR parameters; empty: no change of colour.
inline std::string_view colour_of(std::string_view word) {
    constexpr std::array good{"OK", "ok", "done", "completed"};
    constexpr std::array poor{"DISABLED", "disabled", "SHARDING_FLAG", "sharding_due",
                              "unowned",  "retrying", "retried",       "skipped"};
    constexpr std::array bad{"CRASHED", "no_instances", "unreadable", "orphaned",
                             "failed",  "interrupted",  "refused",    "damaged"};
    auto const is_in = [&](auto const& all) { return std::find(all.begin(), all.end(), word) != all.end(); };
    return is_in(good) ? "32" : is_in(poor) ? "33" : is_in(bad) ? "31" : "";
}

inline void append_coloured(std::string& line, std::string_view text, std::string_view colour) {
    if (colour.empty())
        line += text;
    else
        line.append("\x1b[").append(colour).append("m").append(text).append("\x1b[0m");
}

inline void append_object(std::string& text, std::vector<std::string> const& columns, std::vector<cell> const& row) {
    text += '{';
    for (std::size_t i = 0; i < row.size(); ++i) {
        if (i != 0) text += ',';
        text.append(json_of(columns[i])).append(":").append(row[i].json());
    }
    text += '}';
}

inline bool has_row(report const& r, std::vector<cell> const& row, std::size_t cells) {
    auto const last = static_cast<std::ptrdiff_t>(cells);
    return std::any_of(r.rows.begin(), r.rows.end(), [&](auto const& one) {
        return std::equal(row.begin(), row.begin() + last, one.begin(), one.begin() + last);
    });
}

} // namespace detail

ELASTICJOB_DECL cell::cell(std::string text) : json_{detail::json_of(text)}, shown_{std::move(text)} {}
ELASTICJOB_DECL cell::cell(std::string_view text) : cell{std::string{text}} {}
ELASTICJOB_DECL cell::cell(char const* text) : cell{std::string{text}} {}
ELASTICJOB_DECL cell::cell(bool value) : json_{value ? "true" : "false"}, shown_{value ? "yes" : ""} {}
ELASTICJOB_DECL cell::cell(wall_time instant) : cell{std::optional{instant}} {}
ELASTICJOB_DECL cell::cell(std::optional<wall_time> instant) : json_{"null"}, instant_{instant} {
    if (instant) json_ = '"' + elasticjob::detail::format_instant(*instant) + '"';
}
ELASTICJOB_DECL cell::cell(std::vector<std::string> const& all) {
    for (auto const& one : all) {
        shown_ += (shown_.empty() ? "" : ", ") + one;
        json_ += (json_.empty() ? "[" : ",") + detail::json_of(one);
    }
    json_ += all.empty() ? "[]" : "]";
}

ELASTICJOB_DECL std::string cell::for_people(table_style const& style) const {
    if (instant_) return instant_text(*instant_, style.zone);
    if (shown_.empty()) return "-";
    std::string fit;
    elasticjob::detail::append_line_text(fit, shown_);
    return fit;
}

ELASTICJOB_DECL std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

ELASTICJOB_DECL std::string cut_to(std::string_view text, std::size_t columns_max) {
    if (width_of(text) <= columns_max) return std::string{text};
    std::string cut;
    for (std::size_t column = 1; column < columns_max; ++column) {
        auto const length = std::max(elasticjob::detail::utf8_length(text), std::size_t{1});
        cut += text.substr(0, length);
        text.remove_prefix(length);
    }
    return columns_max == 0 ? cut : cut + "…";
}

ELASTICJOB_DECL std::string instant_text(wall_time t, zone_ref const* zone) {
    auto const offset = zone ? zone->at(std::chrono::floor<std::chrono::seconds>(t)).offset : std::chrono::seconds{0};
    auto text = elasticjob::detail::format_instant(t + offset, ' ', "");
    if (text.ends_with(".000")) text.resize(text.size() - 4);
    if (!zone) return text + " UTC";
    auto const minutes = std::chrono::abs(std::chrono::duration_cast<std::chrono::minutes>(offset)).count();
    char sign[16];
    std::snprintf(sign, sizeof sign, " %c%02d:%02d", offset.count() < 0 ? '-' : '+', static_cast<int>(minutes / 60),
                  static_cast<int>(minutes % 60));
    return text + sign;
}

ELASTICJOB_DECL std::string to_table(report const& r, table_style const& style, std::vector<std::size_t>& widths) {
    bool const has_heading = widths.empty();
    std::vector<std::vector<std::string>> lines;
    if (has_heading) {
        auto& headings = lines.emplace_back(r.columns);
        for (auto& heading : headings)
            for (auto& c : heading)
                if ('a' <= c && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    for (auto const& row : r.rows) {
        auto& line = lines.emplace_back();
        for (auto const& one : row) line.push_back(one.for_people(style));
    }
    widths.resize(std::max(widths.size(), r.columns.size()));
    for (auto const& line : lines)
        for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], width_of(line[i]));
    std::string text;
    for (auto const& line : lines) {
        bool const is_heading = has_heading && &line == &lines.front();
        auto left = style.columns_max;
        for (std::size_t i = 0; i < line.size() && left != 0; ++i) {
            auto const word = cut_to(line[i], left);
            auto const colour = is_heading ? std::string_view{"1"} : detail::colour_of(line[i]);
            detail::append_coloured(text, word, style.has_colour ? colour : std::string_view{});
            left -= width_of(word);
            if (i + 1 == line.size()) break;
            auto const gap = std::min(widths[i] - width_of(line[i]) + 2, left);
            text.append(gap, ' ');
            left -= gap;
        }
        text += '\n';
    }
    return text;
}

ELASTICJOB_DECL std::string to_table(report const& r, table_style const& style) {
    std::vector<std::size_t> widths;
    return to_table(r, style, widths);
}

ELASTICJOB_DECL std::string to_json(report const& r) {
    std::string text{"["};
    for (auto const& row : r.rows) {
        text += &row == &r.rows.front() ? "\n" : ",\n";
        detail::append_object(text, r.columns, row);
    }
    return text + "\n]\n";
}

ELASTICJOB_DECL std::string to_json_lines(report const& r) {
    std::string text;
    for (auto const& row : r.rows) {
        detail::append_object(text, r.columns, row);
        text += '\n';
    }
    return text;
}

ELASTICJOB_DECL report_change compare(report const& before, report const& after) {
    auto const keys = static_cast<std::ptrdiff_t>(after.keys);
    report_change change{{after.columns, {}, after.keys},
                         {{after.columns.begin(), after.columns.begin() + keys}, {}, after.keys}};
    for (auto const& row : after.rows)
        if (!detail::has_row(before, row, row.size())) change.fresh.rows.push_back(row);
    for (auto const& row : before.rows)
        if (!detail::has_row(after, row, after.keys)) change.gone.rows.emplace_back(row.begin(), row.begin() + keys);
    return change;
}

} // namespace elasticjob::cli
#endif // ELASTICJOB_IMPL_COMMAND_LINE_REPORT_IPP
